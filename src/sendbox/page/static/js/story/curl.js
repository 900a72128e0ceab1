/** A request as a command of curl. */

/** A text as one word of a shell. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The command that sends a request: its method, address, headers and body. */
export function curl({ method, url, headers, body }) {
  const parts = [`curl -X ${method} ${quoted(url)}`, ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)];
  if (body) parts.push(`--data-binary ${quoted(body)}`);
  return parts.join(" \\\n  ");
}
