/** What became of a request that a person sent: the answer, its messages, and the same request as a client writes it. */

import { h } from "../dom.js";
import { badge, copy, json, text } from "../parts.js";
import { viewOf } from "../route.js";
import { count, cut, statusTone } from "../words.js";
import { remarks } from "./remarks.js";

/** The languages of a request as text, by their names in control. */
const LANGUAGES = { curl: "curl", python: "Python", node: "Node" };

/**
 * The answer. `tried` is `{status, text, json, entry}`, `rest` what was remarked on no field, `messages` those that it
 * made, `code` the request as text in the `language`; `on` has what can be done: `choose(language)`, `move()`.
 */
export function answer({ tried, rest, messages, code, language, waits }, on) {
  const { status, entry } = tried;
  const rejected = tried.json?.rejected?.length ?? 0;
  return [
    h("div.line",
      h("h2", { tabindex: "-1", id: "try-answer" }, status >= 300 ? "Refused" : messages.length ? "Accepted" : "Nothing was accepted"),
      badge(String(status), statusTone(status)),
      entry !== null && h("a", { href: viewOf("requests", { request: entry }) }, "The request")),
    remarks(rest),
    rejected > 0 && h("p", `${count(rejected, "phone")} rejected.`),
    messages.length > 0 && h("ul.try-sent", { "aria-label": "Messages" }, messages.map(sent)),
    waits && h("div.try-waits",
      h("p", "The clock of this world stands still: what follows happens when it is moved."),
      h("button.first", { type: "button", onclick: on.move }, "Let it arrive")),
    h("details", { open: status >= 300 || rejected > 0 }, h("summary", "The answer"), json(tried.text || "no content")),
    code !== null && h("section", { "aria-label": "The request as a client writes it" },
      h("div.try-languages", { role: "group", "aria-label": "Language" },
        Object.entries(LANGUAGES).map(([name, title]) =>
          h("button.small", { type: "button", "aria-pressed": String(name === language), onclick: () => on.choose(name) }, title)),
        h("span.end", copy(code))),
      h("pre.try-code", { tabindex: "0", role: "group", "aria-label": LANGUAGES[language] }, cut(code, 20_000))),
  ];
}

const sent = ({ message_id: id, phone, result, body }) =>
  h("li",
    h("a.try-phone", { href: viewOf("phones", { phone }) }, h("strong", h("bdi", phone)), h("span.text", h("bdi", cut(body, 60)))),
    badge(result),
    h("a", { href: viewOf("messages", { message: id }) }, "Timeline", h("span.sr", ` of the message to ${phone}`)));

/** What will be sent, before it is. */
export const preview = (body) => [
  h("h2", "What will be sent"),
  h("p.quiet", typeof body === "string" ? "A message, as it is written" : `A message to ${count(body.to.length, "phone")}`),
  json(body),
];

/** The magic numbers, each with what happens to a message to it; `use(number)` takes one. */
export const numbers = (list, use) =>
  h("details.try-numbers", { open: true },
    h("summary", "Numbers and what happens to a message to them"),
    h("p.quiet", "The four digits in the middle are free. Any other number is delivered, unless the scenario says otherwise."),
    h("ul", list.map(({ example, ends, meaning }) =>
      h("li", h("button.plain", { type: "button", onclick: () => use(example) },
        h("span.mono", example.slice(0, -ends.length), h("strong", ends)), " ", h("span", text(meaning)))))));
