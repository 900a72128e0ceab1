/** A list that a service registered: a table of its fields. */

import { h } from "../dom.js";
import { lists } from "../served.js";
import { text } from "../parts.js";
import { View } from "../view.js";

class Listing extends View {
  get #list() {
    return lists.find((list) => list.name === this.field("view"));
  }

  async load() {
    return (await this.world.get(this.#list.path))[this.#list.items];
  }

  draw(items) {
    const { title, columns } = this.#list;
    return h("div.page", h("h1", title), items.length
      ? h("div.card.scroll", h("table",
        h("thead", h("tr", Object.keys(columns).map((heading) => h("th", { scope: "col" }, heading)))),
        h("tbody", items.toReversed().map((item) =>
          h("tr", Object.values(columns).map((field) => h("td", text(item[field] ?? ""))))))))
      : h("p.card.empty", "Nothing yet."));
  }
}

customElements.define("sb-listing", Listing);
