/** A list of short values: numbers, words, names. Where it can be changed, each can be taken away and others added. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { cut, time } from "../words.js";

/** So many are shown. */
const SHOWN = 40;

/**
 * `add(value)` and `remove(value)` carry a change out and answer undefined where it was refused; without them it is only
 * shown. `waiting` are entries that are not in force yet, `more` stands below.
 */
export function chips({ title, items, noun = "entry", add = null, remove = null, waiting = [], more = null }) {
  const since = new Map(waiting.map((entry) => [entry.phone, entry.in_force]));
  return h("section.card.padded.chips",
    h("h3", title, " ", h("span.quiet", items.length.toLocaleString("en"))),
    items.length ? h("ul", items.slice(-SHOWN).reverse().map((item) => h("li", { key: item },
      h("bdi", cut(String(item), 200)),
      since.has(item) && h("span.quiet", ` from ${time(since.get(item))}`),
      remove && h("button.plain", { type: "button", "aria-label": `Take ${item} off: ${title}`, onclick: () => remove(item) }, icon("close")))))
      : h("p.quiet", "Empty."),
    items.length > SHOWN && h("p.quiet", `and ${(items.length - SHOWN).toLocaleString("en")} more`),
    more && h("p", more),
    add && h("form.actions", {
      onsubmit: async (event) => {
        event.preventDefault();
        const field = event.target.elements.value;
        if (field.value.trim() && await add(field.value.trim())) field.value = "";
      },
    },
    h("input", { name: "value", required: true, placeholder: noun, "aria-label": `Add to: ${title}`, autocomplete: "off", maxlength: "1000" }),
    h("button", "Add")));
}
