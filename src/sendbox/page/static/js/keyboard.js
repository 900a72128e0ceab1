/** The keys of the page: to search, through the rows of a list, into what is opened and back. */

import { dialog } from "./dialog.js";
import { h } from "./dom.js";
import { go } from "./route.js";

const HELP = [
  ["/", "search"], ["j, ↓", "the next row"], ["k, ↑", "the row before"], ["Home, End", "the first and the last row"],
  ["Enter", "open the row, and go into what it opens"], ["Esc", "back to the list"],
  ["← →", "from part to part of the clock, and of the heads of columns"], ["Shift+← →", "on the head of a column: its width"],
  ["Alt+A, Alt+N, Alt+I", "advance the clock; to the next step; until idle"], ["?", "these keys"],
];
/** The fields of the address that say what is opened. */
const NOTHING = { phone: null, message: null, delivery: null, hook: null, request: null };
const BY = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };

const list = () => document.querySelector("main sb-list");
const detail = () => document.querySelector("main .split.chosen > .detail");
const isField = (element) => Boolean(element.closest?.("input, textarea, select"));

/** Listens to the keys of the page. */
export function listen() {
  addEventListener("keydown", pressed);
  addEventListener("click", opened);
}

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const does = event.key === "Escape" ? back(event.target) : isField(event.target) ? null : move(event);
  if (!does) return;
  event.preventDefault();
  does();
}

/** What a key does; null: nothing. The arrows, Home and End scroll the page, but not where a row has the focus. */
function move({ key, target }) {
  const search = document.querySelector("main input[type=search]");
  if (key === "/") return search && (() => search.focus());
  if (key === "?") return help;
  const within = key === "j" || key === "k" || target.closest?.("sb-list li");
  return BY[key] && within && list() ? () => list().step(BY[key]) : null;
}

/** What Escape does: out of a field, then out of what was opened. A search that has a text is emptied first. */
function back(target) {
  if (target.type === "search") return target.value === "" && list() ? () => list().enter() : null;
  if (isField(target)) return () => (target.closest(".detail") ?? document.getElementById("main")).focus();
  return detail() && list() ? close : null;
}

/** Back to the list, also from what is not there yet. */
function close() {
  // the list says which row gets the focus
  document.activeElement.blur();
  go(list().data.sorting.to(NOTHING));
  list().enter();
}

/** A row that was opened by a key gives the focus to what it opened. */
function opened({ detail: pointed, target }) {
  if (pointed === 0 && target.closest?.("sb-list li a")) requestAnimationFrame(() => detail()?.focus({ preventScroll: true }));
}

function help() {
  dialog("Keys", () => h("dl.keys", HELP.map(([keys, does]) => h("div", h("dt", keys), h("dd", does)))));
}
