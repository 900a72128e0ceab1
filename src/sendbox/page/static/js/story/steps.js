/** The steps of a message in order, in words, each with the reason for it. */

import { h } from "../dom.js";
import { badge } from "../parts.js";
import { cut, inWords, since, statusTone, when } from "../words.js";
import { answered } from "./tries.js";
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

/** What a step of a kind says; the others are told in the words of control. */
const LINES = {
  transition: ({ channel, result, info }) => [channelOf(channel), " ", badge(result), info && [" ", h("bdi.quiet", info)]],
  refusal: ({ channel, message }) => [channelOf(channel), " ", badge("refused", "bad"), " ", h("bdi.quiet", reason(message))],
  fallback: ({ channel, why }) => [channelOf(channel), " is given up (", h("bdi", why), "), and the next channel begins"],
  try: (tried) => ["Webhook ", tried.number > 1 && `(try ${tried.number}) `, "→ ", answered(tried)],
  request: ({ method, path, status }) => [h("code", `${method} ${cut(path.split("?")[0], 200)}`), " → ", badge(String(status || "no answer"), statusTone(status || null))],
};

const channelOf = (channel) => h("span.channel", channel);

/** Why something was refused, without what it is about, which stands beside it. */
const reason = (message) => message.split(" rejected, ").at(-1);

/** A step in a line. */
const line = (entry) => LINES[entry.kind]?.(entry) ?? h("bdi", inWords(entry.told.text));
