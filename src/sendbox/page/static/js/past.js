/**
 * Time travel: a slider over the journal of the world. The address says the place (`then=N`, the number of an entry, or
 * an instant), and all views show the world as it was there.
 */

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { address, go, place } from "./route.js";
import { store } from "./store.js";
import { View } from "./view.js";
import { cut, inWords, when } from "./words.js";

/** Milliseconds between two places while the slider moves, and while the past is played. */
const MOVES = 120;
const PLAYS = 600;
/** Entries that are read with the one that is shown, so that a webhook can say what it carried. */
const BEFORE = 8;

class Past extends View {
  static kinds = [];
  /** where the slider stands; the address follows it */
  #at = null;
  #timer = null;
  #playing = null;
  #draw = () => this.redraw();

  begin() {
    store.addEventListener("news", this.#draw);
    store.addEventListener("world", this.#draw);
  }

  end() {
    store.removeEventListener("news", this.#draw);
    store.removeEventListener("world", this.#draw);
    clearTimeout(this.#timer);
    this.#pause();
  }

  async load() {
    const then = this.field("then");
    if (then === null) return { entry: null };
    const number = /^\d+$/.test(then) ? Number(then) : null;
    const query = number === null ? { last: 1 } : { after: Math.max(-1, number - BEFORE), limit: Math.min(BEFORE, number + 1) };
    const { entries, first } = await this.world.get("journal", { ...query, form: "told" });
    const entry = entries.at(-1);
    const at = number === null ? (await this.world.get("clock")).now : entry.at;
    // a place that came from elsewhere: the back button, another view, a step
    if (this.#timer === null && then === this.field("then")) this.#at = entry.n;
    return { entry, first, at };
  }

  get #last() {
    return Math.max(store.entries - 1, this.#at ?? 0);
  }

  /** Goes to an entry: at once, or soon where more moves follow. */
  #go(number, { soon = false } = {}) {
    const at = Math.min(Math.max(number, 0), this.#last);
    if (at === this.#at) return;
    this.#at = at;
    if (!soon) {
      clearTimeout(this.#timer);
      this.#arrive();
    } else {
      this.#timer ??= setTimeout(() => this.#arrive(), MOVES);
    }
    this.redraw();
  }

  #arrive() {
    this.#timer = null;
    if (place().has("then")) go(address({ then: this.#at }), { replace: true });
  }

  #play() {
    this.#playing = setInterval(() => {
      if (this.#at >= this.#last) this.#pause();
      else this.#go(this.#at + 1);
      this.redraw();
    }, PLAYS);
    this.redraw();
  }

  #pause() {
    clearInterval(this.#playing);
    this.#playing = null;
  }

  #leave() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#pause();
    go(address({ then: null }));
  }

  problem(error) {
    return h("section.travel", { "aria-label": "Time travel" },
      h("p.travel-words", { role: "alert" }, error.message), this.#back());
  }

  #back() {
    return h("button.first", { type: "button", onclick: () => this.#leave() }, "Return to the present");
  }

  draw({ entry, first, at }) {
    if (entry === null) return [];
    const here = this.#at ?? entry.n;
    const known = here === entry.n;
    const words = known ? [entry.who && `${entry.who}: `, inWords(entry.text ?? entry.kind)].filter(Boolean).join("") : "…";
    const step = (by, name, label) => h("button.small", {
      type: "button", "aria-label": label, title: label, disabled: by < 0 ? here <= first : here >= this.#last,
      onclick: () => this.#go(here + by),
    }, icon(name));
    return h("section.travel", { "aria-label": "Time travel" },
      h("div.travel-move",
        step(-1, "back", "Back one entry"),
        h("button.small", {
          type: "button", "aria-pressed": this.#playing !== null, disabled: here >= this.#last && this.#playing === null,
          onclick: () => { if (this.#playing === null) this.#play(); else { this.#pause(); this.redraw(); } },
        }, icon(this.#playing === null ? "play" : "pause"), this.#playing === null ? "Play" : "Pause"),
        step(1, "next", "Forward one entry"),
        h("input.travel-slider", {
          type: "range", min: first, max: this.#last, step: 1, value: String(here),
          "aria-label": "Entry of the journal", "aria-valuetext": `entry ${here} of ${this.#last}: ${words}`,
          oninput: (event) => { this.#pause(); this.#go(Number(event.target.value), { soon: true }); },
        }),
        this.#back()),
      h("p.travel-words", { class: known && entry.tone === "bad" ? "bad" : null },
        h("time", { datetime: at }, known ? when(at) : "…"), " ",
        h("span.quiet", `entry ${here} of ${this.#last}`), " ",
        h("bdi", cut(words, 300))));
  }
}

customElements.define("sb-past", Past);
