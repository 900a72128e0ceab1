/** The verdict: what the scenario expects, whether it holds, and why not. */

import { h } from "../dom.js";
import { badge, facts, table, text } from "../parts.js";
import { Report, placed } from "../report.js";
import { viewOf } from "../route.js";
import { count, since, when } from "../words.js";

const SUMS = { failed: "failed", open: "open", passed: "hold" };

class Verdict extends Report {
  static fields = ["ended"];

  get #query() {
    return this.field("ended") ? { ended: "true" } : {};
  }

  ask() {
    return this.world.get("verdict", this.#query);
  }

  draw(verdict) {
    const { expectations, unused, warnings } = verdict;
    const names = warnings.filter(({ rule }) => rule === "name-unknown");
    return h("div.page",
      this.heading("Verdict", this.world.address("verdict", this.#query)),
      this.choice("What is open", "ended", [["", "So far"], ["true", "As if the world ended now"]]),
      this.#sum(verdict),
      expectations.length > 0 && h("section", h("h2", "Expectations"),
        h("ol.verdict-list", expectations.map((each, index) => h("li", { key: index }, this.#expectation(each))))),
      names.length > 0 && this.#names(names),
      unused.length > 0 && this.#unused(unused));
  }

  #sum(verdict) {
    const { expectations, state, trusted, lost, bound, next_due: due } = verdict;
    const sums = Object.entries(SUMS).map(([name, word]) => [expectations.filter((each) => each.state === name).length, word]);
    const said = sums.filter(([number]) => number).map(([number, word]) => `${number.toLocaleString("en")} ${word}`).join(", ");
    return h("div.card.padded.verdict-sum", { class: expectations.length ? state : "none" },
      h("p.verdict-state", expectations.length ? [badge(state), h("strong", `${said} of ${count(expectations.length, "expectation")}`)]
        : h("strong", "Nothing is expected")),
      !expectations.length && h("p", "The scenario of this world has no expectations. ",
        h("a", { href: viewOf("scenario") }, "Write some"), " with ", h("code", "expect:"), "."),
      !trusted && h("p.verdict-doubt", { role: "alert" },
        `Not to be trusted: ${count(lost, "entry", "entries")} of the journal were forgotten (${bound}).`),
      due && h("p.quiet", `Something is still to come, next ${since(due, this.now)} at ${when(due)}.`));
  }

  #expectation(each) {
    const { subjects } = each;
    return h("article.card.padded.verdict-one", { class: each.state },
      h("h3", badge(each.state), " ", h("bdi", each.name)),
      facts([
        ["Counted", each.that], ["Wanted", h("bdi", each.wanted)], ["Found", each.found.toLocaleString("en")],
        ["Step", each.step ? `${each.step} of then` : null], ["Open until", each.open_until && when(each.open_until)],
        ["Written at", placed(each.place)],
      ]),
      each.why && h("p", text(each.why)),
      each.never.length > 0 && h("div.verdict-doubt", h("h4", "Nothing can meet this"),
        h("ul", each.never.map((never) => h("li", text(never.message), " ", h("code", never.rule))))),
      each.nearest.length > 0 && [h("h4", "Nearest"), h("ul.verdict-near", each.nearest.map((near) => this.#near(near)))],
      subjects && h("p.verdict-subjects", h("strong", count(subjects.found, "subject")), ": ",
        `${subjects.passed} passed, ${subjects.failed} failed, ${subjects.open} open`),
      each.failed.length > 0 && this.#failed(each.failed, subjects));
  }

  #near(near) {
    return h("li",
      h("p", text(near.what), " ", h("span.quiet", when(near.at), near.entry !== null && [", ", this.entry(near.entry)])),
      h("p.quiet", text(near.why_not)));
  }

  #failed(failed, subjects) {
    const more = subjects.failed + subjects.open - failed.length;
    return [
      table("Subjects that failed or are open", ["Subject", "First", "Why"], failed.map(({ subject, first, why }) => [
        Object.entries(subject).map(([name, value]) => h("div", h("span.quiet", `${name} `), text(value ?? ""))),
        first && [text(first.what), " ", h("span.quiet", when(first.at))], text(why),
      ]), { card: false }),
      more > 0 && h("p.quiet", `and ${more.toLocaleString("en")} more`),
    ];
  }

  #names(names) {
    return h("section", h("h2", "Names that this world does not have"),
      table("Names that this world does not have", ["Name", "Written at"],
        names.map(({ message, place }) => [text(message), placed(place)])));
  }

  #unused(unused) {
    const shown = unused.slice(0, 100);
    return h("section", h("h2", "Rules that never decided anything"),
      table("Rules that never decided anything", ["Rule", "List", "Written at"],
        shown.map((rule) => [text(rule.rule), h("td.nowrap", rule.in), placed(rule.place)])),
      unused.length > shown.length && h("p.quiet", `and ${count(unused.length - shown.length, "more", "more")}`));
  }
}

customElements.define("sb-verdict", Verdict);
