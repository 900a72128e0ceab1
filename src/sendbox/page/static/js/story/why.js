/** Why a step of a message was taken: the rules and checks that decided it, what it rests on, and what would change it. */

import { h } from "../dom.js";
import { badge } from "../parts.js";
import { placed } from "../report.js";
import { count } from "../words.js";
import { remark, remarksOf, source } from "./diagnosis.js";

/** The rules, the checks and the sources of one entry, as an element that can be opened. */
export function why(entry, story) {
  const attempt = attemptOf(entry, story);
  const delivery = entry.delivery && story.deliveries.find(({ id }) => id === entry.delivery);
  return h("details.story-why", { key: `why ${entry.n}` },
    h("summary", "Why?"),
    entry.kind === "request" && remarksOf(entry).map((each) => remark(each)),
    attempt && decided(attempt, entry.kind),
    delivery && ruled(delivery, entry),
    rests(entry),
    attempt && otherwise(attempt));
}

/** The attempt that an entry is about: its own, or the one whose rules said what the phone does. */
function attemptOf({ kind, attempt, message_id: id }, { explain, message }) {
  if (attempt) return explain.attempts[attempt - 1];
  if (!["inbound", "click", "opt_out"].includes(kind) || id !== message.message_id) return undefined;
  return explain.attempts.findLast(({ decided_by: rules }) => rules.length);
}

function decided({ rules, checks = [], why: refused, undecided, outage }, kind) {
  const failed = checks.filter(({ passed }) => !passed);
  const chosen = kind === "refusal" ? [] : rules.filter(({ outcome }) => outcome === "decided");
  return [
    refused && h("p", h("bdi", refused)),
    failed.length > 0 && h("ul", failed.map(({ check, why: reason }) => h("li", badge(check, "bad"), " ", h("bdi", reason)))),
    chosen.length > 0 && h("ul", chosen.map((rule) =>
      h("li", "The rule ", named(rule), rule.decides.length > 0 && ` decided ${rule.decides.join(", ")}`))),
    undecided && h("p", undecided),
    outage && h("p", h("bdi", outage)),
  ];
}

/** A rule, with the line of the scenario that it stands on. */
function named({ rule, place }) {
  return [h("strong", h("bdi", rule)), place && [" (", placed(place), ")"]];
}

/** What a rule of the scenario did to a webhook. */
function ruled({ rule, fault, tries }, { number }) {
  const answer = tries[(number ?? 0) - 1]?.rule;
  return [
    rule && h("p", "The rule ", h("strong", h("bdi", rule)), " changed this webhook: ", h("bdi", fault)),
    answer && answer !== rule && h("p", "The rule ", h("strong", h("bdi", answer)), " answered in the place of the receiver."),
  ];
}

/** The section of the specification, and the assumptions where that is silent. */
function rests({ section, assumed = [] }) {
  return [
    section && h("p.quiet", "The specification, ", section),
    assumed.length > 0 && h("ul.story-rests", assumed.map(({ id, section: silent, title, default: value }) =>
      h("li", source({ section: silent, assumed: id }), " ", title, ": ", h("span.quiet", value)))),
  ];
}

/** What would have to change for another outcome. */
function otherwise({ rules, checks = [] }) {
  const differ = rules.filter(({ outcome }) => ["differs", "not its turn"].includes(outcome));
  const late = rules.filter(({ outcome }) => outcome === "too late");
  const passed = checks.filter((check) => check.passed);
  if (!differ.length && !late.length && !passed.length) return null;
  return h("details", h("summary", "What would have changed it"),
    differ.length > 0 && [h("p.quiet", `${count(differ.length, "rule")} did not match:`), h("ul", differ.map((rule) =>
      h("li", named(rule), rule.why_not.map((reason) => h("div.story-reason", h("bdi", reason))))))],
    late.length > 0 && [h("p.quiet", `${count(late.length, "rule")} came too late: rules before them had decided all that they decide.`),
      h("ul", late.map((rule) => h("li", named(rule))))],
    passed.length > 0 && h("p.quiet", "Checks that passed, each of which could have refused it: ",
      passed.map(({ check }) => check).join(", "), "."),
    rules.some(({ seen }) => seen === "today") && h("p.quiet", "The record of the world was cut: why rules did not match is seen from today."));
}
