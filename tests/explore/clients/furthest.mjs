// Correct: of the results of a message the one that is furthest counts.
import { left, test } from './client.mjs'

const order = ['accepted', 'sending', 'sent', 'delivered', 'seen']

await test(
  {
    result: 'accepted',
    apply(event) {
      if (order.indexOf(event.result) > order.indexOf(this.result)) this.result = event.result
    },
  },
  left,
)
