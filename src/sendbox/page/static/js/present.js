/** The present of the world between the events of its clock: where real time passes, it runs on by the rate. */

import { store } from "./store.js";

/** Milliseconds between two looks. */
const LOOK = 250;

/** Whether time passes by itself. */
const passes = () => store.info?.clock.mode === "real" && !store.closed;

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

/** Calls `listener` while time passes by itself, until the answered function is called. */
export function run(listener) {
  const timer = setInterval(() => {
    if (passes()) listener();
  }, LOOK);
  return () => clearInterval(timer);
}
