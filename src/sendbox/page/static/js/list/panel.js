/** A list with what stands above it: its title, the search, and filters. The views that have such a list share it. */

import { h } from "../dom.js";
import { searchBox } from "../parts.js";
import { go } from "../route.js";
import { CHIPS, completions, has, toggled } from "./grammar.js";

/**
 * The part of a view. `name` is that of the list, `to(fields)` the address of the view with other fields, `at(field)` a
 * field of the address; `search` is what the address says, `more` stands beside the chips, `list` is the data of `sb-list`.
 */
export function panel({ name, title, chosen, hint, to, at, more = null, list }) {
  const search = at("search") ?? "";
  const find = (text) => go(to({ search: text }), { replace: true });
  const chips = CHIPS[name];
  return h("section.list", { "aria-label": title },
    h(chosen ? "h2.title" : "h1.title", title),
    searchBox({ value: search, label: `Search ${title.toLowerCase()}`, hint, search: find, complete: (text) => completions(name, text) }),
    (chips.length > 0 || more) && h("div.list-filters", more,
      h("span.list-chips", { role: "group", "aria-label": "Filters" }, chips.map(([label, word]) => h("button.chip", {
        type: "button", key: word, title: word, "aria-pressed": String(has(search, word)), onclick: () => find(toggled(search, word)),
      }, label)))),
    h("sb-list", { data: { ...list, name, narrow: Boolean(chosen), sorting: { ...sortingOf(at), to }, sorted: isSorted(at) } }));
}

/** The fields of the address with which a list is another one. */
export const OF = ["search", "sort", "order"];

/** How a list is sorted, as the address says it: `by` null is by time. */
const sortingOf = (at) => ({ by: at("sort"), order: at("order") ?? (at("sort") === null ? "newest" : "oldest") });

/** True if others than the newest come first. */
const isSorted = (at) => at("sort") !== null || at("order") === "oldest";

/** What control is asked for: a page of a list as the address sorts and searches it. `time` is its word for the time. */
export function pageOf(at, cursor, time = null) {
  const { by, order } = sortingOf(at);
  return { search: at("search"), sort: by ?? time, order, limit: 50, form: "short", total: true, cursor };
}
