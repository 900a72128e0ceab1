/** What stands above the rows of a list: how many there are and how many wait, the pause, the order, and the columns. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { place } from "../route.js";
import { count } from "../words.js";

/** `items` are those of the list, `data` is its own; `on` has what its buttons do: `catchUp(event)` and `pause()`. */
export function bar({ waiting, moved, total }, { noun, sorting }, { paused, catchUp, pause }, heads) {
  const late = waiting > 0 ? `${waiting.toLocaleString("en")} new` : moved && "Sort again";
  if (!noun && !late) return null;
  return h("div.list-bar",
    h("div.list-tools",
      h("span.quiet.list-total", total !== null && noun && count(total, ...noun)),
      late && h("button.first.small.list-new", { type: "button", onclick: catchUp }, late),
      noun && !place().has("then") && h("button.plain.small", {
        type: "button", "aria-pressed": String(paused), title: "New rows are counted, and nothing changes", onclick: pause,
      }, icon(paused ? "play" : "pause"), "Pause"),
      noun && turn(sorting)),
    heads);
}

/** The way to the oldest, and back. */
function turn({ by, order, to }) {
  const isOldest = by === null && order === "oldest";
  return h("a.plain.small", { href: to({ sort: null, order: isOldest ? null : "oldest" }) }, isOldest ? "Newest first" : "Oldest first");
}
