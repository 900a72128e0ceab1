/** The tries of a webhook: when each was, and what the receiver answered. */

import { h } from "../dom.js";
import { badge, json, table, text, tr } from "../parts.js";
import { since, statusTone, when } from "../words.js";

/** Whether a try has ended, and not with a success. */
export const isFailed = (tried) => tried !== undefined && (tried.error !== null || (tried.status !== null && statusTone(tried.status) !== "good"));

/** How a try ended: the status, a word for why there was none, or that it has not. */
export const ended = ({ status, error }) => String(status ?? error?.replaceAll(/[-_]/g, " ") ?? "under way");

/** The style of a try: good, bad, or still under way. */
export const toneOf = (tried) => (tried.status === null && tried.error === null ? "way" : isFailed(tried) ? "bad" : "good");

/** How a try ended as a mark. */
export const answered = (tried) => badge(ended(tried), toneOf(tried));

/** The state of a webhook as a mark; red also where it waits because the receiver failed. */
export const stateOf = (state, last) => (["waiting", "held"].includes(state) && last && isFailed(last) ? badge(state, "bad") : badge(state));

/** Headers as a table. */
export const headers = (pairs, label = "Headers") =>
  h("div", { role: "group", "aria-label": label }, h("table.story-headers",
    h("tbody", pairs.map(([name, value], index) => h("tr", { key: index }, h("th", { scope: "row" }, h("bdi", name)), h("td", text(value, 400)))))));

/** All tries in a table, and the answer to each of them, that of the last open. */
export const triesOf = (tries, made) => [
  table("Tries", ["Try", "Answer", "After", "At", "Took", "Answered by"], tries.map((tried, index) => tr([
    index + 1, answered(tried), h("td.nowrap", since(tried.at, made)), h("td.nowrap", when(tried.at)),
    tried.took ?? "", tried.rule && ["the rule ", h("bdi", tried.rule)],
  ], { key: index })), { card: false }),
  tries.map((tried, index) => tried.answer && answer(tried, index + 1, index + 1 === tries.length)),
];

function answer({ answer: { status, headers: pairs, body, whole } }, number, open) {
  return h("details.story-answer", { key: `answer ${number}`, open },
    h("summary", `Answer to try ${number} `, badge(String(status), statusTone(status))),
    headers(pairs, `Headers of the answer to try ${number}`),
    body ? json(body) : h("p.quiet", "It has no body."),
    !whole && h("p.quiet", "Only its beginning is kept, the first 4 KiB."));
}
