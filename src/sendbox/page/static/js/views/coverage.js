/** Coverage: what the client of this world tried of the service, and what it did not. */

import { h } from "../dom.js";
import { copy, table, text, tr } from "../parts.js";
import { Report, bar, percent } from "../report.js";
import { viewOf } from "../route.js";
import { count } from "../words.js";

/** So many items of a dimension are shown at first. */
const SHOWN = 40;

class Coverage extends Report {
  static fields = ["scope", "open", "all"];

  #list(name) {
    return (this.field(name) ?? "").split(",").filter(Boolean);
  }

  get #query() {
    const scope = this.field("scope");
    return scope ? { scope } : {};
  }

  async ask() {
    const open = this.#list("open");
    const [report, ...details] = await Promise.all([
      this.world.get("coverage", this.#query), ...open.map((name) => this.world.get(["coverage", name], this.#query)),
    ]);
    return { report, details: new Map(details.map((detail) => [detail.name, detail])) };
  }

  #turn(field, name, on) {
    const others = this.#list(field).filter((other) => other !== name);
    this.become({ [field]: (on ? [...others, name] : others).join(",") });
  }

  draw({ report, details }) {
    const { total, scope, dimensions, leaned } = report;
    return h("div.page",
      this.heading("Coverage", this.world.address("coverage", this.#query)),
      this.choice("Scope", "scope", [["", "Everything"], ["used", "Called operations"]]),
      h("div.card.padded.coverage-total",
        h("p.coverage-sum", h("strong", percent(total.tried, total.of)), ` ${total.tried} of ${total.of} items tried`),
        bar(total.tried, total.of),
        scope && h("p.quiet", scope.length ? ["In the scope of ", h("bdi", scope.join(", "))] : "No operation was called yet.")),
      h("div.coverage-dimensions", dimensions.map((each) => this.#dimension(each, details.get(each.name)))),
      Object.keys(leaned).length > 0 && h("p", h("a", { href: viewOf("assumptions") },
        `The client relied on ${count(Object.keys(leaned).length, "assumption")}`)));
  }

  #dimension({ name, heading, tried, of }, detail) {
    const open = this.#list("open").includes(name);
    return h("section.card.coverage-one", { key: name },
      h("h2", h("button.coverage-head", {
        type: "button", "aria-expanded": String(open), onclick: () => this.#turn("open", name, !open),
      }, h("span.coverage-name", heading), bar(tried, of), h("span.coverage-number", `${tried} of ${of}`),
      h("span.coverage-number", percent(tried, of)))),
      open && detail && this.#items(name, detail));
  }

  #items(name, { heading, items }) {
    const whole = this.#list("all").includes(name);
    const shown = whole ? items : items.slice(0, SHOWN);
    return [
      table(heading, ["Item", "Tried", "How to try it"], shown.map((item) => tr([
        [h("bdi", item.name), " ", h("span.quiet", [item.section, item.assumed].filter(Boolean).join(", "))],
        h("td.nowrap", item.count ? count(item.count, "time") : "never"),
        !item.count && h("div.coverage-try", h("code", text(item.snippet, 600)), copy(item.snippet)),
      ], { class: item.count ? "tried" : "never" })), { card: false }),
      shown.length < items.length && h("p.padded", h("button", { type: "button", onclick: () => this.#turn("all", name, true) },
        `Show all ${items.length}`)),
    ];
  }
}

customElements.define("sb-coverage", Coverage);
