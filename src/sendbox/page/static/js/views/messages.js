/** Messages: a list to search, and the one that is chosen. */

import "../story/message.js";
import { h } from "../dom.js";
import { viewOf } from "../route.js";
import { View } from "../view.js";
import { OF, panel, pageOf } from "../list/panel.js";
import { badge } from "../parts.js";
import { SHOWN, cut, time } from "../words.js";

const COLUMNS = [
  { title: "Phone", sort: "phone", width: "10rem" }, { title: "Result", sort: "result", width: "7.5rem" },
  { title: "Channel", sort: "channel", width: "9rem" }, { title: "Text", width: "minmax(6rem, 1fr)" }, { title: "Accepted", sort: null, width: "7rem" },
];

class Messages extends View {
  static kinds = [];

  moved() {
    this.redraw();
  }

  /** The address of this view, with some fields changed. */
  #at(fields) {
    return viewOf("messages", { search: this.field("search"), sort: this.field("sort"), order: this.field("order"), ...fields });
  }

  draw() {
    const chosen = this.field("message");
    const at = (name) => this.field(name);
    return h("div.split", { class: chosen && "chosen" },
      panel({
        name: "messages", title: "Messages", chosen, hint: "tag:promo result:failed",
        to: (fields) => this.#at({ message: chosen, ...fields }), at,
        list: {
          of: OF.map(at).join(" "), height: 68, label: "Messages", noun: ["message"], key: (message) => message.message_id, columns: COLUMNS,
          kinds: ["request", "transition", "fallback", "refusal", "inbound", "click", "postponed", "bulk_line"],
          empty: at("search") ? "No message fits." : "No message yet. Send one: “Try it” does.",
          fetch: async (cursor) => {
            const { messages, next_cursor: next, total } = await this.world.get("messages", pageOf(at, cursor));
            return { items: messages, next, total };
          },
          row: (message) => this.#row(message, chosen),
        },
      }),
      chosen && h("section.detail", { tabindex: "-1", "aria-label": "Message" }, h("sb-message", { data: chosen, key: chosen })));
  }

  #row(message, chosen) {
    return h("a.row", { href: this.#at({ message: message.message_id }), "aria-current": message.message_id === chosen ? "true" : null },
      h("span.line", h("strong.col1", h("bdi", message.phone)), h("span.col2", badge(message.result)), h("span.end.quiet.col5", time(message.accepted_at))),
      h("span.line", h("span.channel.col3", message.channel), h("bdi.text.col4", cut(message.body, SHOWN))));
  }
}

customElements.define("sb-messages", Messages);
