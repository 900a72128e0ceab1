// A small client in Node 18 or newer, and what a test does with it. SANDBOX is the origin of a sandbox, KEY an API key.
// For https with a certificate of the sandbox's own, name its file in NODE_EXTRA_CA_CERTS.
const origin = process.env.SANDBOX ?? 'http://127.0.0.1:7357'
const key = process.env.KEY ?? 'test-node'
const phone = '420777000101'

async function call(method, path, body) {
  const answer = await fetch(origin + path, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  return { status: answer.status, ...(await answer.json()) }
}

// The client: what an application calls.
const send = (to, body) => call('POST', '/v2/message', { body, to: to.map((number) => ({ phone_number: number })) })
const startValidation = (number) => call('POST', '/v1/validations', { phoneNumber: number })
const verify = (token, code) => call('POST', `/v1/validations/${token}/verify`, { code })

// The test: it opens a world, moves its clock, and looks at what came.
const world = `/_sandbox/worlds/${key}`
await call('POST', '/_sandbox/worlds', { id: key, clock: { mode: 'manual' } })

const sent = await send([phone], 'Hello from Node')
console.log(`send: ${sent.status}, ${sent.accepted.length} accepted`)
await call('POST', `${world}/clock/advance`, { by: '1m' })
const { events } = await call('GET', `${world}/hook`)
console.log(`webhooks: ${events.map((event) => event.result).join(' ')}`)
const status = await call('GET', `/v1/message?id=${sent.accepted[0].message_id}`)
console.log(`status: ${status.message.status_info}`)

const refused = await send([], 'Hello')
console.log(`without a recipient: ${refused.status}`)

const { token } = await startValidation(phone)
const { codes } = await call('GET', `${world}/codes?phone=${phone}`)
const wrong = await verify(token, codes[0].code === '000000' ? '000001' : '000000')
console.log(`wrong code: ${wrong.status} ${wrong.error}`)
const right = await verify(token, codes[0].code)
console.log(`right code: ${right.status} ${right.phoneNumber}`)

await call('DELETE', world)
