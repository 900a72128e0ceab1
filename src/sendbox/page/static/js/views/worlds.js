/** The open worlds, how a client reaches them, and the keys that opened none. */

import { call, path } from "../api.js";
import { h, show } from "../dom.js";
import { icon } from "../icons.js";
import { manage, opening } from "../manage.js";
import { copy, searchBox, table, text } from "../parts.js";
import { address, go } from "../route.js";
import { addresses, lines, serves, version } from "../served.js";
import { store } from "../store.js";
import { View } from "../view.js";
import { count, since, when } from "../words.js";

/** The most refused keys that are shown. */
const SHOWN = 20;

class Worlds extends View {
  static kinds = [];
  #again = () => {
    this.querySelector("sb-list")?.refresh();
    this.reload();
  };

  begin() {
    store.addEventListener("worlds", this.#again);
    // the list asks for its rows at once, beside the keys that were refused
    show(this, this.draw([]));
  }

  end() {
    store.removeEventListener("worlds", this.#again);
  }

  async load() {
    return (await call("GET", path("refused"))).refused;
  }

  draw(refused) {
    const search = this.field("search") ?? "";
    return h("div.page",
      h("div.worlds-head", h("h1", "Worlds"),
        h("div.actions",
          h("button.first", { type: "button", "aria-haspopup": "dialog", onclick: () => opening((world) => go(address({ world }, []))) }, "Open a world"),
          serves("scenarios") && h("a.button", { href: address({ view: "library" }, []) }, icon("library"), "The library"))),
      searchBox({
        value: search, label: "Search worlds", hint: "Any part of an id: shop",
        search: (part) => go(address({ search: part }), { replace: true }),
      }),
      h("div.card.worlds-list", h("sb-list", { data: {
        of: search, height: 66, label: "Open worlds", key: (world) => world.id, kinds: [],
        empty: search ? `No open world has an id with “${search}” in it.`
          : "No world is open. One opens at the first request of a client whose API key begins with test-.",
        fetch: async (cursor) => {
          const { worlds, next_cursor: next } = await call("GET", path("worlds"), { query: { order: "newest", limit: 50, part: search, cursor } });
          return { items: worlds, next };
        },
        row: (world) => this.#row(world),
      } })),
      this.#connect(), this.#refused(refused));
  }

  #row({ id, scenario, clock, messages, epoch }) {
    const next = clock.next_due && `next ${since(clock.next_due, clock.now)}`;
    return h("div.worlds-row",
      h("a.row", { href: address({ world: id }, []) },
        h("span.line", h("strong.mono.text", h("bdi", id)), h("span.end.quiet", count(messages, "message"))),
        h("span.line.quiet", h("bdi.text", scenario), h("span.worlds-clock", when(clock.now)), h("span", clock.mode), h("span.worlds-clock", next),
          epoch > 0 && h("span.worlds-clock", `epoch ${epoch}`))),
      h("button.plain", { type: "button", "aria-label": `More about ${id}`, "aria-haspopup": "dialog", title: "Checkpoints, reset, close", onclick: () => manage(id) }, icon("more")));
  }

  #connect() {
    return [
      h("h2", "Connect a client"),
      h("p", "Give it one of these addresses, and an API key that begins with ", h("code", "test-"), ": each key is a world of its own."),
      h("dl.card.worlds-copied", Object.entries(addresses).map(([name, url]) =>
        h("div", h("dt", name), h("dd", h("code", url), copy(url, "Copy", `Copy ${name}`))))),
      Object.entries(lines).map(([does, line]) =>
        h("div.worlds-line", h("h3", does), copy(line, "Copy", `Copy: ${does}`), h("pre", { tabindex: 0, role: "group", "aria-label": does }, line))),
      h("p.quiet", "All operations: ", h("a", { href: path("openapi.json") }, "control"), " and ", h("a", { href: "/openapi.json" }, "the emulated interfaces"), `. Sendbox ${version}.`)];
  }

  #refused(refused) {
    if (!refused.length) return null;
    const more = refused.length - SHOWN;
    return [
      h("h2", "Keys that opened no world"),
      table("Keys that opened no world", ["Key", "Called", "Why, and what to do", "At"], refused.slice(-SHOWN).reverse().map((item) => [
        h("td.mono", text(item.key)), h("td.mono", text(item.path)),
        [text(item.why), h("br"), h("span.quiet", text(item.what_to_do))], h("td.nowrap", when(item.at)),
      ])),
      more > 0 && h("p.quiet", `${more} older ones: `, h("a", { href: path("refused") }, "as JSON"), "."),
    ];
  }
}

customElements.define("sb-worlds", Worlds);
