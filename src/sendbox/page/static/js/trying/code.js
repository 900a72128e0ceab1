/** A code of the Verify interface, asked for and checked as a client does it. */

import { h } from "../dom.js";
import { badge, json } from "../parts.js";
import { viewOf } from "../route.js";
import { statusTone } from "../words.js";
import { field } from "./fields.js";
import { Remarks, remarks } from "./remarks.js";

/**
 * The two forms: the second appears once a code was asked for. `state` is `{number, code, asked, checked}`; `asked` and
 * `checked` are answers with their remarks; `on` has `change(changes)`, `ask()`, `check()`.
 */
export function codeForms(state, disabled, on) {
  const { asked, checked } = state;
  const [ofAsked, ofChecked] = [asked, checked].map((answer) => new Remarks(answer?.remarks));
  const submit = (doing) => (event) => {
    event.preventDefault();
    doing();
  };
  return h("section.card.padded.after", { "aria-labelledby": "try-verify" },
    h("h2", { id: "try-verify" }, "Verify a phone"),
    h("form", { onsubmit: submit(on.ask) },
      field("Phone", "$.phoneNumber", ofAsked, h("input", {
        name: "phoneNumber", value: state.number, inputmode: "tel", autocomplete: "off", required: true, oninput: (event) => on.change({ number: event.target.value }),
      })),
      h("button", { type: "submit", disabled }, "Send a code")),
    asked && h("div.try-asked", { "aria-live": "polite" },
      h("p", badge(String(asked.status), statusTone(asked.status)), " ",
        asked.status < 300
          ? ["The code is on its way: ", h("a", { href: viewOf("phones", { phone: asked.number }) }, "look at the phone")]
          : asked.json?.message),
      remarks(ofAsked.rest),
      asked.json?.token && h("form", { onsubmit: submit(on.check) },
        field("The code that the user enters", "$.code", ofChecked, h("input", {
          name: "code", value: state.code, inputmode: "numeric", autocomplete: "off", required: true, oninput: (event) => on.change({ code: event.target.value }),
        })),
        h("button", { type: "submit", disabled }, "Check the code")),
      checked && [h("p", badge(String(checked.status), statusTone(checked.status)), " ", checked.json?.message ?? checked.json?.status),
        remarks(ofChecked.rest),
        h("details", h("summary", "The answer"), json(checked.text))]));
}
