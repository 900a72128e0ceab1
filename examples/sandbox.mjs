// A world of the sandbox for one test, in Node 18 or newer, without packages. SANDBOX is the origin of a sandbox.
// For https with a certificate of the sandbox's own, name its file in NODE_EXTRA_CA_CERTS.
import { randomUUID } from 'node:crypto'

const origin = process.env.SANDBOX ?? 'http://127.0.0.1:7357'

export async function control(method, path, body) {
  const answer = await fetch(`${origin}/_sandbox${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(body?.id && { 'x-api-key': body.id }) }, // for a proxy
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const value = await answer.json()
  if (!answer.ok) throw Object.assign(new Error(value.message), { status: answer.status, error: value.error, refused: true })
  return value
}

// Opens a world. Without an id its key is the prefix and a number of its own, so tests can run side by side.
export async function openWorld({ prefix = 'test-', ...settings } = {}) {
  const opened = await control('POST', '/worlds', { id: prefix + randomUUID(), clock: { mode: 'manual' }, ...settings })
  const path = `/worlds/${encodeURIComponent(opened.id)}`
  return {
    key: opened.api_key, // what the client sends as x-api-key
    origin,
    advance: (how) => control('POST', `${path}/clock/advance`, typeof how === 'object' ? how : { by: how }),
    messages: async (query = {}) => (await control('GET', `${path}/messages?${new URLSearchParams(query)}`)).messages,
    webhooks: async () => (await control('GET', `${path}/hook`)).events, // of the built-in receiver
    phone: (number, act, body = {}) => control('POST', `${path}/phones/${number}/${act}`, body),
    close: () => control('DELETE', path),

    // Carries out the webhooks of a world with deliveries: 'pull', where the sandbox cannot reach the receiver.
    // Begin before the clock is moved; it ends with the advance. Answers how many there were.
    async forward() {
      for (let count = 0; ; ) {
        const { calls } = await control('POST', `${path}/outbox`, { wait: '10s', ...(count && { during: 'advance' }) })
        if (calls.length === 0) return count
        for (const { id, hook, method, url, headers, body } of calls) {
          const send = () => fetch(url, { method, headers, body: Buffer.from(body, 'base64') })
          const sent = hook ? Promise.resolve({ status: 200 }) : send() // the receiver of the world has no address
          const report = await sent.then(({ status }) => ({ status }), () => ({ error: 'unreachable' }))
          await control('POST', `${path}/outbox/${id}`, report)
          count += 1
        }
      }
    },
  }
}
