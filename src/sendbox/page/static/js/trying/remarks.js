/** What the sandbox remarks on a request, at the fields that it is about. */

import { h } from "../dom.js";
import { text } from "../parts.js";

export { remarksOf } from "../story/diagnosis.js";

/** Remarks that are handed out once: each field takes its own, in the order in which fields are drawn. */
export class Remarks {
  constructor(list = []) {
    this.rest = list;
  }

  /** Those on a path and what lies under it. */
  take(path) {
    const fits = (remark) => [path, `${path}.`, `${path}[`].some((start, exact) => (exact ? remark.path?.startsWith(start) : remark.path === start));
    const own = this.rest.filter(fits);
    this.rest = this.rest.filter((remark) => !fits(remark));
    return own;
  }
}

/** A list of remarks. */
export const remarks = (list, id = null) =>
  list.length > 0 && h("ul.try-remarks", { id }, list.map((remark) => h("li", { class: remark.tone }, text(remark.message, 400))));
