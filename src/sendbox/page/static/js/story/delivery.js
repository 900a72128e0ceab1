/** The chosen webhook: what was sent and how it was answered, and what can be done with it. `data` is its id. */

import { h } from "../dom.js";
import { badge, copy, facts, json } from "../parts.js";
import { viewOf } from "../route.js";
import { View, act } from "../view.js";
import { cut, since, when } from "../words.js";
import { curl } from "./curl.js";
import { headers, stateOf, triesOf } from "./tries.js";

/** The acts of control, and what is said when they are done. */
const DONE = { hold: "The webhook is held.", release: "The webhook is released.", replay: "The webhook is sent again." };
/** So many events are listed. */
const MOST = 20;

/** An event of a webhook in a few words. */
export const short = ({ event, result, phone, from, body, ...rest }) =>
  cut([result ?? event, phone ?? from, body ?? (phone || from ? null : Object.values(rest).find((value) => typeof value === "string"))]
    .filter(Boolean).join(" "));

/** Where a webhook goes; the built-in receiver has a name of its own. */
export const receiver = ({ target, method }) => (target === "hook" ? "the built-in receiver" : h("bdi", cut(`${method} ${target}`, 300)));

/** Names, each with how many equal ones come before it: a webhook that a rule repeated has the id of the first. */
export function distinct(names) {
  const counts = new Map();
  return names.map((name) => {
    const before = counts.get(name) ?? 0;
    counts.set(name, before + 1);
    return `${name} ${before}`;
  });
}

class Delivery extends View {
  static kinds = ["delivery", "try", "webhook_fault", "control", "clock"];

  load() {
    return this.world.get(["deliveries", this.data]);
  }

  draw(delivery) {
    const { at, state, events, tries, rule, fault, request, next_try: next } = delivery;
    return h("article.story", { "aria-labelledby": "story-title" },
      h("h1", { id: "story-title" }, "Webhook ", stateOf(state, tries.at(-1))),
      facts([
        ["to", receiver(delivery)], ["made", when(at)],
        ["next try", next && `${when(next)} (${since(next, at)})`],
      ]),
      rule && h("p", badge("changed", "fair"), " by the rule ", h("strong", h("bdi", rule)), ": ", h("bdi", fault)),
      this.#acts(delivery),
      h("h2", "Events"),
      h("ul.story-links", events.slice(0, MOST).map((event) => h("li", event.message_id
        ? h("a", { href: viewOf("messages", { message: event.message_id }) }, h("bdi", short(event)))
        : h("bdi", short(event)), h("span.quiet", ` ${event.event}`)))),
      events.length > MOST && h("p.quiet", `and ${events.length - MOST} more in the body`),
      h("h2", "Tries"),
      tries.length ? triesOf(tries, at) : h("p.quiet", "Not sent yet."),
      h("h2", "Request"),
      h("p.story-call", h("code", h("strong", request.method), " ", h("bdi", cut(request.url, 1000)))),
      headers(request.headers),
      this.#signature(delivery.signature),
      h("div.actions", copy(() => curl(request), "Copy as curl"), request.body && copy(request.body, "Copy the body")),
      request.body ? json(request.body) : h("p.quiet", "Without a body: the events are in the address."));
  }

  #acts({ id, acts }) {
    if (this.readOnly || !acts.length) return null;
    return h("div.actions", { role: "group", "aria-label": "Acts" }, acts.map((name) => h("button", {
      type: "button", key: name,
      onclick: async () => {
        await act(() => this.world.post(["deliveries", id, name]), DONE[name]);
        this.reload();
      },
    }, name[0].toUpperCase() + name.slice(1))));
  }

  #signature(signature) {
    if (!signature) return h("p.quiet", "This request is not signed: the key has no ", h("code", "default_callback_secret"), ".");
    const { header, value, algorithm, signed, right } = signature;
    return h("div.card.padded.story-signed",
      h("p", h("strong", "Signature"), " ", badge(right ? "right" : "spoilt by a rule", right ? "good" : "bad")),
      h("p", "The header ", h("code", header), " is ", algorithm, ", over ", signed, ":"),
      h("p", h("code", value), " ", copy(value, "Copy the signature")),
      h("p.quiet", "A receiver makes it again from the bytes that it got, before it reads them, and compares the two."));
  }
}

customElements.define("sb-delivery", Delivery);
