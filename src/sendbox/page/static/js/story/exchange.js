/** A call of the client, whole: what it asked, with the diagnosis in place, what was answered, and the same as code. */

import { h } from "../dom.js";
import { badge, copy, json, text } from "../parts.js";
import { viewOf } from "../route.js";
import { serves } from "../served.js";
import { count, cut, statusTone, when } from "../words.js";
import { diagnosis, remarksOf } from "./diagnosis.js";

/** What a call can be copied as, by the word of control. */
const FORMS = { curl: "curl", python: "Python", node: "Node", pytest: "pytest", scenario: "Scenario" };

/** How a call was answered, as a mark. */
export const answered = ({ status }) => badge(status ? String(status) : "no answer", statusTone(status || null));

/** How many remarks a call has, in the short form, as marks. */
export const remarked = ({ findings, advice }) =>
  [findings > 0 && badge(count(findings, "finding"), "bad"), advice > 0 && badge(`${advice} advice`, "fair")];

/**
 * A call: `entry` is its entry of the journal, `world` its world; `messages` are those that it made, the first at least;
 * `level` is that of its headings.
 */
export function exchange(entry, world, { messages = [], more = false, level = "h3" } = {}) {
  const heading = (name) => h(level, name);
  return [
    h("p.story-call", h("code", h("strong", entry.method), " ", h("bdi", cut(entry.path, 400))), " ", answered(entry),
      h("span.quiet", ` ${when(entry.at)} · entry ${entry.n}`)),
    entry.fault && h("p", badge("fault", "bad"), " ", text(JSON.stringify(entry.fault)),
      !entry.processed && h("span.quiet", " The call had no effect.")),
    serves("export_request") && h("div.actions", { role: "group", "aria-label": "Copy this call" }, h("span.quiet", "Copy as"),
      Object.entries(FORMS).map(([as, name]) =>
        copy(async () => (await world.get(["requests", String(entry.n), "export"], { as })).text, name))),
    heading(remarksOf(entry).length ? "Asked, with what was remarked" : "Asked"),
    diagnosis(entry),
    heading("Answered"),
    entry.answer ? json(entry.answer) : h("p.quiet", entry.status ? "The answer has no body." : "No answer reached the client."),
    messages.length > 0 && [heading("Its messages"), h("ul.story-links",
      messages.map(({ message_id: id, phone, result }) => h("li",
        h("a", { href: viewOf("messages", { message: id }) }, h("bdi", phone)), " ", badge(result)))),
    more && h("p.quiet", "and more")],
  ];
}
