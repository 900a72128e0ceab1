/** Messages: a list to search, and the one that is chosen. */

import "../story/message.js";
import { h } from "../dom.js";
import { go, viewOf } from "../route.js";
import { View } from "../view.js";
import { badge, searchBox } from "../parts.js";
import { cut, time } from "../words.js";

class Messages extends View {
  static kinds = [];

  moved() {
    this.redraw();
  }

  draw() {
    const search = this.field("search") ?? "";
    const chosen = this.field("message");
    return h("div.split", { class: chosen && "chosen" },
      h("section.list", { "aria-label": "Messages" },
        h(chosen ? "h2.title" : "h1.title", "Messages"),
        searchBox({
          value: search, label: "Search messages",
          hint: "to:420777* tag:promo channel:sms result:failed before:10m -word",
          search: (text) => go(viewOf("messages", { search: text }), { replace: true }),
        }),
        h("sb-list", { data: {
          of: search, height: 68, label: "Messages", key: (message) => message.message_id,
          kinds: ["request", "transition", "fallback", "refusal", "inbound", "click", "postponed", "bulk_line"],
          empty: search ? "No message fits." : "No message yet. Send one: “Try it” does.",
          fetch: async (cursor) => {
            const query = { order: "newest", limit: 50, form: "short", search, cursor };
            const { messages, next_cursor: next } = await this.world.get("messages", query);
            return { items: messages, next };
          },
          row: (message) => this.#row(message, chosen, search),
        } })),
      chosen && h("section.detail", { "aria-label": "Message" }, h("sb-message", { data: chosen, key: chosen })));
  }

  #row(message, chosen, search) {
    return h("a.row", {
      href: viewOf("messages", { search, message: message.message_id }),
      "aria-current": message.message_id === chosen ? "true" : null,
    },
    h("span.line", h("strong", h("bdi", message.phone)), badge(message.result), h("span.end.quiet", time(message.accepted_at))),
    h("span.line", h("span.channel", message.channel), h("bdi.text", cut(message.body))));
  }
}

customElements.define("sb-messages", Messages);
