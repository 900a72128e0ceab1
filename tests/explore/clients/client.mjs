// A client that keeps the state of a message from its webhooks, and a test of it. It needs Node 18 or newer, no more.
// `state.apply(event)` keeps what a webhook told in `state.result`: the part that may be right or wrong.
import http from 'node:http'

const origin = process.env.SENDBOX_URL
const key = 'test-node'
const phone = '420777000101'
const world = `/_sandbox/worlds/${key}`

function call(method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const request = http.request(origin + path, { method, headers, agent: false }, (answer) => {
      let text = ''
      answer.on('data', (part) => { text += part })
      answer.on('end', () => resolve(text === '' ? {} : JSON.parse(text)))
    })
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function receiver(apply) {
  return new Promise((resolve) => {
    const server = http.createServer((request, answer) => {
      let text = ''
      request.on('data', (part) => { text += part })
      request.on('end', () => {
        for (const event of JSON.parse(text)) apply(event)
        answer.end()
      })
    })
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

// Two ways to let time pass: a test moves the clock, or leaves it alone until it has what it waits for, and nothing else
// is due. A clock that jumps by itself does so only while nobody calls.
export const moved = () => call('POST', `${world}/clock/advance`, { by: '1m' })

export async function left(state) {
  for (;;) {
    const clock = await call('GET', `${world}/clock`)
    if (clock.next_due === null && state.result === 'delivered') return
    await new Promise((resolve) => setTimeout(resolve, 40))
  }
}

export async function test(state, pass) {
  const server = await receiver((event) => state.apply(event))
  const callback = `http://127.0.0.1:${server.address().port}/hooks`
  await call('POST', '/v2/message', { to: [{ phone_number: phone }], body: 'Hello', callback })
  await pass(state)
  server.close()
  server.closeAllConnections()
  console.log(`the message is ${state.result}`)
  process.exitCode = state.result === 'delivered' ? 0 : 1
}
