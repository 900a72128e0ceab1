/** The clock of the world, and what moves it. The present of a `real` clock runs on between its events. */

import { dialog } from "./dialog.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { STEPS, advance, typed } from "./moving.js";
import { left, presentText, run } from "./present.js";
import { address, go } from "./route.js";
import { store } from "./store.js";
import { leaves, setStop, sideOf, walk } from "./toolbar.js";
import { View, act } from "./view.js";
import { count, span, when } from "./words.js";

/** Each mode, and what time does in it. */
const MODES = {
  manual: "Time stands still until it is moved.",
  auto: "As soon as nothing is under way, time jumps to what is due next.",
  real: "Time passes by itself, at the rate.",
};
/** What of the clock can have the focus; the first stop of Tab is the field. */
const CONTROLS = "a, button, input";
/** Keys that move the clock, with Alt. */
const KEYS = { KeyA: "advance", KeyN: "next", KeyI: "idle" };

class Clock extends View {
  static kinds = [];
  #step = "1m";
  #draw = () => this.redraw();
  #key = (event) => this.#pressed(event);
  #end = null;
  /** which of the controls is the stop of Tab */
  #stop = 2;

  begin() {
    store.addEventListener("clock", this.#draw);
    store.addEventListener("world", this.#draw);
    addEventListener("keydown", this.#key);
    this.#end = run(() => this.#tick());
  }

  end() {
    store.removeEventListener("clock", this.#draw);
    store.removeEventListener("world", this.#draw);
    removeEventListener("keydown", this.#key);
    this.#end();
  }

  #pressed(event) {
    const what = event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey && KEYS[event.code];
    if (!what || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    if (what === "advance") this.#advance();
    else advance(this.world, what === "next" ? { next: 1 } : { until: "idle" });
  }

  get #controls() {
    return [...this.querySelectorAll(CONTROLS)];
  }

  #walk(event) {
    const by = sideOf(event);
    if (!by || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.localName === "input" && !leaves(event.target, by)) return;
    event.preventDefault();
    walk(this.#controls, event.target, by);
  }

  /** The stop of Tab is where the focus is. */
  #rest(control) {
    this.#stop = this.#controls.indexOf(control);
    setStop(this.#controls, control);
  }

  /** By what stands in the field. */
  #advance() {
    return advance(this.world, typed(this.querySelector("input").value.trim() || this.#step));
  }

  /** Only the time: a redraw four times in a second would be too much. */
  #tick() {
    const now = presentText();
    const time = this.querySelector("time");
    if (!time || now === null) return;
    // a fast clock would be a flicker of milliseconds
    const text = when(`${now.slice(0, 19)}Z`);
    if (time.textContent !== text) time.firstChild.data = text;
    const due = this.querySelector(".clock-next");
    if (due) due.textContent = this.#next(now);
  }

  #next(now) {
    const { next_due: next, webhooks } = store.info.clock;
    // a step of this instant comes before webhooks
    if (webhooks && !(next && next <= now)) return `${count(webhooks, "webhook")} now`;
    if (!next) return "nothing is due";
    return `next +${span(left(next, now))}`;
  }

  draw() {
    const clock = store.info?.clock;
    if (!clock) return [];
    const now = presentText();
    const shown = clock.mode === "real" ? `${now.slice(0, 19)}Z` : now;
    const form = h("form.clock", {
      onsubmit: (event) => { event.preventDefault(); this.#advance(); }, onkeydown: (event) => this.#walk(event), onfocusin: ({ target }) => this.#rest(target),
    },
      h("time", { datetime: clock.now }, when(shown)),
      h("button.small", { type: "button", title: `${MODES[clock.mode]} Change it.`, "aria-haspopup": "dialog", onclick: () => this.#change() },
        clock.mode === "real" && clock.rate !== 1 ? `real × ${clock.rate}` : clock.mode),
      h("a.quiet.clock-next", { href: address({ view: "due" }, ["world", "play"]) }, this.#next(now)),
      h("span.clock-move",
        h("input", {
          list: "clock-steps", value: this.#step, size: 6, autocomplete: "off", spellcheck: "false",
          "aria-label": "Advance by a duration, or to an instant", title: "1m30s, or 2026-03-01 09:30",
          onfocus: (event) => event.target.select(),
        }),
        h("datalist", { id: "clock-steps" }, STEPS.map((step) => h("option", { value: step }))),
        h("button", { title: "Alt+A", "aria-keyshortcuts": "Alt+A" }, "Advance"),
        h("button", {
          type: "button", title: "To the next step that is due (Alt+N)", "aria-keyshortcuts": "Alt+N",
          onclick: () => advance(this.world, { next: 1 }),
        }, "Next"),
        h("button", {
          type: "button", title: "Until nothing is due any more (Alt+I)", "aria-keyshortcuts": "Alt+I",
          onclick: () => advance(this.world, { until: "idle" }),
        }, "Until idle"),
        h("button.plain", {
          type: "button", "aria-label": "Time travel", title: "Time travel: look at the past of this world",
          onclick: () => go(address({ then: Math.max(0, store.entries - 1) })),
        }, icon("past"))));
    const controls = [...form.querySelectorAll(CONTROLS)];
    setStop(controls, controls[this.#stop]);
    return form;
  }

  #change() {
    const { mode, rate } = store.info.clock;
    dialog("Clock", (close) => h("form", {
      onsubmit: async (event) => {
        event.preventDefault();
        const given = new FormData(event.target);
        const changed = { mode: given.get("mode"), rate: Number(given.get("rate")) };
        if (await act(() => this.world.change("clock", changed), `The clock is ${changed.mode} now.`)) close();
      },
    },
    h("fieldset.choices", h("legend.sr", "Mode"), Object.entries(MODES).map(([name, means]) =>
      h("label.choice", h("input", { type: "radio", name: "mode", value: name, checked: name === mode }),
        h("span", h("strong", name), h("span.quiet", means))))),
    h("label.field", "Rate", h("input", { name: "rate", type: "number", min: "0", step: "any", value: String(rate), required: true }),
      h("span.quiet", "Seconds of the world in one real second; it matters in the mode real.")),
    h("div.actions", h("button.first", "Set the clock"))));
  }
}

customElements.define("sb-clock", Clock);
