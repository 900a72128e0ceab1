/** A list that a service registered: a table of its fields. */

import { h } from "../dom.js";
import { lists } from "../served.js";
import { table, text } from "../parts.js";
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
      ? table(title, Object.keys(columns), items.toReversed().map((item) =>
        Object.values(columns).map((field) => text(item[field] ?? ""))))
      : h("p.card.empty", "Nothing yet."));
  }
}

customElements.define("sb-listing", Listing);
