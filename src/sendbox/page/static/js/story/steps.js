/** The steps of a message in order, in words, each with the reason for it. */

import { h } from "../dom.js";
import { badge } from "../parts.js";
import { since, when } from "../words.js";
import { why } from "./why.js";

/** So many steps are shown at first. */
const MOST = 200;

/** The list of steps of a story; entries that others tell are left out. */
export function steps(story) {
  const told = story.entries.filter((entry) => entry.told);
  return [
    h("ol.story-steps", told.slice(0, MOST).map((entry) => h("li", { key: entry.n },
      h("time.quiet", { datetime: entry.at, title: when(entry.at) }, since(entry.at, story.message.accepted_at)),
      h("p", line(entry)), why(entry, story)))),
    told.length > MOST && h("p.quiet", `and ${told.length - MOST} more`),
  ];
}

/** A step in a line: results as marks, everything else in the words of control. */
function line(entry) {
  if (entry.kind !== "transition") return h("bdi", entry.told.text);
  const { channel, result, info } = entry;
  return [h("span.channel", channel), " ", badge(result), info && [" ", h("bdi.quiet", info)]];
}
