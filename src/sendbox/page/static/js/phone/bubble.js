/** One message on a handset, as people know it: a bubble with its text, its marks, and what its owner can do with it. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { badge, copy, json, text } from "../parts.js";
import { viewOf } from "../route.js";
import { count, time, tone, when } from "../words.js";
import { buttons, cards, cutOff, header } from "./shown.js";

/** The mark of each state; its word is read out, and shown where the message is not on the phone. */
const MARKS = { accepted: "clock", sending: "clock", sent: "check", delivered: "checks", seen: "checks" };

const mark = (result) =>
  h("span.mark", { class: result, title: result }, icon(MARKS[result] ?? "alert"), h("span.sr", result));

/**
 * A bubble of an entry of the conversation. `on` has what can be done: `act(name, body, done)`, `answer(entry)`, `readOnly`,
 * and `codes` by message.
 */
export function bubble(entry, on) {
  const own = entry.direction === "out";
  const code = own ? undefined : on.codes.get(entry.message_id);
  return h("li.bubble", { key: entry.key, class: [own ? "own" : entry.arrived ? "theirs" : "theirs pale", entry.fresh && "fresh"].filter(Boolean).join(" ") },
    entry.named && h("p.from", h("bdi", entry.named), " ", h("span.channel", entry.channel)),
    h("div.row-of",
      h("div.body",
        h("span.sr", own ? "The phone wrote: " : entry.arrived ? "Received: " : "Not on the phone: "),
        header(entry.header),
        code && codeCard(code),
        entry.body !== "" && h("p.words", body(entry, on)),
        cutOff(entry),
        entry.footer && h("p.foot", text(entry.footer)),
        cards(entry, on),
        entry.raw && json(entry.raw),
        entry.offer && h("p.foot", "The offer ends ", text(ends(entry.offer))),
        targets(entry),
        buttons(entry.buttons, entry, on),
        meta(entry, own)),
      !own && !on.readOnly && acts(entry, on)),
    !own && !entry.arrived && reason(entry));
}

const meta = (entry, own) =>
  h("p.meta",
    !own && !entry.arrived && badge(entry.result),
    entry.attempt > 1 && h("span", `attempt ${entry.attempt}`),
    own && h("span.channel", entry.channel),
    h("time", { datetime: entry.at, title: when(entry.at) }, time(entry.at).slice(0, 8)),
    entry.message_id && !own && h("a", { href: viewOf("messages", { message: entry.message_id }), title: "Its timeline" },
      "Why?", h("span.sr", " The timeline of this message")),
    !own && entry.arrived && mark(entry.result));

/** The text; its short links are buttons by which the phone follows them. */
function body(entry, on) {
  const parts = [];
  let rest = entry.body;
  for (const link of entry.links ?? []) {
    const at = rest.indexOf(link.url);
    if (at < 0) continue;
    if (at) parts.push(text(rest.slice(0, at)));
    parts.push(h("button.follow", {
      type: "button", title: link.target, disabled: on.readOnly || !entry.acts.includes("click"),
      onclick: () => on.act("click", { message_id: entry.message_id, link: link.number }, () => `The phone opened ${link.target}`),
    }, h("bdi", link.url)));
    rest = rest.slice(at + link.url.length);
  }
  if (rest) parts.push(text(rest));
  return parts;
}

/** The end of an offer: an instant, or what the client gave for it. */
function ends(offer) {
  const at = new Date(Number(offer));
  return Number.isNaN(at.getTime()) ? offer : when(at.toISOString());
}

const targets = ({ links = [] }) =>
  links.length > 0 && h("ul.targets", links.map((link) =>
    h("li", icon("link"), h("span.sr", "A short link to "), h("bdi", link.target),
      link.clicks.length > 0 && h("span", ` · clicked ${count(link.clicks.length, "time")}`))));

const codeCard = (code) =>
  h("div.code", { role: "group", "aria-label": "Verify code" },
    h("output", { "aria-label": `Code ${[...code.code].join(" ")}` }, code.code),
    copy(code.code, "Copy code"),
    h("p", badge(code.state), ` ${count(code.attempts_remaining, "attempt")} left, until ${time(code.expires_at).slice(0, 8)}`));

/** Why it is not on the phone: what was said at its end, or what will come. */
function reason({ result, info, refused, planned }) {
  const said = [info, refused && `refused: ${refused}`].filter(Boolean).join(", ");
  if (tone(result) !== "way") return said && h("p.reason", { class: tone(result) }, icon("alert"), h("bdi", said));
  return planned.length > 0 && h("p.reason.way", icon("clock"), `still to come: ${planned.join(", ")}`);
}

/** What its owner can do with it: small buttons beside the bubble. */
function acts(entry, on) {
  const button = (name, picture, label, onclick) =>
    entry.acts.includes(name) && h("button.plain", { type: "button", title: label, onclick }, icon(picture), h("span.sr", label));
  const list = [
    button("reply", "reply", "Reply to this", () => on.answer(entry)),
    button("seen", "eye", "Mark as seen", () => on.act("seen", { message_id: entry.message_id }, "The message was opened.")),
  ].filter(Boolean);
  return list.length > 0 && h("div.acts", list);
}
