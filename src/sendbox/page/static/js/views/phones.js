/** Phones: the list of those that were written to or wrote, and the chosen one as a handset. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { OF, panel, pageOf } from "../list/panel.js";
import { badge } from "../parts.js";
import { go, viewOf } from "../route.js";
import { store } from "../store.js";
import { View } from "../view.js";
import { SHOWN, cut, time } from "../words.js";
import "../phone/handset.js";

const COLUMNS = [
  { title: "Number", sort: "number", width: "10rem" }, { title: "State", width: "9.5rem" }, { title: "Last text", width: "minmax(6rem, 1fr)" },
  { title: "Messages", sort: "messages", width: "6.5rem" }, { title: "Last", sort: null, width: "6rem" },
];

class Phones extends View {
  static kinds = [];
  /** Up to which instant the texts of each phone were looked at; of the others: when the page was opened. */
  #read = new Map();
  #opened = null;

  moved() {
    this.redraw();
  }

  /** The address of this view, with some fields changed. */
  #at(fields) {
    return viewOf("phones", { search: this.field("search"), sort: this.field("sort"), order: this.field("order"), ...fields });
  }

  draw() {
    const chosen = this.field("phone");
    const at = (name) => this.field(name);
    return h("div.split", { class: chosen && "chosen" },
      panel({
        name: "phones", title: "Phones", chosen, hint: "Number, or words of a text",
        to: (fields) => this.#at({ phone: chosen, ...fields }), at,
        list: {
          of: OF.map(at).join(" "), height: 68, label: "Phones", noun: ["phone"], moves: true, key: (phone) => phone.number, columns: COLUMNS,
          kinds: ["request", "transition", "inbound", "phone", "opt_out", "notice", "bulk_line"],
          empty: at("search") ? this.#none(at("search")) : this.#empty(),
          fetch: async (cursor) => {
            const { phones, next_cursor: next, total } = await this.world.get("phones", pageOf(at, cursor, "activity"));
            this.#opened ??= store.info?.clock.now ?? null;
            this.#light(phones);
            return { items: phones, next, total };
          },
          row: (phone) => this.#row(phone, chosen),
        },
      }),
      chosen && h("section.detail", { tabindex: "-1", "aria-label": "Phone" }, h("sb-handset", { data: chosen, key: chosen })));
  }

  /** A story that is played shows the phone that it begins with, where there is room beside the list. */
  #light([newest]) {
    const here = this.field("view") === "phones" && this.field("phone") === null && !this.past;
    if (newest && here && this.field("play") !== null && matchMedia("(min-width: 60.01rem)").matches) {
      go(viewOf("phones", { phone: newest.number }), { replace: true });
    }
  }

  #row({ number, last, absent, online, opted_out: out, messages }, chosen) {
    if (number === chosen) this.#read.set(number, last?.at);
    const unread = last?.direction === "in" && this.#opened !== null && last.at > (this.#read.get(number) ?? this.#opened);
    const missing = absent && (!last || absent.at > last.at) ? absent : null;
    const newest = missing ?? last;
    return h("a.row", { href: this.#at({ phone: number }), "aria-current": number === chosen ? "true" : null },
      h("span.line", h("strong.col1", h("bdi", number)),
        h("span.marks.col2", unread && h("span.unread", h("span.sr", "new")), !online && h("span.badge.way", "offline"), out && h("span.badge.fair", "opted out")),
        h("span.quiet.only-wide.col4", messages.toLocaleString("en")),
        newest && h("span.end.quiet.col5", time(newest.at).slice(0, 8))),
      h("span.line.col3",
        missing && badge(missing.result), !missing && last?.direction === "out" && h("span.mine", icon("reply"), h("span.sr", "The phone wrote: ")),
        h("bdi.text", { class: missing || !last ? "quiet" : null }, newest ? cut(newest.body.replaceAll("\n", " ").trim(), SHOWN) || "no text" : "nothing has arrived yet")));
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
