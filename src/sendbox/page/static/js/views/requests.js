/** What the client called: a list to search, and the call that is chosen. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { OF, panel, pageOf } from "../list/panel.js";
import { go, viewOf } from "../route.js";
import { answered, remarked } from "../story/exchange.js";
import "../story/request.js";
import { View } from "../view.js";
import { cut, time } from "../words.js";

/** What is added to a search to find calls that something was remarked about. */
const REMARKED = "remark:*";

const COLUMNS = [
  { title: "Answer", sort: "status", width: "6.5rem" }, { title: "Operation", sort: "operation", width: "minmax(8rem, 1fr)" },
  { title: "Call", width: "minmax(6rem, 2fr)" }, { title: "Remarks", sort: "remarks", width: "minmax(6rem, 11rem)" }, { title: "At", sort: null, width: "7rem" },
];

class Requests extends View {
  static kinds = [];

  moved() {
    this.redraw();
  }

  /** The address of this view, with some fields changed. */
  #at(fields) {
    const kept = { search: this.field("search"), remarked: this.field("remarked"), sort: this.field("sort"), order: this.field("order") };
    return viewOf("requests", { ...kept, ...fields });
  }

  draw() {
    const [chosen, remarks] = [this.field("request"), this.field("remarked") !== null];
    const at = (name) => this.field(name);
    const search = remarks ? `${at("search") ?? ""} ${REMARKED}`.trim() : at("search");
    return h("div.split", { class: chosen && "chosen" },
      panel({
        name: "requests", title: "Requests", chosen, hint: "to:420777* status:4*",
        to: (fields) => this.#at({ request: chosen, ...fields }), at,
        more: h("label", h("input", {
          type: "checkbox", checked: remarks, onchange: (event) => go(this.#at({ request: chosen, remarked: event.target.checked ? "1" : null })),
        }), " With remarks only"),
        list: {
          of: `${remarks} ${OF.map(at).join(" ")}`, height: 68, label: "Requests", noun: ["call"], key: ({ n }) => n, columns: COLUMNS,
          kinds: ["request"],
          empty: search ? "No call fits." : "The client has not called yet.",
          fetch: async (cursor) => {
            const { requests, next_cursor: next, total } = await this.world.get("requests", { ...pageOf(at, cursor), search });
            return { items: requests, next, total };
          },
          row: (entry) => this.#row(entry, chosen),
        },
      }),
      chosen && h("section.detail", { tabindex: "-1", "aria-label": "Request" },
        h("a.button.back", { href: this.#at({}) }, icon("back"), "Requests"),
        h("sb-request", { data: chosen, key: chosen })));
  }

  #row(entry, chosen) {
    return h("a.row", { href: this.#at({ request: String(entry.n) }), "aria-current": String(entry.n) === chosen ? "true" : null },
      h("span.line", h("span.col1", answered(entry)), h("strong.col2", entry.operation), h("span.end.quiet.col5", time(entry.at))),
      h("span.line", h("bdi.text.col3", h("code", `${entry.method} ${cut(entry.path)}`)), h("span.end.col4", remarked(entry))));
  }
}

customElements.define("sb-requests", Requests);
