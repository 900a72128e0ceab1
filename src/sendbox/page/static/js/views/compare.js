/** Two runs side by side: this world and another one, and the first difference between them. */

import { call, path } from "../api.js";
import { h } from "../dom.js";
import { copy, facts, json, searchBox, table } from "../parts.js";
import { go, viewOf } from "../route.js";
import { View } from "../view.js";
import { count, cut, inWords, when } from "../words.js";

/** Entries around the first difference, and worlds that are offered. */
const AROUND = 6;
const OFFERED = 20;
/** What control says of a field that one of them does not have. */
const NOTHING = "(nothing)";

class Compare extends View {
  /** Not at each entry: a comparison reads all of both worlds. */
  static kinds = [];

  async load() {
    const [search, other] = [this.field("search") ?? "", this.field("with")];
    if (other !== null) return { answer: await this.world.get("compare", { with: other, around: AROUND }) };
    const query = { order: "newest", limit: OFFERED + 2, part: search };
    const { worlds, next_cursor: next } = await call("GET", path("worlds"), { query });
    const others = worlds.filter(({ id }) => id !== this.field("world"));
    return { search, others: others.slice(0, OFFERED), more: next !== null || others.length > OFFERED };
  }

  problem(error) {
    return [super.problem(error), this.field("with") !== null && this.#other()];
  }

  #other() {
    return h("p", h("a.button.small", { href: viewOf("compare") }, "Compare with another world"));
  }

  draw({ answer, search, others, more }) {
    return h("div.page.compare", h("h1", "Compare"), answer ? this.#compared(answer) : this.#choice(search, others, more));
  }

  #choice(search, others, more) {
    return [
      h("p", "Two runs of the same client should be equal. Choose the world of the other run; the first difference is shown."),
      searchBox({
        value: search, label: "Search worlds", hint: "Any part of an id",
        search: (part) => go(viewOf("compare", { search: part }), { replace: true }),
      }),
      others.length
        ? h("ul.card.compare-worlds", { "aria-label": "Other worlds" }, others.map(({ id, scenario, clock, messages }) =>
          h("li", { key: id }, h("a.row", { href: viewOf("compare", { with: id }) },
            h("span.line", h("strong.mono.text", h("bdi", id)), h("span.end.quiet", count(messages, "message"))),
            h("span.line.quiet", h("bdi.text", scenario), when(clock.now))))))
        : h("p.card.empty", search ? "No other open world has such an id." : "No other world is open."),
      more && h("p.quiet", "There are more: type a part of an id."),
    ];
  }

  #compared({ same, equal, first, left_out: leftOut, lines, digest, rows }) {
    const [mine, other] = [this.field("world"), this.field("with")];
    return [
      h("div.card.padded.compare-answer", { class: same ? "good" : "bad", role: "status" },
        h("p.compare-word", same ? "Equal" : "Different"),
        h("p", same ? `All ${count(equal, "entry", "entries")} are the same.` : h("bdi", cut(first.what, 400))),
        facts([[mine, h("code.compare-digest", digest.here.slice(0, 16))], [other, h("code.compare-digest", digest.there.slice(0, 16))],
          ["Equal entries before it", same ? null : equal.toLocaleString("en")]])),
      leftOut.length > 0 && h("ul.quiet", leftOut.map((note) => h("li", note))),
      !same && this.#fields(first.fields),
      !same && this.#rows(rows, first, [mine, other]),
      h("div.actions", h("button.small", { type: "button", onclick: () => this.reload() }, "Compare again"), this.#other().firstChild, copy(lines.join("\n"), "Copy as text")),
    ];
  }

  /** What differs in the entry, where both have one. */
  #fields(fields) {
    if (!fields.length) return null;
    const shown = (value) => (value === null || value === undefined || value === NOTHING ? h("span.quiet", "nothing") : h("bdi.mono.text", cut(JSON.stringify(value), 300)));
    return table("What differs", ["Field", this.field("world"), this.field("with")],
      fields.map((field) => [h("td.mono", field.path), shown(field.here), shown(field.there)]));
  }

  /** What happened in both worlds side by side; where one of them has nothing, there is a gap. */
  #rows(rows, first, worlds) {
    return [
      h("div.compare-heads", worlds.map((world) =>
        h("h2", h("a", { href: `?${new URLSearchParams({ world, view: "messages" })}` }, h("bdi", world))))),
      h("ol.card.compare-rows", { "aria-label": "What happened, side by side" }, rows.map(({ here, there }) =>
        h("li", { key: `${here?.n} ${there?.n}` }, this.#entry(here, first.here, there), this.#entry(there, first.there, here)))),
    ];
  }

  #entry(entry, differs, other) {
    if (entry === null) return h("div.compare-gap", h("span.sr", "nothing like this"));
    const first = entry.n === differs?.n;
    return h("details", { class: first ? "differs" : entry.only && "only" }, h("summary",
      h("time", when(entry.at)), " ", h("bdi", inWords(entry.words || entry.kind)),
      first ? h("span.badge.bad", "first difference") : entry.only && h("span.badge.fair", other ? "differs" : "only here")),
    json(entry.canonical.length === 1 ? entry.canonical[0] : entry.canonical));
  }
}

customElements.define("sb-compare", Compare);
