/**
 * Pages that one can send to a colleague: a verdict, coverage, assumptions. Their address has everything that they show,
 * and their heading says of which world and of which instant they are.
 */

import { h } from "./dom.js";
import { copy } from "./parts.js";
import { go, viewOf } from "./route.js";
import { store } from "./store.js";
import { View } from "./view.js";
import { when } from "./words.js";

/** In a world with more entries a report is drawn again only when a person asks: it is made of the whole journal. */
const LONG = 5_000;

/** A view that is a report. `fields` are those of its address. */
export class Report extends View {
  static fields = [];
  #old = false;

  news(kinds) {
    if (this.past) return;
    if (store.entries < LONG || kinds.has("*")) return super.news(kinds);
    if (this.#old) return;
    this.#old = true;
    this.redraw();
  }

  /** Asks control for the report, and for the instant of which it is. */
  async load() {
    const [clock, report] = await Promise.all([this.world.get("clock"), this.ask()]);
    this.#old = false;
    this.now = clock.now;
    return report;
  }

  /** The address of the report with other fields; those that it has stay. */
  to(changes) {
    const kept = Object.fromEntries(this.constructor.fields.map((name) => [name, this.field(name)]));
    return viewOf(this.field("view"), { ...kept, ...changes });
  }

  /** Goes there without a step in the history. */
  become(changes) {
    go(this.to(changes), { replace: true });
  }

  /** The heading, with what can be done with a report. */
  heading(title, jsonAddress) {
    const { id } = this.world;
    return h("header.report-head",
      h("div",
        h("h1", title),
        h("p.quiet", "World ", h("bdi", id), ", as of ", h("time", { datetime: this.now }, when(this.now)))),
      h("div.actions",
        this.#old && h("button.first", { type: "button", onclick: () => this.reload() }, "Something happened: show it"),
        copy(() => location.href, "Copy link"),
        h("a.button.small", { href: jsonAddress, download: `${title.toLowerCase()}-${id}.json` }, "Save as JSON"),
        h("button.small", { type: "button", onclick: () => print() }, "Print")));
  }

  /** A choice of two or more values of a field of the address. */
  choice(label, name, values) {
    const present = this.field(name) ?? "";
    return h("nav.report-choice", { "aria-label": label }, values.map(([value, text]) =>
      h("a", { href: this.to({ [name]: value }), "aria-current": value === present ? "true" : null }, text)));
  }

  /** A link to an entry of the journal. */
  entry(number) {
    return h("a", { href: this.world.address(["journal", String(number)]), target: "_blank" }, `entry ${number}`);
  }
}

/** A place of a scenario, `FILE:LINE`: a link to the line; the view of the scenario knows whether it shows this file. */
export function placed(place) {
  if (!place) return null;
  const short = place.split("/").at(-1);
  const [, file, line] = /^(.+):(\d+)$/.exec(short) ?? [];
  return line ? h("a.mono", { href: viewOf("scenario", { line, of: file }) }, h("bdi", short)) : h("bdi.mono", short);
}

/** A share as a bar, which says nothing that the words beside it do not say. */
export function bar(tried, of) {
  const share = of ? tried / of : 0;
  const fill = h("rect", { x: 0, y: 0, width: `${share * 100}%`, height: "100%", class: "fill" });
  return h("svg", { class: "report-bar", "aria-hidden": "true" }, h("rect", { width: "100%", height: "100%", class: "whole" }), fill);
}

/** A share in words: `12.5 %`. */
export const percent = (tried, of) => `${(of ? (100 * tried) / of : 0).toFixed(1)} %`;
