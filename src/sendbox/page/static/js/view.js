/**
 * The base of all views. A view is an element with two methods: `load()` asks control, `draw(data)` says what is shown.
 * It is drawn again when something of its `kinds` happens; what a person types, selects and scrolls stays.
 */

import { World } from "./api.js";
import { show, h } from "./dom.js";
import { say as tell } from "./notes.js";
import { presentText, run } from "./present.js";
import { place } from "./route.js";
import { store } from "./store.js";

export { say } from "./notes.js";

/** Errors that pass: what is shown and typed stays until the sandbox, or the world, is there again. */
const PASSING = ["unreachable", "no_such_world"];

export class View extends HTMLElement {
  /** Kinds of journal entries after which the view asks again; null: any. `clock` is a move of the clock. */
  static kinds = null;
  /** Whether it is drawn again while time passes by itself. */
  static ticks = false;

  #stop = null;
  #loading = false;
  #stale = false;
  #data;
  #listener = ({ detail }) => this.news(detail);
  #moved = () => this.reload();

  connectedCallback() {
    store.addEventListener("news", this.#listener);
    store.addEventListener("then", this.#moved);
    if (this.constructor.ticks) this.#stop = run(() => this.redraw());
    this.begin();
    this.reload();
  }

  disconnectedCallback() {
    store.removeEventListener("news", this.#listener);
    store.removeEventListener("then", this.#moved);
    this.#stop?.();
    this.end();
  }

  /** The view around this one was drawn again: what stands in this one stays, unless it is about something else. */
  take(next) {
    const other = JSON.stringify(next.data) !== JSON.stringify(this.data);
    this.data = next.data;
    if (other) this.reload();
  }

  /** Called once the view is shown, and when it goes. */
  begin() {}
  end() {}

  /** Called when other fields of the address changed. */
  moved() {
    this.reload();
  }

  /** A field of the address. */
  field(name) {
    return place().get(name);
  }

  /** Control of the world that is shown, in the present or the past. */
  get world() {
    return new World(this.field("world"), this.field("then"));
  }

  get past() {
    return place().has("then");
  }

  /** True if what is shown can only be looked at: the past, or a world that is closed. */
  get readOnly() {
    return this.past || store.closed;
  }

  /** The instant that is shown: that of the clock, which may have passed since an answer said so, or that of the past. */
  instant(answered) {
    return this.past ? answered : (presentText() ?? answered);
  }

  news(kinds) {
    if (this.past) return;
    const wanted = this.constructor.kinds;
    if (wanted === null || kinds.has("*") || wanted.some((kind) => kinds.has(kind))) this.reload();
  }

  /** Asks again; while an answer is awaited, once more after it. */
  async reload() {
    if (this.#loading) {
      this.#stale = true;
      return;
    }
    this.#loading = true;
    try {
      do {
        this.#stale = false;
        try {
          this.#data = await this.load();
          this.failed = null;
        } catch (error) {
          if (error.name === "AbortError") return;
          if (PASSING.includes(error.error) && this.#data !== undefined) return;
          this.failed = error;
        }
        if (this.isConnected) this.redraw();
      } while (this.#stale && this.isConnected);
    } finally {
      this.#loading = false;
    }
  }

  /** Draws what is known, without asking. */
  redraw() {
    if (this.failed) show(this, this.problem(this.failed));
    else if (this.#data !== undefined) show(this, this.draw(this.#data));
  }

  problem(error) {
    return h("div.card.padded.problem", { role: "alert" },
      h("h2", "This cannot be shown"),
      h("p", error.message),
      h("button", { type: "button", onclick: () => this.reload() }, "Try again"));
  }

  /** What control answers: any value; it is handed to `draw`. */
  async load() {
    return null;
  }

  draw() {
    return [];
  }
}

/** Carries out an act of a person; what control refuses is said. Returns the answer, undefined where it was refused. */
export async function act(doing, done = null) {
  try {
    const answer = await doing();
    if (done) tell(typeof done === "function" ? done(answer) : done);
    return answer;
  } catch (error) {
    tell(error.message, { bad: true });
    return undefined;
  }
}
