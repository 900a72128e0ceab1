/** Dialogs: of the browser's own kind, so that focus stays within and Escape closes them. */

import { h, show } from "./dom.js";
import { icon } from "./icons.js";

let numbered = 0;

/**
 * Opens a dialog with a title. `draw(close)` says what it shows, as children of `h`; the answered function draws it
 * again. `closed` is called at its end.
 */
export function dialog(title, draw, closed = () => {}) {
  const id = `dialog-${numbered += 1}`;
  const back = document.activeElement;
  const body = h("div");
  const element = h("dialog", { "aria-labelledby": id },
    h("header", h("h2", { id }, title),
      h("button.plain", { type: "button", "aria-label": "Close", onclick: () => element.close() }, icon("close"))),
    body,
    h("div.dialog-status", { role: "status" }));
  const again = () => show(body, draw(() => element.close()));
  element.addEventListener("close", () => {
    element.remove();
    closed();
    (back?.isConnected ? back : document.getElementById("main")).focus();
  });
  element.addEventListener("click", (event) => {
    if (event.target === element) element.close();
  });
  document.body.append(element);
  again();
  element.showModal();
  return again;
}

/** Asks before something that cannot be taken back; answers whether the person wants it. */
export const sure = (title, text, verb) => new Promise((answer) => {
  let wanted = false;
  dialog(title, (close) => [
    h("p", text),
    h("div.actions",
      h("button.first", { type: "button", onclick: () => { wanted = true; close(); } }, verb),
      h("button", { type: "button", autofocus: true, onclick: close }, "Cancel")),
  ], () => answer(wanted));
});
