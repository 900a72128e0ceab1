/** The player: carries the scenario of the world out, step by step, and says what each step did. */

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { begins } from "./playing.js";
import { address, go, viewOf } from "./route.js";
import { store } from "./store.js";
import { View } from "./view.js";
import { badge } from "./parts.js";
import { count, when } from "./words.js";

/** Milliseconds between two steps, by speed. */
const PAUSES = { slow: 1500, normal: 700, fast: 200 };

class Player extends View {
  static kinds = [];
  #world = null;
  #speed = "normal";
  #timer = null;
  #running = false;
  #busy = false;
  #last = null;
  #answer = null;
  #verdict = null;
  #problem = null;

  begin() {
    this.#world = this.field("world");
    if (begins(this.#world)) this.#run();
  }

  end() {
    this.#stop();
  }

  #run() {
    this.#running = true;
    this.#problem = null;
    this.#later(0);
    this.redraw();
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#running = false;
  }

  #later(pause) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#step(), pause);
  }

  async #step() {
    if (this.#busy) return;
    if (this.readOnly) return this.#stop();
    this.#busy = true;
    const { world } = this;
    try {
      this.#answer = await world.post("play", { steps: 1 });
      this.#last = this.#answer.did.at(-1) ?? this.#last;
      if (this.#answer.done) {
        this.#stop();
        this.#verdict = await world.get("verdict", { ended: true });
        store.refresh();
      }
    } catch (error) {
      this.#problem = error;
      this.#stop();
    }
    this.#busy = false;
    if (!this.isConnected) return;
    if (this.#running) this.#later(PAUSES[this.#speed]);
    this.redraw();
  }

  /** What a step did, in words. */
  #words() {
    if (this.#problem) return this.#problem.message;
    const did = this.#last;
    if (!did) return "Ready to play the scenario of this world.";
    if (this.#answer.done) return `The story has ended, at ${when(this.#answer.clock.now)}.`;
    if (did.step === "moved") return `The clock moved to ${when(did.at)}.`;
    const name = did.name ? ` “${did.name}”` : "";
    return `${did.operation}${name} sent: ${did.status ?? did.error}.`;
  }

  draw() {
    const done = this.#answer?.done;
    const left = this.#answer && !done && h("span.quiet", this.#answer.left ? `${count(this.#answer.left, "request")} to come` : "the clock runs out");
    return h("section.player", { "aria-label": "Player" },
      h("div.player-buttons",
        this.#running
          ? h("button.small", { type: "button", key: "pause", onclick: () => { this.#stop(); this.redraw(); } }, icon("pause"), "Pause")
          : h("button.small.first", { type: "button", key: "play", disabled: done, onclick: () => this.#run() }, icon("play"), "Play"),
        h("button.small", { type: "button", disabled: done || this.#running, onclick: () => this.#step() }, icon("next"), "One step"),
        h("select", { "aria-label": "Speed", onchange: (event) => { this.#speed = event.target.value; } },
          Object.keys(PAUSES).map((speed) => h("option", { value: speed, selected: speed === this.#speed }, speed)))),
      h("p.player-words", { "aria-live": "polite", class: this.#problem ? "bad" : null }, h("bdi", this.#words()), " ", left),
      this.#verdict && this.#judged(),
      h("button.plain.player-end", { type: "button", "aria-label": "Close the player", onclick: () => go(address({ play: null })) }, icon("close")));
  }

  #judged() {
    const { state, expectations } = this.#verdict;
    return h("p.player-verdict", expectations.length
      ? [h("a", { href: viewOf("verdict") }, "Verdict"), " ", badge(state)]
      : h("span.quiet", "It expects nothing."));
  }

  async load() {
    return true;
  }
}

customElements.define("sb-player", Player);
