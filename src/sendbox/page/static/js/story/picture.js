/**
 * The timeline of a message as a picture: a lane for each attempt, for the phone, and for webhooks, on the time of the
 * world. A column is an instant at which something happened; the longer the time to the next one, the wider it is, but
 * not in proportion, so that a second and ten minutes can both be read. Where there is little room the marks of a lane
 * stand in rows below its name, each instant with its time.
 */

import { h } from "../dom.js";
import { count, since, tone, when } from "../words.js";
import { ended, toneOf } from "./tries.js";

/** So many instants are drawn. */
const MOST = 40;
/** What phones do, in a word. */
const ACTS = { inbound: "reply", click: "click", opt_out: "opt-out" };

/** The lanes of a story: `{name, note, marks: [{at, word, tone}]}`. */
function lanesOf({ message, entries, deliveries }) {
  const attempts = message.attempts.map(({ number, channel, timeline, planned, due }) => ({
    name: channel,
    note: `attempt ${number}`,
    marks: [
      ...timeline.map(({ at, result }) => ({ at, word: result, tone: tone(result) })),
      // where a bad result made the flow move on, the result says so already
      ...fallbacks(entries).filter(({ at, attempt, why }) => attempt === number && !timeline.some((each) => each.at === at && each.result === why))
        .map(({ at, why }) => ({ at, word: why, tone: "fair" })),
      ...fallbacks(entries).filter(({ attempt }) => attempt === number - 1).filter(({ at }) => !timeline.some((each) => each.at === at))
        .map(({ at }) => ({ at, word: "begins", tone: "planned" })),
      ...planned.map((word, index) => ({ at: due[index], word, tone: "planned" })),
    ],
    falls: fallbacks(entries).filter(({ attempt }) => attempt === number && attempt < message.attempts.length).map(({ at }) => at),
  }));
  const acts = entries.filter(({ kind }) => kind in ACTS).map(({ at, kind }) => ({ at, word: ACTS[kind], tone: "way" }));
  const tries = deliveries.flatMap((delivery) => delivery.tries.map((tried, index) => ({
    at: tried.at, word: `${index ? `${index + 1} · ` : ""}${ended(tried)}`, tone: toneOf(tried),
  })));
  return [
    { name: "client", note: "accepted", marks: [{ at: message.accepted_at, word: "accepted", tone: "way" }] },
    ...attempts,
    ...(acts.length ? [{ name: "phone", note: count(acts.length, "act"), marks: acts }] : []),
    ...(tries.length ? [{ name: "webhooks", note: count(tries.length, "try", "tries"), marks: tries }] : []),
  ];
}

const fallbacks = (entries) => entries.filter(({ kind }) => kind === "fallback");

/** The picture. The list of steps says the same in words. */
export function picture(story) {
  const lanes = lanesOf(story);
  const every = [...new Set(lanes.flatMap(({ marks }) => marks.map(({ at }) => at)))].sort();
  const instants = every.slice(0, MOST);
  const start = story.message.accepted_at;
  const column = new Map(instants.map((at, index) => [at, index + 2]));
  const wide = instants.map((at, index) => {
    const gap = index + 1 < instants.length ? Date.parse(instants[index + 1]) - Date.parse(at) : 0;
    return `minmax(${(4 + 1.3 * Math.log10(1 + gap / 1000)).toFixed(1)}rem, max-content)`;
  });
  const cell = (row, place, ...content) => h("span.story-cell", {
    style: { "grid-row": String(row), "grid-column": String(place) }, "data-at": since(instants[place - 2], start),
  }, ...content);
  return h("div.story-picture.scroll", { tabindex: "0", role: "group", "aria-label": "Timeline" },
    h("div.story-grid", {
      role: "img", "aria-label": `${count(lanes.length, "lane")}, ${count(every.length, "instant")}; the steps below say the same.`,
      style: { "grid-template-columns": `max-content ${wide.join(" ")}` },
    },
    h("span.story-axis", { style: { "grid-row": "1", "grid-column": "1" } }),
    instants.map((at) => h("span.story-axis", { style: { "grid-row": "1", "grid-column": String(column.get(at)) }, title: when(at) }, since(at, start))),
    lanes.map((lane, index) => drawn(lane, index + 2, column, cell))),
    every.length > MOST && h("p.quiet", `${count(every.length - MOST, "more instant")}: see the steps.`));
}

/** A lane. Where the flow moved on, an arrow leads from the last mark of that instant to the lane of the next channel. */
function drawn({ name, note, marks, falls = [] }, row, column, cell) {
  const seen = marks.filter(({ at }) => column.has(at));
  const places = seen.map(({ at }) => column.get(at));
  const byPlace = grouped(seen, column);
  const fallen = new Set(falls.map((at) => column.get(at)));
  return [
    h("span.story-lane", { style: { "grid-row": String(row), "grid-column": "1" } }, h("strong", name), h("span.quiet", note)),
    places.length > 1 && h("span.story-rail", { style: { "grid-row": String(row), "grid-column": `${Math.min(...places)} / ${Math.max(...places)}` } }),
    [...byPlace].map(([place, here]) => cell(row, place,
      here.map(({ word, tone: style }) => h("span.story-mark", { class: style }, word)),
      fallen.has(place) && h("span.story-fall"))),
  ];
}

/** The marks of a lane by column. */
function grouped(marks, column) {
  const found = new Map();
  for (const mark of marks) {
    const place = column.get(mark.at);
    found.set(place, [...(found.get(place) ?? []), mark]);
  }
  return found;
}
