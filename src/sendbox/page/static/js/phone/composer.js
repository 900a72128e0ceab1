/** Where a person writes for a phone: an answer to a message, or a message of the phone's own. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { cut } from "../words.js";

/**
 * The form. `answered` is the entry that is answered, null where the phone writes first; `can` whether there is one to
 * answer; `turn(first)` changes between the two; `send(name, body)` carries it out and answers whether it was done.
 */
export function composer({ channels, answered, can, turn, send }) {
  return h("form.composer", {
    "aria-label": answered ? "Reply" : "Write first",
    onsubmit: async (event) => {
      event.preventDefault();
      const { body, channel, to } = event.target.elements;
      if (!body.value.trim()) return body.focus();
      const text = body.value;
      body.value = "";
      const done = answered
        ? await send("reply", { body: text, message_id: answered.message_id })
        : await send("write", { body: text, channel: channel.value, ...(to.value.trim() && { to: to.value.trim() }) });
      if (!done && !body.value) body.value = text;
      body.focus();
    },
  },
  answered
    ? h("div.about", { key: "reply" }, icon("reply"), h("span.text", h("strong", "Reply to "), h("bdi", cut(answered.body, 80))),
      h("button.plain.small", { type: "button", onclick: () => turn(true) }, "Write first"))
    : h("div.about", { key: "write" },
      h("label", { for: "composer-channel" }, "Channel"),
      h("select", { id: "composer-channel", name: "channel" }, channels.map((name) => h("option", { value: name, selected: name === "sms" }, name))),
      h("label", { for: "composer-to" }, "To"),
      h("input", { id: "composer-to", name: "to", placeholder: "Your number", autocomplete: "off", spellcheck: "false", size: 10 }),
      can && h("button.plain.small", { type: "button", onclick: () => turn(false) }, "Reply")),
  h("div.line",
    h("textarea", {
      name: "body", rows: 1, required: true, "aria-label": answered ? "Reply" : "Message", placeholder: answered ? "Reply" : "Message",
      onkeydown: (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        event.target.form.requestSubmit();
      },
    }),
    h("button.first.round", { type: "submit", title: "Send" }, icon("try"), h("span.sr", "Send"))));
}
