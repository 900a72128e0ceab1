// A test that is explored: node examples/explore.test.mjs
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { explore } from './explore.mjs'

// A client that keeps the furthest result of a message, whatever comes first, twice, or together.
const order = ['sending', 'sent', 'undelivered', 'delivered', 'seen']
const furthest = (before, result) => (order.indexOf(result) > order.indexOf(before) ? result : before)

explore('what became of a message is known', { families: ['delivery'], runs: 30 }, async (open) => {
  let state
  const receiver = createServer(async (request, response) => {
    for (const event of JSON.parse(await new Response(request).text())) state = furthest(state, event.result)
    response.end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  try {
    const world = await open()
    await fetch(`${world.origin}/v2/message`, {
      method: 'POST',
      headers: { 'x-api-key': world.key, 'content-type': 'application/json' },
      body: JSON.stringify({
        to: [{ phone_number: '420777000101' }],
        body: 'Hello',
        callback: { url: `http://127.0.0.1:${receiver.address().port}/` },
      }),
    })
    await world.advance('1m')
    assert.equal(state, 'delivered')
  } finally {
    receiver.closeAllConnections()
    receiver.close()
  }
})
