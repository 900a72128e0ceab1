/** The library of scenarios, each with a button that plays it step by step. */

import { call, path } from "../api.js";
import { h } from "../dom.js";
import { icon } from "../icons.js";
import { go, address } from "../route.js";
import { searchBox } from "../parts.js";
import { play } from "../playing.js";
import { View } from "../view.js";
import { count } from "../words.js";

/** The first sentences of a summary, and the others. */
const BEGINNING = /^(.{60,260}?\.)\s+([A-Z“].+)$/s;

/** Text with code between backticks. */
const prose = (text) => text.split("`").map((part, index) => (index % 2 ? h("code", part) : part));

class Library extends View {
  static kinds = [];
  #known = null;

  async load() {
    this.#known ??= (await call("GET", path("scenarios"))).scenarios;
    return this.#known;
  }

  draw(scenarios) {
    const search = this.field("search") ?? "";
    const words = search.toLowerCase().split(/\s+/);
    const found = scenarios.filter(({ name, title, summary }) => {
      const text = `${name} ${title} ${summary}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    return h("div.page",
      h("h1", "The library"),
      h("p", "Stories of what can happen to a client. “Play” opens a world of its own and carries the story out: requests are "
        + "sent, the clock moves, phones light up."),
      searchBox({ value: search, label: "Search the library", hint: "fallback credit signup", search: (text) => go(address({ search: text }), { replace: true }) }),
      found.length ? h("ul.library-cards", { "aria-label": "Scenarios" }, found.map((scenario) => this.#card(scenario)))
        : h("p.card.empty", `None of ${count(scenarios.length, "scenario")} has these words.`));
  }

  #card({ name, title, summary }) {
    const [, first, rest] = BEGINNING.exec(summary) ?? [null, summary, ""];
    return h("li.card.padded", { key: name },
      h("h2", title || name),
      h("p.library-name.quiet.mono", name),
      h("p", prose(first)),
      rest && h("details", h("summary", "More"), h("p", prose(rest))),
      h("div.actions", h("button", { type: "button", "aria-label": `Play ${title || name}`, onclick: () => play(name) }, icon("play"), "Play")));
  }
}

customElements.define("sb-library", Library);
