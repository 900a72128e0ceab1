/** Webhooks: a list to search, the one that is chosen, and the built-in receiver. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { searchBox } from "../parts.js";
import { go, viewOf } from "../route.js";
import { receiver, short } from "../story/delivery.js";
import "../story/holding.js";
import "../story/hook.js";
import { ended, isFailed, stateOf } from "../story/tries.js";
import { View } from "../view.js";
import { count, cut, time } from "../words.js";

/** Webhooks, each with a key of its own: a repeated one has the id of the first. */
function numbered(deliveries) {
  const met = new Map();
  return deliveries.map((delivery) => {
    const number = met.get(delivery.id) ?? 0;
    met.set(delivery.id, number + 1);
    return { ...delivery, key: `${delivery.id} ${number}` };
  });
}

const STATES = ["waiting", "sending", "delivered", "failed", "held", "dropped"];

class Webhooks extends View {
  static kinds = [];

  moved() {
    this.redraw();
  }

  /** The address of this view, with some fields changed. */
  #at(fields) {
    return viewOf("webhooks", { search: this.field("search"), state: this.field("state"), ...fields });
  }

  draw() {
    const [search, state, chosen] = [this.field("search") ?? "", this.field("state") ?? "", this.field("delivery")];
    const hook = chosen === null && this.field("hook") !== null;
    return h("div.split", { class: (chosen || hook) && "chosen" },
      h("section.list", { "aria-label": "Webhooks" },
        h(chosen || hook ? "h2.title" : "h1.title", "Webhooks"),
        h("div.story-filter",
          searchBox({
            value: search, label: "Search webhooks", hint: "to:420777* event:sentMessage result:failed status:5* before:10m",
            search: (text) => go(this.#at({ search: text }), { replace: true }),
          }),
          h("p.actions",
            h("label", "State ", h("select", { onchange: (event) => go(this.#at({ state: event.target.value })) },
              h("option", { value: "", selected: state === "" }, "any"),
              STATES.map((word) => h("option", { value: word, selected: word === state }, word)))),
            h("a", { href: this.#at({ hook: "1" }), "aria-current": hook ? "true" : null }, "Built-in receiver")),
          h("sb-holding", { key: "holding" })),
        h("sb-list", { data: {
          of: `${state} ${search}`, height: 68, label: "Webhooks", key: ({ key }) => key,
          kinds: ["delivery", "try", "webhook_fault", "control", "clock"],
          empty: search || state ? "No webhook fits." : "No webhook yet. They come when a message moves.",
          fetch: async (cursor) => {
            const query = { order: "newest", limit: 50, form: "short", search, state, cursor };
            const { deliveries, next_cursor: next } = await this.world.get("deliveries", query);
            return { items: numbered(deliveries), next };
          },
          row: (delivery) => this.#row(delivery, chosen),
        } })),
      (chosen || hook) && h("section.detail", { "aria-label": hook ? "Built-in receiver" : "Webhook" },
        h("a.button.back", { href: this.#at({}) }, icon("back"), "Webhooks"),
        hook ? h("sb-hook", { key: "hook" }) : h("sb-delivery", { data: chosen, key: chosen })));
  }

  #row(delivery, chosen) {
    const { id, at, state, events, carries, tries, last_try: last, next_try: next, rule } = delivery;
    const more = carries > events.length ? ` and ${carries - events.length} more` : "";
    return h("a.row", { href: this.#at({ delivery: id }), "aria-current": id === chosen ? "true" : null },
      h("span.line", stateOf(state, last), last && h("span.status", { class: isFailed(last) ? "bad" : "quiet" }, ended(last)),
        h("span.text", receiver(delivery)), h("span.end.quiet", time(at))),
      h("span.line", h("bdi.text", cut(events.map(short).join(", ")), more),
        h("span.end.quiet", [
          (tries > 1 || isFailed(last)) && count(tries, "try", "tries"), next && `next ${time(next)}`, rule && "changed",
        ].filter(Boolean).join(", "))));
  }
}

customElements.define("sb-webhooks", Webhooks);
