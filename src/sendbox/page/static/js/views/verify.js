/** Verify: sessions with the code that the client's user would read on the phone. */

import { h } from "../dom.js";
import { badge, copy, facts, json, searchBox, text } from "../parts.js";
import { until } from "../present.js";
import { go, viewOf } from "../route.js";
import { View } from "../view.js";
import { count, time, when } from "../words.js";

/** So many sessions are shown. */
const SHOWN = 60;

class Verify extends View {
  static ticks = true;

  get #query() {
    return { last: SHOWN + 1, phone: this.field("phone") };
  }

  async load() {
    const [clock, { codes }] = await Promise.all([this.world.get("clock"), this.world.get("codes", this.#query)]);
    return { now: clock.now, codes };
  }

  draw({ now: answered, codes }) {
    const now = this.instant(answered);
    const phone = this.field("phone") ?? "";
    return h("div.page",
      h("h1", "Verify"),
      searchBox({
        value: phone, label: "Sessions of a phone", hint: "A phone number",
        search: (number) => go(viewOf("verify", { phone: number }), { replace: true }),
      }),
      codes.length === 0 && h("p.card.empty", phone ? "No session of this phone." : "No code yet. A client asks for one with createValidation."),
      h("ul.verify-list", codes.slice(0, SHOWN).map((session) => h("li", { key: session.token }, this.#session(session, now)))),
      codes.length > SHOWN && h("p.quiet", `These are the newest ${SHOWN}. `,
        h("a", { href: this.world.address("codes"), target: "_blank" }, "All as JSON")));
  }

  #session(session, now) {
    const { phone, code, state, attempts, attempts_remaining: left, rules, payload } = session;
    const to = Date.parse(session.expires_at) - Date.parse(now);
    const ended = session.verified_at ?? (to <= 0 ? session.expires_at : null);
    return h("article.card.padded.verify-one", { class: state === "pending" || state === "code_sent" ? "open" : "ended" },
      h("h2", h("a", { href: viewOf("phones", { phone }) }, h("bdi", phone)), " ", badge(state)),
      h("p.verify-code", h("output", { "aria-label": "Code" }, code), copy(code, "Copy code")),
      facts([
        ["Attempts left", `${left} of ${attempts + left}`],
        ["SMS", h("a", { href: viewOf("messages", { message: session.message_id }) }, badge(session.sms))],
        [to > 0 ? "Expires" : "Expired", h("time", { datetime: session.expires_at, title: when(session.expires_at) },
          time(session.expires_at), to > 0 && !ended && h("span.quiet", ` ${until(session.expires_at, now)}`))],
        ["Began", h("time", { datetime: session.created_at, title: when(session.created_at) }, time(session.created_at))],
        ["Verified", session.verified_at && when(session.verified_at)],
      ]),
      rules.length > 0 && h("p.quiet", rules.length > 1 ? `${count(rules.length, "rule")} decided: ` : "Decided by the rule ",
        rules.map((rule, index) => [index > 0 && ", ", text(rule)])),
      Object.keys(payload).length > 0 && h("details", h("summary", "Payload"), json(payload)));
  }
}

customElements.define("sb-verify", Verify);
