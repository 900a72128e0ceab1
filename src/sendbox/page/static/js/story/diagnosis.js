/** The diagnosis of a call: its body, with findings and advice at the fields that they are about. */

import { h } from "../dom.js";
import { badge, json } from "../parts.js";
import { viewOf } from "../route.js";
import { serves } from "../served.js";
import { count } from "../words.js";
import { marked, read } from "./body.js";

/** All that was remarked about a call, if there is one; findings refuse it, advice does not. */
export const remarksOf = (entry) => [
  ...(entry?.findings ?? []).map((finding) => ({ ...finding, tone: "bad", word: "refused" })),
  ...(entry?.advice ?? []).map((advice) => ({ ...advice, tone: "fair", word: advice.code })),
];

/** What a rule rests on: a section of the specification, and an assumption where that is silent. */
export function source({ section, assumed }) {
  const named = assumed && (serves("assumptions")
    ? h("a", { href: viewOf("assumptions", { search: assumed }) }, assumed)
    : assumed);
  return h("span.story-source.quiet", section, section && assumed && " · ", assumed && ["assumption ", named]);
}

/** One remark. */
export function remark({ tone, word, message, path, placed, docs, ...rests }) {
  return h("div.story-remark", { class: tone, key: `${path} ${word} ${message}` },
    h("p", badge(word, tone), " ", h("bdi", message)),
    h("p.quiet", !placed && path && [h("code", h("bdi", path)), " · "], source(rests), docs && [" · ", h("code", docs)]));
}

/** The body of a call with its remarks. */
export function diagnosis(entry) {
  const remarks = remarksOf(entry);
  const { lines, rest } = marked(read(entry), remarks);
  return [
    rest.map((each) => remark(each)),
    lines
      ? h("div.story-body", { role: "group", "aria-label": "Body of the call" }, lines.map(line))
      : entry.body ? json(entry.body) : h("p.quiet", "The call has no body."),
  ];
}

function line({ text, remarks, left }) {
  if (left) return h("div.story-line.quiet", `… ${count(left, "more line")}`);
  const [worst] = remarks;
  return [h("div.story-line", { class: worst && `marked ${worst.tone}` }, h("bdi", text)), remarks.map((each) => remark(each))];
}
