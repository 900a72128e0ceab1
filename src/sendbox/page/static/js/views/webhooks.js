/** Webhooks: a list to search, the one that is chosen, and the built-in receiver. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { STATES } from "../list/grammar.js";
import { OF, panel, pageOf } from "../list/panel.js";
import { go, viewOf } from "../route.js";
import { distinct, receiver, short } from "../story/delivery.js";
import "../story/holding.js";
import "../story/hook.js";
import { ended, isFailed, stateOf } from "../story/tries.js";
import { View } from "../view.js";
import { count, cut, time } from "../words.js";

/** The webhooks of a page, each with a key of its own: the first one with the id of a repeated one may be on another page. */
function numbered(deliveries) {
  const keys = distinct(deliveries.map(({ id, at }) => `${id} ${at}`));
  return deliveries.map((delivery, place) => ({ ...delivery, key: keys[place] }));
}

const COLUMNS = [
  { title: "State", sort: "state", width: "9.5rem" }, { title: "Receiver", sort: "target", width: "minmax(6rem, 1fr)" },
  { title: "Events", width: "minmax(6rem, 2fr)" }, { title: "Tries", sort: "tries", width: "minmax(4rem, 9rem)" }, { title: "Made", sort: null, width: "7rem" },
];

class Webhooks extends View {
  static kinds = [];

  moved() {
    this.redraw();
  }

  /** The address of this view, with some fields changed. */
  #at(fields) {
    const kept = { search: this.field("search"), state: this.field("state"), sort: this.field("sort"), order: this.field("order") };
    return viewOf("webhooks", { ...kept, ...fields });
  }

  draw() {
    const [state, chosen] = [this.field("state") ?? "", this.field("delivery")];
    const hook = chosen === null && this.field("hook") !== null;
    const opened = { delivery: chosen, hook: hook ? "1" : null };
    const at = (name) => this.field(name);
    return h("div.split", { class: (chosen || hook) && "chosen" },
      panel({
        name: "webhooks", title: "Webhooks", chosen: chosen || hook,
        hint: "result:failed status:5*",
        to: (fields) => this.#at({ ...opened, ...fields }), at,
        more: [
          h("label", "State ", h("select", { onchange: (event) => go(this.#at({ ...opened, state: event.target.value })) },
            h("option", { value: "", selected: state === "" }, "any"),
            STATES.map((word) => h("option", { value: word, selected: word === state }, word)))),
          h("a", { href: this.#at({ hook: "1" }), "aria-current": hook ? "true" : null }, "Built-in receiver"),
          h("sb-holding", { key: "holding" })],
        list: {
          of: `${state} ${OF.map(at).join(" ")}`, height: 68, label: "Webhooks", noun: ["webhook"], key: ({ key }) => key, columns: COLUMNS,
          kinds: ["delivery", "try", "webhook_fault", "control", "clock"],
          empty: at("search") || state ? "No webhook fits." : "No webhook yet. They come when a message moves.",
          fetch: async (cursor) => {
            const { deliveries, next_cursor: next, total } = await this.world.get("deliveries", { ...pageOf(at, cursor), state });
            return { items: numbered(deliveries), next, total };
          },
          row: (delivery) => this.#row(delivery, chosen),
        },
      }),
      (chosen || hook) && h("section.detail", { tabindex: "-1", "aria-label": hook ? "Built-in receiver" : "Webhook" },
        h("a.button.back", { href: this.#at({}) }, icon("back"), "Webhooks"),
        hook ? h("sb-hook", { key: "hook" }) : h("sb-delivery", { data: chosen, key: chosen })));
  }

  #row(delivery, chosen) {
    const { id, at, state, events, carries, tries, last_try: last, next_try: next, rule } = delivery;
    const more = carries > events.length ? ` and ${carries - events.length} more` : "";
    return h("a.row", { href: this.#at({ delivery: id }), "aria-current": id === chosen ? "true" : null },
      h("span.line",
        h("span.col1", stateOf(state, last), last && [" ", h("span.status", { class: isFailed(last) ? "bad" : "quiet" }, ended(last))]),
        h("span.text.col2", receiver(delivery)), h("span.end.quiet.col5", time(at))),
      h("span.line", h("bdi.text.col3", cut(events.map(short).join(", ")), more),
        h("span.end.quiet.col4", [
          (tries > 1 || isFailed(last)) && count(tries, "try", "tries"), next && `next ${time(next)}`, rule && "changed",
        ].filter(Boolean).join(", "))));
  }
}

customElements.define("sb-webhooks", Webhooks);
