// The sandbox by Testcontainers for Node, in the test runner of Node: node --test
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { GenericContainer, Wait } from 'testcontainers'

const port = 7357
const key = 'test-node'
let container
let sandbox

before(async () => {
  container = await new GenericContainer('registry.example/sendbox:1')
    .withExposedPorts(port)
    .withWaitStrategy(Wait.forHttp('/_sandbox/health', port))
    .start()
  sandbox = `http://${container.getHost()}:${container.getMappedPort(port)}`
})

after(() => container.stop())

async function call(path, body) {
  const answer = await fetch(sandbox + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  return answer.json()
}

test('a message', async () => {
  const world = `/_sandbox/worlds/${key}`
  await call('/_sandbox/worlds', { id: key, clock: { mode: 'manual' } })
  await call('/v2/message', { to: [{ phone_number: '420777000101' }], body: 'Hello' })
  await call(`${world}/clock/advance`, { by: '1m' })
  const { events } = await call(`${world}/hook`)
  assert.deepEqual(events.map((event) => event.result), ['sending', 'sent', 'delivered'])
})
