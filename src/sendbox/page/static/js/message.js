/** One message: its timeline as a picture and in words, its texts, and the call that it came from. */

import { h } from "./dom.js";
import { badge, facts, json, text } from "./parts.js";
import { viewOf } from "./route.js";
import { exchange } from "./story/exchange.js";
import { picture } from "./story/picture.js";
import { steps } from "./story/steps.js";
import { View, act } from "./view.js";
import { icon } from "./icons.js";
import { when } from "./words.js";

class Message extends View {
  static kinds = ["transition", "fallback", "refusal", "inbound", "click", "opt_out", "postponed", "try", "delivery", "control"];

  /** The view shows another message. */
  take(next) {
    const other = this.data !== next.data;
    this.data = next.data;
    if (other) this.reload();
  }

  load() {
    return this.world.get(["messages", this.data, "story"]);
  }

  draw(story) {
    const { message, request, deliveries } = story;
    return h("article.story", { "aria-labelledby": "story-title" },
      h("a.button.back", { href: viewOf("messages") }, icon("back"), "Messages"),
      h("h2", { id: "story-title" }, "To ", h("bdi", message.phone), " ", badge(message.result)),
      facts([
        ["accepted", when(message.accepted_at)], ["channel", message.channel], ["sender", message.sender && text(message.sender)],
        ["tags", message.tags.length > 0 && text(message.tags.join(", "))],
        ["call", message.operation], ["phone", h("a", { href: viewOf("phones", { phone: message.phone }) }, "conversation")],
      ]),
      h("p.quiet.mono", message.message_id),
      picture(story),
      this.#hand(message),
      h("h3", "Steps"),
      steps(story),
      this.#texts(message),
      deliveries.length > 0 && this.#webhooks(deliveries),
      request && [h("h3", "The call that made it"),
        h("p", h("a", { href: viewOf("requests", { request: request.n }) }, `Entry ${request.n} of the requests`)),
        exchange(request, this.world)]);
  }

  #texts(message) {
    return [h("h3", "Texts"),
      message.attempts.length ? null : text(message.body),
      h("ol.story-texts", message.attempts.map(({ number, channel, from: sender, body, content, refused }) => h("li", { key: number },
        h("p", h("span.channel", `${number} · ${channel}`), sender && [" from ", h("bdi", sender)],
          refused && [" ", badge("refused", "bad"), h("span.quiet", " This is what would have been shown.")]),
        h("div.story-text", text(body)),
        content && json(content)))),
      Object.keys(message.payload).length > 0 && [h("h3", "Payload"), json(message.payload)]];
  }

  #webhooks(deliveries) {
    return [h("h3", "Webhooks"), h("ul.story-links", deliveries.map(({ id, target, state, tries, method }) => h("li",
      h("a", { href: viewOf("webhooks", { delivery: id }) }, `${method} `, h("bdi", target)), " ", badge(state),
      tries.length > 1 && h("span.quiet", ` ${tries.length} tries`))))];
  }

  /** What may be reported next, by hand. */
  #hand({ message_id: id, legal }) {
    if (this.past || !legal.length) return null;
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
