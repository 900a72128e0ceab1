/** The views of a world, in their groups. On a narrow page the first group is a bar, and the others are behind *More*. */

import { counts } from "./counts.js";
import { dialog } from "./dialog.js";
import { h, show } from "./dom.js";
import { icon } from "./icons.js";
import { place, viewOf } from "./route.js";
import { lists, serves } from "./served.js";
import { count } from "./words.js";

/** Name, title, and the operation of control without which there is no such view. Each is a module `views/NAME.js` that defines `sb-NAME`. */
const ALL = [
  ["Watch", [
    ["phones", "Phones", "phones"], ["messages", "Messages", "messages"], ["webhooks", "Webhooks", "deliveries"],
    ["requests", "Requests", "requests"], ["due", "Due next", "pending"],
  ]],
  ["Services", [["verify", "Verify", "codes"], ["partner", "Partner", "partner"], ["account", "Account", "account"]]],
  ["Lists", lists.map(({ name, title }) => [name, title, null])],
  ["Story", [["try", "Try it", "messages"], ["scenario", "Scenario", "world"], ["library", "Library", "scenarios"], ["compare", "Compare", "compare"]]],
  ["Report", [["verdict", "Verdict", "verdict"], ["coverage", "Coverage", "coverage"], ["assumptions", "Assumptions", "assumptions"]]],
];
const GROUPS = ALL.map(([title, views]) => [title, views.filter(([, , needs]) => needs === null || serves(needs))])
  .filter(([, views]) => views.length);
const [FIRST, ...OTHERS] = GROUPS;
/** The titles of the views by their names. */
export const TITLES = new Map(GROUPS.flatMap(([, views]) => views.map(([name, title]) => [name, title])));
/** The view that is shown where the address names none. */
export const [START] = TITLES.keys();

const nav = document.getElementById("views");

/** Shows the views, with the present one; null: no world is shown. */
export function drawViews(present) {
  const here = place().get("world");
  document.body.classList.toggle("open", here !== null);
  nav.hidden = here === null;
  if (here === null) return;
  const isOther = OTHERS.some(([, views]) => views.some(([name]) => name === present));
  show(nav,
    group(FIRST, present),
    h("button.plain.views-more", { type: "button", "aria-haspopup": "dialog", "aria-current": isOther ? "page" : null, onclick: () => more(present) },
      icon("more"), h("span", isOther ? TITLES.get(present) : "More")),
    h("div.views-others", OTHERS.map((one) => group(one, present))));
}

const group = ([title, views], present, close) => [
  h("h2", title),
  h("ul", views.map((view) => h("li", link(view, present, close)))),
];

function link([name, title], present, close) {
  const number = counts.of(name);
  return h("a", { href: viewOf(name), onclick: close, "aria-current": name === present ? "page" : null, title: number === undefined ? null : count(number, "in all", "in all") },
    icon(name), h("span", title), number > 0 && h("span.count", { "aria-hidden": "true" }, number.toLocaleString("en")));
}

function more(present) {
  dialog("Views", (close) => h("nav.views-all", { "aria-label": "All views" }, GROUPS.map((one) => group(one, present, close))));
}
