/** Assumptions: what the service was assumed to do where its specification is silent; first what the client relied on. */

import { h } from "../dom.js";
import { badge, searchBox, text } from "../parts.js";
import { Report } from "../report.js";
import { serves } from "../served.js";
import { count } from "../words.js";

const TONES = { differs: "fair", equal: "good", ended: "way", illegal: "bad" };

class Assumptions extends Report {
  static fields = ["search", "others"];

  async ask() {
    const [all, leaning] = await Promise.all([
      this.world.get("assumptions"), this.field("others") ? this.world.get("leaning") : { leaned: [] },
    ]);
    return { ...all, others: new Map(leaning.leaned.map((row) => [row.id, row])) };
  }

  draw(known) {
    const { assumptions, leaned, untold } = known;
    const search = this.field("search") ?? "";
    const fits = (row) => `${row.id} ${row.title} ${row.section} ${row.setting} ${row.default}`.toLowerCase()
      .includes(search.toLowerCase());
    const relied = new Map(leaned.map((row) => [row.id, row]));
    const shown = assumptions.filter(fits);
    const [first, rest] = [shown.filter((row) => relied.has(row.id)), shown.filter((row) => !relied.has(row.id))];
    return h("div.page",
      this.heading("Assumptions", this.world.address("assumptions")),
      h("p", "Where the specification says nothing, Sendbox makes an assumption. This client relied on ",
        h("strong", leaned.length.toLocaleString("en")), ` of ${assumptions.length}.`),
      searchBox({
        value: search, label: "Search assumptions", hint: "Id, title, section or setting",
        search: (words) => this.become({ search: words }),
      }),
      h("h2", `Relied on (${first.length})`),
      serves("leaning") && leaned.length > 0 && !this.field("others") && h("p.actions",
        h("button", { type: "button", onclick: () => this.become({ others: "1" }) }, "What would other values have shown?"),
        h("span.quiet", "The world is made again with each other value of a setting.")),
      first.length ? h("ul.assumed", first.map((row) => this.#row(row, known, relied.get(row.id))))
        : h("p.card.empty", search ? "None that fits." : "None yet."),
      h("h2", `Others (${rest.length})`),
      rest.length ? h("ul.assumed", rest.map((row) => this.#row(row, known))) : h("p.card.empty", "None that fits."),
      untold.length > 0 && [h("h2", "Not told"),
        h("ul", untold.map((row) => h("li", h("strong", row.id), " ", text(row.reason))))]);
  }

  #row(row, { settings, others, confidence }, relied) {
    const letters = row.confidence.split("/").map((letter) => confidence[letter] ?? letter).join("; ");
    return h("li.card.padded", { key: row.id, class: relied && "relied" },
      h("h3", h("span.tag", row.id), " ", row.title, " ", h("span.quiet", row.section)),
      h("p", text(row.default)),
      h("p.quiet", `Confidence: ${letters}`),
      row.setting.length > 0 && h("dl.assumed-settings", row.setting.map((name) =>
        h("div", h("dt.mono", name), h("dd.mono", JSON.stringify(settings[name]) ?? "")))),
      relied && h("p", h("strong", count(relied.count, "entry", "entries")), " of the journal depended on it: ",
        relied.entries.map((number, index) => [index > 0 && ", ", this.entry(number)]), relied.count > relied.entries.length && " …"),
      relied && this.#others(others.get(row.id)));
  }

  #others(row) {
    if (!row?.others.length) return null;
    return [h("h4", "With other values"), h("ul.assumed-others", row.others.map((other) =>
      h("li", h("code", `${other.setting}: ${other.said}`), " ", badge(other.outcome, TONES[other.outcome]), " ", text(other.text))))];
  }
}

customElements.define("sb-assumptions", Assumptions);
