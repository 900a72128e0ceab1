/** The conversation of a handset: what arrived, what its owner wrote, and what is not on it (yet), in time order. */

import { h } from "../dom.js";
import { bubble } from "./bubble.js";

const DAY = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** The entries of a phone, oldest first, the newest `most` of them. */
export function entriesOf(phone, most) {
  const there = phone.conversation.map((entry) => ({ ...entry, arrived: true }));
  const missing = phone.not_arrived.map((entry) => ({ ...entry, arrived: false }));
  const entries = [...there, ...missing].sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0)).slice(-most);
  const seen = new Map();
  let from = null;
  for (const entry of entries) {
    const name = `${entry.direction} ${entry.message_id} ${entry.attempt ?? entry.at}`;
    seen.set(name, (seen.get(name) ?? 0) + 1);
    entry.key = `${name} ${seen.get(name)}`;
    entry.acts ??= [];
    const whose = entry.direction === "out" ? null : `${entry.from} ${entry.channel}`;
    if (whose !== null && whose !== from) entry.named = entry.from;
    from = whose;
  }
  return entries;
}

/** The bubbles, with a line before each day. */
export function bubbles(entries, on) {
  let day = null;
  return entries.flatMap((entry) => {
    const here = entry.at.slice(0, 10);
    const items = here === day ? [] : [h("li.day", { key: `day ${here}` }, h("time", { datetime: here }, DAY.format(Date.parse(entry.at))))];
    day = here;
    return [...items, bubble(entry, on)];
  });
}
