/** What the client called: a list to search, and the call that is chosen. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { searchBox } from "../parts.js";
import { go, viewOf } from "../route.js";
import { answered, remarked } from "../story/exchange.js";
import "../story/request.js";
import { View } from "../view.js";
import { cut, time } from "../words.js";

/** What is added to a search to find calls that something was remarked about. */
const REMARKED = "remark:*";

class Requests extends View {
  static kinds = [];

  moved() {
    this.redraw();
  }

  /** The address of this view, with some fields changed. */
  #at(fields) {
    return viewOf("requests", { search: this.field("search"), remarked: this.field("remarked"), ...fields });
  }

  draw() {
    const [typed, chosen, remarks] = [this.field("search") ?? "", this.field("request"), this.field("remarked") !== null];
    const search = remarks ? `${typed} ${REMARKED}`.trim() : typed;
    return h("div.split", { class: chosen && "chosen" },
      h("section.list", { "aria-label": "Requests" },
        h(chosen ? "h2.title" : "h1.title", "Requests"),
        h("div.story-filter",
          searchBox({
            value: typed, label: "Search requests", hint: "operation:send* status:4* to:420777* remark:unknown-field -word",
            search: (text) => go(this.#at({ search: text }), { replace: true }),
          }),
          h("p.actions", h("label", h("input", {
            type: "checkbox", checked: remarks, onchange: (event) => go(this.#at({ remarked: event.target.checked ? "1" : null })),
          }), " With remarks only"))),
        h("sb-list", { data: {
          of: search, height: 68, label: "Requests", key: ({ n }) => n, kinds: ["request"],
          empty: search ? "No call fits." : "The client has not called yet.",
          fetch: async (cursor) => {
            const query = { order: "newest", limit: 50, form: "short", search, cursor };
            const { requests, next_cursor: next } = await this.world.get("requests", query);
            return { items: requests, next };
          },
          row: (entry) => this.#row(entry, chosen),
        } })),
      chosen && h("section.detail", { "aria-label": "Request" },
        h("a.button.back", { href: this.#at({}) }, icon("back"), "Requests"),
        h("sb-request", { data: chosen, key: chosen })));
  }

  #row(entry, chosen) {
    return h("a.row", { href: this.#at({ request: String(entry.n) }), "aria-current": String(entry.n) === chosen ? "true" : null },
      h("span.line", answered(entry), h("strong", entry.operation), h("span.end.quiet", time(entry.at))),
      h("span.line", h("bdi.text", h("code", `${entry.method} ${cut(entry.path)}`)), h("span.end", remarked(entry))));
  }
}

customElements.define("sb-requests", Requests);
