/** Phones: the list of those that were written to or wrote, and the chosen one as a handset. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { searchBox } from "../parts.js";
import { go, viewOf } from "../route.js";
import { store } from "../store.js";
import { View } from "../view.js";
import { cut, time } from "../words.js";
import "../phone/handset.js";

class Phones extends View {
  static kinds = [];
  /** Up to which instant the texts of each phone were looked at; of the others: when the page was opened. */
  #read = new Map();
  #opened = null;

  moved() {
    this.redraw();
  }

  draw() {
    const search = this.field("search") ?? "";
    const chosen = this.field("phone");
    return h("div.split", { class: chosen && "chosen" },
      h("section.list", { "aria-label": "Phones" },
        h(chosen ? "h2.title" : "h1.title", "Phones"),
        searchBox({
          value: search, label: "Search phones", hint: "number, or words of a text",
          search: (text) => go(viewOf("phones", { search: text, phone: chosen }), { replace: true }),
        }),
        h("sb-list", { data: {
          of: search, height: 68, label: "Phones", key: (phone) => phone.number,
          kinds: ["request", "transition", "inbound", "phone", "opt_out", "notice", "bulk_line"],
          empty: search ? this.#none(search) : this.#empty(),
          fetch: async (cursor) => {
            const query = { order: "newest", limit: 50, form: "short", search, cursor };
            const { phones, next_cursor: next } = await this.world.get("phones", query);
            this.#opened ??= store.info?.clock.now ?? null;
            this.#light(phones);
            return { items: phones, next };
          },
          row: (phone) => this.#row(phone, chosen, search),
        } })),
      chosen && h("section.detail", { "aria-label": "Phone" }, h("sb-handset", { data: chosen, key: chosen })));
  }

  /** A story that is played shows the phone that it begins with, where there is room beside the list. */
  #light([newest]) {
    const here = this.field("view") === "phones" && this.field("phone") === null && !this.past;
    if (newest && here && this.field("play") !== null && matchMedia("(min-width: 60.01rem)").matches) {
      go(viewOf("phones", { phone: newest.number }), { replace: true });
    }
  }

  #row({ number, last, online, opted_out: out }, chosen, search) {
    if (number === chosen) this.#read.set(number, last?.at);
    const unread = last?.direction === "in" && this.#opened !== null && last.at > (this.#read.get(number) ?? this.#opened);
    return h("a.row", { href: viewOf("phones", { search, phone: number }), "aria-current": number === chosen ? "true" : null },
      h("span.line", h("strong", h("bdi", number)), unread && h("span.unread", h("span.sr", "new")),
        !online && h("span.badge.way", "offline"), out && h("span.badge.fair", "opted out"),
        last && h("span.end.quiet", time(last.at).slice(0, 8))),
      h("span.line",
        last?.direction === "out" && h("span.mine", icon("reply"), h("span.sr", "The phone wrote: ")),
        h("bdi.text", last ? cut(last.body.replaceAll("\n", " ")) || "no text" : h("span.quiet", "nothing has arrived yet"))));
  }

  #empty() {
    return h("span.phones-first",
      icon("phones"),
      h("strong", "No phone yet"),
      h("span", "A phone appears with the first message to it, or when it writes first."),
      h("a.button.first", { href: viewOf("try") }, "Send a message"));
  }

  #none(search) {
    const number = search.replace(/^\+|\s/g, "");
    return [h("span", "No phone fits. "), /^\d{7,15}$/.test(number) && h("a", { href: viewOf("phones", { phone: number }) }, `Take up ${number} all the same`)];
  }
}

customElements.define("sb-phones", Phones);
