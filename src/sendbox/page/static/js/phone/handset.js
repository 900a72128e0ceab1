/** A phone as a handset: what it is, its conversation, and what its owner does. `data` is its number. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { viewOf } from "../route.js";
import { store } from "../store.js";
import { View, act } from "../view.js";
import { time } from "../words.js";
import { composer } from "./composer.js";
import { bubbles, entriesOf } from "./conversation.js";

/** So many bubbles are shown at first, and so many more each time. */
const PAGE = 60;
/** Pixels from the end within which a person reads the newest, and wants to see what comes. */
const NEAR = 60;

class Handset extends View {
  static kinds = [
    "request", "transition", "fallback", "refusal", "postponed", "illegal", "inbound", "click", "phone", "opt_out", "bulk_line",
    "validation", "notice", "lapse", "template", "clock",
  ];
  #most = PAGE;
  #first = false;
  #answered = null;
  /** the entry that the composer answers, null for none: while something is typed there, it stays this one */
  #about = undefined;
  #follow = true;
  #shown = null;
  #newest = "";

  async load() {
    const phone = this.world.get(["phones", this.data], { last: this.#most });
    if (!this.past) return phone;
    const [then, clock] = await Promise.all([phone, this.world.get("clock")]);
    return { ...then, now: clock.now };
  }

  /** The newest stays in view for those who are at the end; for others, what they read. */
  redraw() {
    const before = this.querySelector(".talk");
    const left = before ? before.scrollHeight - before.scrollTop : 0;
    const end = this.#follow || !before || left - before.clientHeight < NEAR;
    super.redraw();
    const talk = this.querySelector(".talk");
    if (!talk) return;
    talk.scrollTop = end ? talk.scrollHeight : talk.scrollHeight - left;
    this.#follow = false;
  }

  async #do(name, body = {}, done = null) {
    const answer = await act(() => this.world.post(["phones", this.data, name], body), done);
    if (answer === undefined) return false;
    if (name === "reply" || name === "write") [this.#follow, this.#answered] = [true, null];
    await this.reload();
    return true;
  }

  #turn(first, entry = null) {
    [this.#first, this.#answered, this.#about] = [first, entry, undefined];
    this.redraw();
    this.querySelector(".composer textarea")?.focus();
  }

  draw(phone) {
    const entries = entriesOf(phone, this.#most);
    // what came since the last look moves in
    for (const entry of entries) entry.fresh = this.#shown !== null && !this.#shown.has(entry.key) && entry.at >= this.#newest;
    this.#newest = entries.at(-1)?.at ?? "";
    this.#shown = new Set(entries.map(({ key }) => key));
    const more = phone.earlier || phone.conversation.length + phone.not_arrived.length > entries.length;
    const newest = entries.findLast((entry) => entry.acts.includes("reply") && entry.arrived) ?? null;
    const on = {
      readOnly: this.readOnly,
      codes: new Map(phone.codes.map((code) => [code.message_id, code])),
      act: (name, body, done) => this.#do(name, body, done),
      answer: (entry) => this.#turn(false, entry),
    };
    const stays = this.#about !== undefined && this.querySelector(".composer textarea")?.value;
    const answered = this.#first ? null : this.#answered ?? (stays ? this.#about : newest);
    this.#about = answered;
    return h("article.handset", { class: phone.online ? null : "off", "aria-labelledby": "handset-number" },
      h("div.top", { "aria-hidden": "true" }, h("span", time(phone.now ?? store.info?.clock.now).slice(0, 5)), icon(phone.online ? "signal" : "offline")),
      this.#head(phone),
      h("div.talk", { tabindex: "0", role: "log", "aria-label": "Conversation" },
        more && h("button.small.older", { type: "button", onclick: () => { this.#most += PAGE; this.reload(); } }, "Show older"),
        entries.length ? h("ol.bubbles", bubbles(entries, on)) : h("p.empty", "Nothing was sent to this phone, and it wrote nothing yet. ", h("a", { href: viewOf("try", { to: phone.number }) }, "Send it a message"))),
      this.readOnly
        ? h("p.past", this.past ? "The past can only be looked at." : "A closed world can only be looked at.")
        : composer({
          channels: phone.channels, answered, can: newest !== null,
          turn: (first) => this.#turn(first), send: (name, body) => this.#do(name, body),
        }));
  }

  #head(phone) {
    const button = (name, label, done) =>
      h("button.small", { type: "button", onclick: () => this.#do(name, {}, done) }, label);
    return h("header.who",
      h("a.plain.back", { href: viewOf("phones", { search: this.field("search") }), title: "All phones" }, icon("back"), h("span.sr", "All phones")),
      h("div.names",
        h("h1", { id: "handset-number" }, h("bdi", phone.number)),
        h("span.state", { class: phone.online ? "on" : "off" }, phone.online ? "online" : "offline")),
      !this.readOnly && h("div.switches",
        phone.online ? button("offline", "Go offline", "The phone is off.") : button("online", "Come online", "The phone is on."),
        phone.opted_out ? button("opt-in", "Opt in again", "The phone opted in again.") : button("opt-out", "Opt out", "The phone opted out.")),
      h("p.kinds",
        h("span", phone.channels.join(", ")),
        phone.opted_out && h("span.badge.fair", "opted out"),
        phone.conversation_open && h("span.badge.good", "conversation open")));
  }
}

customElements.define("sb-handset", Handset);
