/** The present of the world between the events of its clock: where real time passes, it runs on by the rate. */

import { store } from "./store.js";
import { span } from "./words.js";

/** Milliseconds between two looks. */
const LOOK = 250;

/** Whether time passes by itself. */
const passes = () => store.info?.clock.mode === "real" && !store.closed;

const listeners = new Set();
let timer = null;
let clock = null;
let heard = 0;

/** The instant of the world now, in milliseconds; null where no world is shown. */
export function present() {
  const known = store.info?.clock;
  if (!known) return null;
  if (known !== clock) [clock, heard] = [known, performance.now()];
  const passed = passes() ? (performance.now() - heard) * known.rate : 0;
  return Date.parse(known.now) + Math.floor(passed);
}

/** The same as text, as control writes instants. */
export function presentText() {
  const now = present();
  return now === null ? null : new Date(now).toISOString();
}

/** How long it is until an instant, in milliseconds; in whole seconds where time passes by itself. */
export function left(at, now) {
  const [to, from] = [at, now].map((instant) => Date.parse(passes() ? `${instant.slice(0, 19)}Z` : instant));
  return Math.max(0, to - from);
}

/** The same in words: `in 3s`, or `now`. */
export function until(at, now) {
  const rest = left(at, now);
  return rest ? `in ${span(rest)}` : "now";
}

/** Calls `listener` while time passes by itself, all listeners at the same moments, until the answered function is called. */
export function run(listener) {
  timer ??= setInterval(() => {
    if (passes()) for (const each of listeners) each();
  }, LOOK);
  listeners.add(listener);
  return () => listeners.delete(listener);
}
