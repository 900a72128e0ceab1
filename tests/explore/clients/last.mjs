// Wrong: the webhook that came last counts.
import { moved, test } from './client.mjs'

await test(
  {
    result: 'accepted',
    apply(event) {
      this.result = event.result
    },
  },
  moved,
)
