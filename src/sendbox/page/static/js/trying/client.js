/** Calls of the emulated service, as a client makes them: with the key of the world, at this origin. */

import { addresses } from "../served.js";

/**
 * One call of an interface (`base_url`, `verify_url`); a text as body is sent as it is. Answers `{status, text, json, entry}`: `entry` is the number of its
 * entry in the journal, null where the server gives no hints.
 */
export async function ask(interfaceName, path, body, key) {
  const base = new URL(addresses[interfaceName]).pathname.replace(/\/$/, "");
  let response, text;
  try {
    response = await fetch(`${base}${path}`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    text = await response.text();
  } catch {
    throw new Error("The connection ended without a whole answer.");
  }
  const entry = /\/journal\/(\d+)$/.exec(response.headers.get("sendbox-journal") ?? "")?.[1] ?? null;
  let json = null;
  try {
    json = JSON.parse(text);
  } catch { /* a fault of the scenario may answer anything */ }
  return { status: response.status, text, json, entry };
}
