// What tests do with sandbox.mjs: node examples/sandbox.test.mjs
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import test from 'node:test'
import { openWorld } from './sandbox.mjs'

const send = (world, more = {}) =>
  fetch(`${world.origin}/v2/message`, {
    method: 'POST',
    headers: { 'x-api-key': world.key, 'content-type': 'application/json' },
    body: JSON.stringify({ to: [{ phone_number: '420777000101' }], body: 'Hello', ...more }),
  })

test('a message is delivered within a minute', async () => {
  const world = await openWorld()
  try {
    await send(world)
    await world.advance('1m')
    const [message] = await world.messages({ phone: '420777000101' })
    assert.equal(message.result, 'delivered')
    assert.deepEqual((await world.webhooks()).map((event) => event.result), ['sending', 'sent', 'delivered'])
    await world.phone('420777000101', 'reply', { body: 'Thanks' })
    await assert.rejects(world.phone('420777000101', 'fly'), { status: 404 })
  } finally {
    await world.close()
  }
})

test('webhooks without a callback stay with the receiver of the world', async () => {
  const world = await openWorld({ prefix: 'test-mine-', deliveries: 'pull' })
  try {
    assert.match(world.key, /^test-mine-/)
    await send(world)
    const [count] = await Promise.all([world.forward(), world.advance('1m')])
    assert.equal(count, 3)
    assert.deepEqual((await world.webhooks()).map((event) => event.result), ['sending', 'sent', 'delivered'])
  } finally {
    await world.close()
  }
})

test('webhooks reach a receiver that only this machine can reach', async () => {
  const received = []
  const receiver = createServer(async (request, response) => {
    received.push(...JSON.parse(await new Response(request).text()))
    response.end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const world = await openWorld({ deliveries: 'pull' })
  try {
    await send(world, { callback: { url: `http://127.0.0.1:${receiver.address().port}/` } })
    const [count] = await Promise.all([world.forward(), world.advance('1m')])
    assert.equal(count, 3)
    assert.deepEqual(received.map((event) => event.result), ['sending', 'sent', 'delivered'])
  } finally {
    await world.close()
    receiver.close()
  }
})
