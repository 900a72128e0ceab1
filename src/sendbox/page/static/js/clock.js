/** The clock of the world, and what moves it. */

import { h } from "./dom.js";
import { View, act } from "./view.js";
import { store } from "./store.js";
import { count, since, when } from "./words.js";

const STEPS = ["1s", "10s", "1m", "10m", "1h", "1d"];

class Clock extends View {
  static kinds = [];
  #step = "1m";
  #draw = () => this.redraw();

  begin() {
    store.addEventListener("clock", this.#draw);
    store.addEventListener("world", this.#draw);
  }

  end() {
    store.removeEventListener("clock", this.#draw);
    store.removeEventListener("world", this.#draw);
  }

  #advance(body) {
    return act(() => this.world.post("clock/advance", body), (moved) =>
      `The clock moved by ${since(moved.to, moved.from).slice(1)}: ${count(moved.fired, "step")}, ${count(moved.deliveries, "webhook")}.`);
  }

  draw() {
    const clock = store.info?.clock;
    if (!clock) return [];
    return h("div.clock", { role: "group", "aria-label": "Clock" },
      h("time", { datetime: clock.now }, when(clock.now)),
      h("span.quiet", clock.next_due ? `next ${since(clock.next_due, clock.now)}` : "idle"),
      h("select", { "aria-label": "Step", onchange: (event) => { this.#step = event.target.value; } },
        STEPS.map((step) => h("option", { value: step, selected: step === this.#step }, step))),
      h("button", { type: "button", onclick: () => this.#advance({ by: this.#step }) }, "Advance"),
      h("button", { type: "button", onclick: () => this.#advance({ next: 1 }) }, "Next"),
      h("button", { type: "button", onclick: () => this.#advance({ until: "idle" }) }, "Until idle"));
  }
}

customElements.define("sb-clock", Clock);
