import * as control from './control/index.js'
import * as service from './service/index.js'

async function run(key: string) {
  const worlds = new control.WorldsApi()
  const { data: world } = await worlds.openWorld({ id: key, clock: { mode: 'manual' } })
  console.log(`clock: ${world.clock.mode}`)

  const sending = new service.SendingApi(new service.Configuration({ apiKey: key }))
  const { data: sent } = await sending.sendMessage({ body: 'Hello', to: [{ phone_number: '420777000101' }] })
  const { data: moved } = await new control.TimeApi().advance(key, { by: '1m' })
  console.log(`webhooks: ${moved.deliveries}`)
  const id = sent.accepted?.[0]?.message_id ?? ''
  const { data: message } = await new control.MessagingApi().message(key, id)
  console.log(`${message.phone}: ${message.result}`)
  await worlds.closeWorld(key)
}

void run(process.env.KEY ?? '')
