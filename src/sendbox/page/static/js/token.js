/** The token of this tab, for a sandbox that asks for one. It is kept for the session of the tab, and sent by scripts only. */

import { dialog } from "./dialog.js";
import { h } from "./dom.js";

const NAME = "sendbox-token";
let asked = false;
let token = null;
try {
  token = sessionStorage.getItem(NAME);
} catch { /* a browser that keeps nothing */ }

/** The token that is kept; null: there is none. */
export const kept = () => token;

/** The header of a call with a token; none without one. */
export const authorization = (secret = token) => (secret ? { authorization: `Bearer ${secret}` } : {});

/** Asks a person for the token, once. With it the page begins anew. */
export function ask() {
  if (asked) return;
  asked = true;
  dialog("This sandbox asks for a token", () => h("form", {
    onsubmit: (event) => {
      event.preventDefault();
      const secret = event.target.elements.token.value.trim();
      if (!secret) return;
      sessionStorage.setItem(NAME, secret);
      location.reload();
    },
  },
  h("p", token ? "The token of this tab is none of this sandbox." : "It is kept until this tab is closed."),
  h("label", "Token ", h("input", { type: "password", name: "token", autocomplete: "off", spellcheck: "false", autofocus: true })),
  h("div.actions", h("button.first", { type: "submit" }, "Go on"))), () => { asked = false; });
}
