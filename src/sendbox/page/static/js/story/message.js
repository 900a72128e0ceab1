/** One message: its timeline as a picture and in words, its texts, and the call that it came from. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { badge, facts, json, text } from "../parts.js";
import { buttons, cards, cutOff, header } from "../phone/shown.js";
import { address, viewOf } from "../route.js";
import { View, act } from "../view.js";
import { time, when } from "../words.js";
import { receiver } from "./delivery.js";
import { exchange } from "./exchange.js";
import { picture } from "./picture.js";
import { steps } from "./steps.js";
import { stateOf } from "./tries.js";

/** So many webhooks are linked. */
const MOST = 50;

class Message extends View {
  static kinds = ["transition", "fallback", "refusal", "inbound", "click", "opt_out", "postponed", "try", "delivery", "control"];

  load() {
    return this.world.get(["messages", this.data, "story"]);
  }

  draw(story) {
    const { message, request, deliveries } = story;
    return h("article.story", { "aria-labelledby": "story-title" },
      h("a.button.back", { href: address({ message: null }) }, icon("back"), "Messages"),
      h("h1", { id: "story-title" }, "To ", h("bdi", message.phone), " ", badge(message.result)),
      facts([
        ["accepted", when(message.accepted_at)], ["channel", message.channel], ["sender", message.sender && text(message.sender)],
        ["tags", message.tags.length > 0 && text(message.tags.join(", "))],
        ["call", message.operation], ["phone", h("a", { href: viewOf("phones", { phone: message.phone }) }, "conversation")],
      ]),
      h("p.quiet.mono", message.message_id),
      picture(story),
      this.#hand(message),
      h("h2", "Steps"),
      steps(story),
      this.#texts(message),
      deliveries.length > 0 && this.#webhooks(deliveries),
      request && [h("h2", "The call that made it"),
        h("p", h("a", { href: viewOf("requests", { request: request.n }) }, `Entry ${request.n} of the requests`)),
        exchange(request, this.world)]);
  }

  /** The texts of all attempts, as the phone shows them; nothing can be pressed here. */
  #texts({ attempts, body, payload }) {
    const shows = { readOnly: true };
    return [h("h2", "Texts"),
      attempts.length ? h("ol.story-texts", attempts.map((attempt) => h("li", { key: attempt.number },
        h("p", h("span.channel", `${attempt.number} · ${attempt.channel}`), " from ", h("bdi", attempt.from),
          attempt.refused && [" ", badge("refused", "bad"), h("span.quiet", " It was never sent.")]),
        h("div.bubble", h("div.body", header(attempt.header), h("p.words", text(attempt.body)), cutOff(attempt),
          attempt.footer && h("p.foot", text(attempt.footer)), cards(attempt, shows), buttons(attempt.buttons, attempt, shows))),
        attempt.raw && json(attempt.raw)))) : h("div.story-text", text(body)),
      Object.keys(payload).length > 0 && [h("h2", "Payload"), json(payload)]];
  }

  #webhooks(deliveries) {
    return [h("h2", "Webhooks"), h("ul.story-links", deliveries.slice(0, MOST).map((delivery) => h("li",
      h("a", { href: viewOf("webhooks", { delivery: delivery.id }) }, time(delivery.at), " to ", receiver(delivery)), " ",
      stateOf(delivery.state, delivery.tries.at(-1)), delivery.tries.length > 1 && h("span.quiet", ` ${delivery.tries.length} tries`)))),
    deliveries.length > MOST && h("p.quiet", `and ${deliveries.length - MOST} more`)];
  }

  /** What may be reported next, by hand. */
  #hand({ message_id: id, legal }) {
    if (this.readOnly || !legal.length) return null;
    return h("div.actions", { role: "group", "aria-label": "Move by hand" }, h("span.quiet", "Move by hand to"),
      legal.map((result) => h("button.small", {
        type: "button", key: result,
        onclick: async () => {
          await act(() => this.world.post(["messages", id, "events"], { result }), `The message is ${result}.`);
          this.reload();
        },
      }, result)));
  }
}

customElements.define("sb-message", Message);
