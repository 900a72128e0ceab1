/** Rules of a scenario: how often each decided something, as a table and as marks of lines. */

import { h } from "../dom.js";
import { table as tableOf, text, tr } from "../parts.js";
import { viewOf } from "../route.js";
import { count } from "../words.js";

/** So many rules of one origin are shown. */
const SHOWN = 200;
const OWN = ["scenario", "control"];

/** Marks of the lines of the text: `3×`, and pale where a rule decided nothing. */
export function marks(rules) {
  const fired = new Map();
  for (const rule of rules) if (rule.line !== null && rule.of === "scenario") fired.set(rule.line, (fired.get(rule.line) ?? 0) + rule.fired);
  return new Map([...fired].map(([line, number]) => [line, {
    note: `${number}×`, tone: number ? "fired" : "never", title: number ? `decided ${count(number, "time")}` : "never decided anything",
  }]));
}

/** The rules in the order in which they are tried: first those of the scenario itself and of control. */
export function table(rules, { remove = null } = {}) {
  const own = rules.filter((rule) => OWN.includes(rule.of));
  const others = new Map();
  for (const rule of rules) if (!OWN.includes(rule.of)) others.set(rule.of, [...(others.get(rule.of) ?? []), rule]);
  return [
    own.length ? rows("Rules of this scenario", own, remove) : h("p.card.empty", "This scenario has no rules of its own."),
    [...others].map(([of, list]) => h("details.scenario-others", { key: of },
      h("summary", "Rules of ", h("bdi", of), ` (${list.length}), ${count(list.filter((rule) => rule.fired).length, "used", "used")}`),
      rows(`Rules of ${of}`, list, null))),
  ];
}

function rows(label, rules, remove) {
  return [
    tableOf(label, ["Decided", "Rule", "List", "Written at"], rules.slice(0, SHOWN).map((rule) => tr([
      h("td.nowrap", rule.fired ? count(rule.fired, "time") : "never"), text(rule.rule), rule.in, place(rule, remove),
    ], { class: rule.fired ? "fired" : "never" }))),
    rules.length > SHOWN && h("p.quiet", `and ${count(rules.length - SHOWN, "more", "more")}`),
  ];
}

function place(rule, remove) {
  if (rule.of === "control") {
    return ["put by control ", remove && h("button.small", { type: "button", onclick: () => remove(rule.id) }, "Remove")];
  }
  if (rule.line !== null) return h("a", { href: viewOf("scenario", { line: rule.line }) }, `line ${rule.line}`);
  return h("bdi.mono", (rule.place ?? "").split("/").at(-1));
}
