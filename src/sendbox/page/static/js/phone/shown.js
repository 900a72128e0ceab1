/** What a handset shows beside a text: the header of a template, buttons, cards. Nothing is loaded from other hosts. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { copy, text } from "../parts.js";

/** A header: a text, or a drawn picture in the place of a file that is not loaded. */
export function header(given) {
  if (!given) return null;
  const { kind, ...fields } = given;
  if (kind === "text") return h("p.head", text(fields.text));
  const { name = fields.filename, link, address, ...rest } = fields;
  const others = Object.entries(rest).filter(([field]) => field !== "filename").map(([field, value]) => `${field.replaceAll("_", " ")} ${value}`);
  return h("figure.media", { class: kind },
    h("div.picture", icon(kind)),
    h("figcaption", h("span.sr", `${kind}: `), [name, link, address, others.join(", ")].filter(Boolean).map((line) => h("div", text(line, 400)))));
}

/** A mark at the end of a text that was longer: the service sends no more of it. */
export const cutOff = ({ truncated, body }) =>
  truncated && h("p.foot.cut-off", `… The service sent the first ${body.length.toLocaleString("en")} characters of the text.`);

/** The buttons under a text. Those that answer can be pressed; of the others it is shown where they lead. */
export function buttons(list, entry, on) {
  return list?.length > 0 && h("ul.buttons", { "aria-label": "Buttons" }, list.map((button) => h("li", one(button, entry, on))));
}

function one({ type, text: label, press, url, phone_number: number, code, ...rest }, entry, on) {
  if (press !== undefined) {
    return h("button", {
      type: "button", disabled: on.readOnly || !entry.acts.includes("reply"),
      onclick: () => on.act("press", { button: press, message_id: entry.message_id }, (said) => `The phone answered: ${said.body}`),
    }, icon("reply"), h("bdi", label));
  }
  if (code !== undefined) return [copy(code, label || "Copy code"), " ", h("code", text(code, 200))];
  const more = url ?? number ?? Object.values(rest).map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(" ");
  return h("span.leads", h("strong", h("bdi", label || type.toLowerCase().replaceAll("_", " "))), more && h("span.quiet", text(more, 300)));
}

/** The cards of a rich message, each with a picture, texts and buttons of its own. */
export function cards(entry, on) {
  const list = entry.cards ?? [];
  if (!list.length) return null;
  return h("ul.cards", { tabindex: list.length > 1 ? "0" : null, "aria-label": "Cards", role: "list" }, list.map((card) =>
    h("li",
      header(card.header),
      card.title && h("p.head", text(card.title)),
      card.description && h("p.words", text(card.description)),
      buttons(card.buttons, entry, on))));
}
