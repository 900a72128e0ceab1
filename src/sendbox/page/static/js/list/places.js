/** Where the rows of a list are, all of one height: which are seen, and which a person looks at. */

/** Rows beyond what is seen, above and below. */
const BEYOND = 8;

/** The first row to draw, and the one behind the last, where the list is scrolled to `top`. */
export function range(list, length, height, top = list.scrollTop) {
  const first = Math.max(0, Math.floor(top / height) - BEYOND);
  const last = Math.min(length, Math.ceil((top + list.clientHeight) / height) + BEYOND);
  return [Math.min(first, last), last];
}

/** On a touch screen nothing points at a row, and one that was tapped keeps the focus: only keys say that it is looked at. */
const TOUCH = matchMedia("(hover: none)");

/** The row under the pointer, or with the focus; null where there is none. */
export const looksAt = (list) => (TOUCH.matches
  ? list.querySelector("li:has(:focus-visible)")
  : list.querySelector("li:hover") ?? list.querySelector("li:focus-within"));

/** Where a list must be scrolled to, so that the row that a person looks at stays where it is; if it is gone, the next one. */
export function anchor(list, items, height) {
  const row = looksAt(list) ?? (list.scrollTop > 0 ? [...list.querySelectorAll("li")].find(({ offsetTop }) => offsetTop >= list.scrollTop) : null);
  for (let here = row; here; here = here.nextElementSibling) {
    const index = items.indexOf(here.key);
    if (index >= 0) return Math.max(0, index * height - (here.offsetTop - list.scrollTop));
  }
  return list.scrollTop;
}

/** Scrolls a list as little as needed to see a row whole, below what stands above the rows; -1 is none. */
export function reveal(list, index, height) {
  if (index < 0) return;
  const seen = list.clientHeight - (list.querySelector(".list-bar")?.offsetHeight ?? 0);
  const [top, end] = [index * height, (index + 1) * height];
  if (top < list.scrollTop) list.scrollTop = top;
  else if (end > list.scrollTop + seen) list.scrollTop = end - seen;
}
