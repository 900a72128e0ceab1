/** What moves the clock of a world, and says how far it came. */

import { act } from "./view.js";
import { count, span, when } from "./words.js";

/** Steps that are offered. */
export const STEPS = ["1s", "10s", "1m", "10m", "1h", "1d"];

const DAY = /^\d{4}-\d\d-\d\d/;

/** Advances the clock: `{by}`, `{to}`, `{next}` or `{until}`, as control takes it. */
export const advance = (world, how) => act(() => world.post("clock/advance", how), said);

/** What a person typed: a duration, with blanks as the page writes it, or an instant in the world's time (`2026-03-01 09:30` is UTC). */
export const typed = (text) => (DAY.test(text) ? { to: instant(text) } : { by: text.replaceAll(" ", "") });

/** The instant that a person typed, as control takes it; what is none stays. */
export function instant(text) {
  if (!DAY.test(text)) return text;
  const [, day, time = "00:00:00", zone = "Z"] = /^(.{10})[T ]?([\d:.]+)?(.*)$/.exec(text);
  return `${day}T${time.length === 5 ? `${time}:00` : time}${zone.trim() || "Z"}`;
}

function said(moved) {
  const far = span(Date.parse(moved.to) - Date.parse(moved.from));
  const tries = moved.entries.filter(({ kind }) => kind === "try").length;
  const done = [
    moved.fired && count(moved.fired, "step"),
    moved.deliveries ? count(moved.deliveries, "webhook") : tries && count(tries, "try of a webhook", "tries of webhooks"),
  ];
  const failed = moved.failed ? `, ${moved.failed} not delivered` : "";
  const what = done.filter(Boolean).join(", ") || "nothing was due";
  return `${far} passed, to ${when(moved.to)}: ${what}${failed}${moved.idle ? "; nothing more is due" : ""}.`;
}
