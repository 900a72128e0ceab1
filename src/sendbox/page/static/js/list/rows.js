/** The rows of a list that are near to what is seen. One of them is the stop of Tab. */

import { h } from "../dom.js";
import { range } from "./places.js";

/**
 * The rows as elements, where the list is scrolled to `top`; `stop` is the key of the row that had the focus last. The row
 * that has the focus is one of them wherever it is.
 */
export function rows(list, items, { row, key }, { height, top, stop }) {
  const { all, next } = items;
  const [first, last] = range(list, all.length, height, top);
  const visible = all.slice(first, last).map((item, index) => [item, first + index]);
  const tab = tabStop(visible.map(([item]) => String(key(item))), stop, Math.ceil(top / height) - first);
  const focused = items.indexOf(list.querySelector("li:focus-within")?.key);
  if (focused >= last) visible.push([all[focused], focused]);
  else if (focused >= 0 && focused < first) visible.unshift([all[focused], focused]);
  return visible.map(([item, index]) => withStop(h("li", {
    key: key(item), "aria-setsize": next === null ? all.length : -1, "aria-posinset": index + 1,
    style: { top: `${index * height}px`, height: `${height}px` },
  }, row(item)), tab));
}

/** The key of the one row that Tab leads to: that which had the focus last, else the first that is seen. */
const tabStop = (keys, stop, first) => (keys.includes(stop) ? stop : keys[Math.min(Math.max(0, first), keys.length - 1)]);

function withStop(element, tab) {
  for (const control of element.querySelectorAll("a, button")) control.setAttribute("tabindex", element.key === tab ? "0" : "-1");
  return element;
}
