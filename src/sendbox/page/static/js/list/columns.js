/** The columns of a list on a wide page: their heads by which it is sorted, and their widths, which a person can change. */

import { h } from "../dom.js";
import { sideOf, walk } from "../toolbar.js";

/** From this width of the page on a list has columns. */
export const WIDE = matchMedia("(min-width: 1000px)");
const LEAST = 48;
const STEP = 16;

const storageKey = (list) => `sendbox-columns-${list}`;

/** The widths of the columns of a list: pixels by number, as a person set them. */
function read(list) {
  try {
    return JSON.parse(localStorage.getItem(storageKey(list))) ?? {};
  } catch {
    return {};
  }
}

function write(list, widths) {
  try {
    localStorage.setItem(storageKey(list), JSON.stringify(widths));
  } catch { /* a browser that keeps nothing */ }
}

/** Says the widths to the style of a list; where there is less room, columns are narrower, and all of them are seen. */
export function spread(element, { name, columns }) {
  const widths = read(name);
  element.style.setProperty("--columns", columns.map(({ width }, number) => (widths[number] ? `minmax(${LEAST}px, ${widths[number]}px)` : width)).join(" "));
}

/** Makes a column wider or narrower, from the width that it has. */
function widen(element, data, number, change) {
  const head = element.querySelectorAll(".list-column")[number];
  const width = Math.max(LEAST, Math.round(head.getBoundingClientRect().width + change));
  write(data.name, { ...read(data.name), [number]: width });
  spread(element, data);
}

/**
 * The heads. One of them is a stop of Tab: the arrows lead to the others, and with Shift they change the width.
 * `sorting` is `{by, order, to(fields)}`; a column without `sort` is not sorted by, and null is the time.
 */
export function heads(element, data) {
  return h("div.list-heads", { role: "group", "aria-label": "Columns" }, data.columns.map((column, number) =>
    h("span.list-column", { key: number }, title(data, column, number, (event) => pressed(event, element, data, number)),
      number < data.columns.length - 1 && h("span.list-grip", { "aria-hidden": "true", onpointerdown: (event) => drag(event, element, data, number) }))));
}

function title({ sorting: { by, order, to } }, { title: text, sort }, number, onkeydown) {
  const attributes = { onkeydown, tabindex: number === 0 ? "0" : "-1" };
  if (sort === undefined) return h("span", text);
  const sorted = by === sort;
  const falls = order === "newest";
  const next = sorted ? (falls ? "oldest" : "newest") : sort === null ? "newest" : "oldest";
  return h("a.list-head", { ...attributes, href: to({ sort, order: next }), title: `Sort by ${text.toLowerCase()}` }, text,
    sorted && [h("span", { "aria-hidden": "true" }, falls ? " ↓" : " ↑"), h("span.sr", falls ? ", falling" : ", rising")]);
}

function pressed(event, element, data, number) {
  const by = sideOf(event);
  if (!by) return;
  event.preventDefault();
  if (event.shiftKey) widen(element, data, number, by * STEP);
  else walk([...element.querySelectorAll(".list-head")], event.target, by);
}

function drag(event, element, data, number) {
  event.preventDefault();
  const grip = event.target;
  let { clientX: last } = event;
  grip.setPointerCapture(event.pointerId);
  grip.onpointermove = ({ clientX }) => {
    widen(element, data, number, clientX - last);
    last = clientX;
  };
  grip.onpointerup = () => { grip.onpointermove = null; };
}
