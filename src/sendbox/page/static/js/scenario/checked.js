/**
 * An editor of scenarios that control checks while one writes: problems at their lines, and what is legal at the cursor.
 * `data`: `{of, text, changed, apply}`. `apply(text, reset)` answers the problems where the text was refused.
 */

import "./editor.js";
import { call, path } from "../api.js";
import { h, show } from "../dom.js";
import { text } from "../parts.js";
import { count, cut } from "../words.js";

/** Milliseconds without a key after which the text is checked. */
const PAUSE = 250;
/** So many problems, keys and words are shown. */
const SHOWN = 100;

class Checked extends HTMLElement {
  own = new Set(["class"]);
  data = {};
  #timer = null;
  #asked = null;
  #known = { ok: true, problems: [], keys: [], values: [], examples: [], place: null };
  #refused = false;

  connectedCallback() {
    this.#draw();
    this.check();
  }

  disconnectedCallback() {
    clearTimeout(this.#timer);
    this.#asked?.abort();
  }

  take(next) {
    const other = next.data.of !== this.data.of;
    this.data = next.data;
    this.#draw();
    if (other) this.check();
  }

  get editor() {
    return this.querySelector("sb-editor");
  }

  /** Asks control about the text and the cursor; an answer that is late is not shown. */
  async check() {
    clearTimeout(this.#timer);
    this.#asked?.abort();
    const asked = this.#asked = new AbortController();
    const body = { text: this.editor.text, ...this.editor.cursor };
    try {
      const known = await call("POST", path("check"), { body, signal: asked.signal });
      if (asked !== this.#asked) return;
      [this.#known, this.#refused] = [known, false];
    } catch (error) {
      if (error.name === "AbortError" || asked !== this.#asked) return;
      this.#known = { ...this.#known, ok: false, problems: [{ message: error.message, severity: "error" }] };
    }
    this.#draw();
  }

  #soon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.check(), PAUSE);
  }

  /** Hands the text on; where it is refused, its problems are shown at their lines. */
  async apply(reset) {
    const problems = await this.data.apply(this.editor.text, reset);
    if (!problems) return;
    this.#known = { ...this.#known, ok: false, problems };
    this.#refused = true;
    this.#draw();
    const [first] = problems;
    if (first?.line) this.editor.goto(first.line, first.column);
  }

  #draw() {
    const { of, text: begun, changed } = this.data;
    const { problems, ok } = this.#known;
    const marks = new Map();
    for (const { line, severity, message } of problems.toReversed()) {
      if (line) marks.set(line, { note: severity === "error" ? "✕" : "!", tone: severity === "error" ? "bad" : "fair", title: message });
    }
    show(this,
      h("div.checked-main",
        h("sb-editor", { data: {
          of, text: begun, label: "Scenario as YAML", describedby: "checked-help checked-sum", bad: !ok, marks,
          changed: (written) => { changed?.(written); this.#soon(); },
          moved: () => this.#soon(),
          legal: () => this.querySelector(".checked-legal button")?.focus(),
        } }),
        h("p.quiet", { id: "checked-help" }, h("kbd", "Ctrl"), " + ", h("kbd", "Space"), " goes to what may be written at the cursor, ",
          h("kbd", "Escape"), " back.")),
      h("div.checked-side", this.#problems(), this.#legal()));
  }

  #problems() {
    const { problems, ok } = this.#known;
    const errors = problems.filter((each) => each.severity === "error").length;
    const said = [errors && count(errors, "problem"), problems.length - errors && count(problems.length - errors, "warning")]
      .filter(Boolean).join(", ") || "No problem";
    return h("section.card.padded", { "aria-label": "Check" },
      h("h2", "Check"),
      h("p.checked-sum", { id: "checked-sum", role: "status", class: ok ? "good" : "bad" }, this.#refused ? `Refused: ${said}` : said),
      problems.length > 0 && h("ol.checked-problems", problems.slice(0, SHOWN).map((each) => this.#problem(each))),
      problems.length > SHOWN && h("p.quiet", `and ${problems.length - SHOWN} more`));
  }

  #problem({ line, column, message, severity, nearest }) {
    return h("li",
      line ? h("button.plain", { type: "button", onclick: () => this.editor.goto(line, column) },
        h("span.badge", { class: severity === "error" ? "bad" : "fair" }, `line ${line}`), h("bdi", cut(message, 500)))
        : h("p", text(message)),
      line && nearest && h("button.small", {
        type: "button", onclick: () => { this.editor.goto(line, column); this.editor.insert(nearest); },
      }, "Write ", h("bdi", nearest)));
  }

  #legal() {
    const { place, keys, values, examples } = this.#known;
    const where = place === null ? "an unknown place" : place === "" ? "the scenario" : place;
    const word = (value) => (typeof value === "string" && /^[\w][\w .-]*$/.test(value) ? value : JSON.stringify(value));
    const offers = [
      ...values.map((value) => ({ name: word(value), put: () => this.editor.insert(word(value)) })),
      ...keys.map(({ key, means, says, required }) => ({
        name: key, note: required ? `required; ${says}` : says, means, put: () => this.editor.insert(key, { key: true }),
      })),
      ...examples.map((value) => ({ name: word(value), note: "for example", put: () => this.editor.insert(word(value)) })),
    ];
    return h("section.card.padded.checked-legal", { "aria-label": "What may be written at the cursor", onkeydown: (event) => this.#key(event) },
      h("h2", "At the cursor"),
      h("p.quiet.mono", h("bdi", where)),
      offers.length ? h("ul", offers.slice(0, SHOWN).map((offer) => h("li", { key: offer.name },
        h("button.plain", { type: "button", onclick: offer.put }, h("code", offer.name), offer.note && h("span.quiet", offer.note),
          offer.means && h("span.checked-means", offer.means)))))
        : h("p.quiet", "Nothing is known for this place."));
  }

  #key(event) {
    const buttons = [...this.querySelectorAll(".checked-legal button")];
    const at = buttons.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") this.editor.querySelector("textarea").focus();
    else if (step) buttons[at + step]?.focus();
    else return;
    event.preventDefault();
  }
}

customElements.define("sb-checked", Checked);
