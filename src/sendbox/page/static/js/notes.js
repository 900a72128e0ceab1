/** Notes: what was done or refused, in a sentence. The newest stands at the foot of the page, and of a dialog that is open; a list has them all. */

import { dialog } from "./dialog.js";
import { h, show } from "./dom.js";

/** So many are kept, and so long the newest one stands there, in milliseconds. */
const MOST = 50;
const SHOWN = { good: 8_000, bad: 20_000 };

const notes = [];
let timer = null;

/** Says something to the person, and to a reader of the screen. */
export function say(text, { bad = false } = {}) {
  // nothing behind a dialog is read out
  const parts = [document.getElementById("status"), ...[...document.querySelectorAll("dialog[open] > .dialog-status")].slice(-1)];
  notes.unshift({ text, bad });
  notes.length = Math.min(notes.length, MOST);
  for (const part of parts) part.replaceChildren(h("p.note", { class: bad && "bad" }, text));
  show(document.getElementById("notes"), h("button.plain", { type: "button", "aria-haspopup": "dialog", onclick: list }, `Notes (${notes.length})`));
  clearTimeout(timer);
  timer = setTimeout(() => parts.forEach((part) => part.replaceChildren()), bad ? SHOWN.bad : SHOWN.good);
}

/** The list, newest first. */
function list() {
  dialog("Notes", () => h("ol.notes-list", { "aria-label": "Newest first" }, notes.map(({ text, bad }) => h("li", { class: bad && "bad" }, h("bdi", text)))));
}
