// A client and its test in TypeScript, whose types openapi-typescript made of the two contracts of a sandbox:
// /_sandbox/openapi.json (control.d.ts) and /openapi.json (service.d.ts). SANDBOX is its origin, KEY an API key.
import createClient from 'openapi-fetch'
import type { components, paths as ControlPaths } from './control.d.ts'
import type { paths as ServicePaths } from './service.d.ts'

const origin = process.env.SANDBOX ?? 'http://127.0.0.1:7357'
const key = process.env.KEY ?? 'test-typescript'
const control = createClient<ControlPaths>({ baseUrl: origin })
const service = createClient<ServicePaths>({ baseUrl: origin, headers: { 'x-api-key': key } })
const path = { id: key }

/** What was answered; an error of control ends the program. */
function done<T>({ data, error }: { data?: T; error?: components['schemas']['Error'] }): T {
  if (data === undefined) throw new Error(error?.message ?? 'no answer')
  return data
}

const world = done(
  await control.POST('/_sandbox/worlds', { body: { id: key, clock: { mode: 'manual' } } }),
)
console.log(`clock: ${world.clock.mode}`)

const sent = await service.POST('/v2/message', {
  body: { to: [{ phone_number: '420777000101' }], body: 'Hello from TypeScript' },
})
console.log(`send: ${sent.response.status}, ${sent.data?.accepted?.length} accepted`)

const moved = done(
  await control.POST('/_sandbox/worlds/{id}/clock/advance', { params: { path }, body: { by: '1m' } }),
)
const calls = moved.entries.filter((entry) => entry.kind === 'try')
console.log(`webhooks: ${moved.deliveries}, answered ${calls.map((call) => call.status).join(' ')}`)

const query = { result: 'delivered', limit: 10 } as const
const { messages } = done(await control.GET('/_sandbox/worlds/{id}/messages', { params: { path, query } }))
console.log(`delivered: ${messages.map((message) => message.phone).join(' ')}`)

const hook = done(await control.GET('/_sandbox/worlds/{id}/hook', { params: { path } }))
const results = hook.events.flatMap((event) => ('result' in event ? [event.result] : []))
console.log(`results: ${results.join(' ')}`)
const carried = hook.deliveries.flatMap((delivery) => delivery.events)
console.log(`events: ${carried.map((event) => `${event.event} ${event.result}`).join(', ')}`)

done(await control.DELETE('/_sandbox/worlds/{id}', { params: { path } }))
