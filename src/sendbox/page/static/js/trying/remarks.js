/** What the sandbox remarks on a request, at the fields that it is about. */

import { h } from "../dom.js";
import { text } from "../parts.js";

/** The findings and the advice of an entry of the journal, each with its `tone`. */
export const remarksOf = (entry) => [
  ...(entry?.findings ?? []).map((finding) => ({ ...finding, tone: "bad" })),
  ...(entry?.advice ?? []).map((advice) => ({ ...advice, tone: "fair" })),
];

/** Sorts remarks to fields: each goes to the field with the longest path that begins its own, others to "". */
export function sorted(remarks, paths) {
  const places = new Map();
  for (const remark of remarks) {
    const fitting = paths.filter((path) => remark.path === path || [".", "["].some((mark) => remark.path?.startsWith(path + mark)));
    const place = fitting.sort((one, other) => other.length - one.length)[0] ?? "";
    places.set(place, [...(places.get(place) ?? []), remark]);
  }
  return places;
}

/** The remarks of one field. */
export const remarks = (list, id = null) =>
  list?.length > 0 && h("ul.try-remarks", { id }, list.map((remark) => h("li", { class: remark.tone }, text(remark.message, 400))));
