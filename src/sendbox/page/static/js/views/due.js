/** What is still to come: steps, webhooks, codes, entries of lists; and the way to each of them. */

import { h } from "../dom.js";
import { badge, table, text, tr } from "../parts.js";
import { advance } from "../moving.js";
import { until } from "../present.js";
import { viewOf } from "../route.js";
import { store } from "../store.js";
import { stateOf } from "../story/tries.js";
import { View } from "../view.js";
import { count, cut, inWords, when } from "../words.js";

/** The most of each that are shown. */
const SHOWN = 50;

/** Webhooks that leave without a step of the timeline. */
const leavingWords = (leaving, deliveries) =>
  (deliveries.some(({ state }) => state === "sending") ? `${count(leaving, "webhook")} on the way to the receiver` : `${count(leaving, "webhook")} ready to leave`);

class Due extends View {
  static ticks = true;

  load() {
    return this.world.get("pending", { limit: SHOWN });
  }

  draw(due) {
    const now = this.instant(due.now);
    const nothing = !due.steps.length && !due.deliveries.length && !due.codes.length && !due.lists.length;
    return h("div.page.due",
      h("h1", "Due next"),
      this.#lead(due, now, (!this.readOnly && store.info?.clock.webhooks) || 0),
      nothing ? h("p.card.empty", "Nothing is to come.") : [
        this.#steps(due, now), this.#deliveries(due), this.#codes(due, now), this.#lists(due, now)]);
  }

  /** A countdown to what comes first, and what makes it come. */
  #lead({ steps, scheduled, deliveries }, now, leaving) {
    const first = leaving && !(steps[0]?.at <= now) ? { at: now, what: leavingWords(leaving, deliveries) } : steps[0];
    const mode = this.past ? "past" : store.closed ? "closed" : store.info?.clock.mode;
    const waits = {
      past: "It was so at this moment.",
      closed: "It does not come any more: the world is closed.",
      manual: "Time stands still: it waits until you move the clock.",
      auto: "Time jumps there as soon as nothing is under way.",
      real: "Time passes by itself.",
    }[mode];
    return h("div.card.padded.due-lead",
      h("div", h("p.due-count", first ? until(first.at, now) : "idle"),
        h("p", first ? h("bdi", cut(inWords(first.what))) : deliveries.length ? "What is held waits until it is released." : "Nothing is scheduled."),
        first && h("p.quiet", waits)),
      h("p.quiet", count(scheduled, "step"), " scheduled"));
  }

  #steps({ steps, scheduled }, now) {
    if (!steps.length) return null;
    const instants = Map.groupBy(steps, ({ at }) => at);
    const more = scheduled - steps.length;
    return [h("h2", "Steps"),
      h("ol.card.due-steps", { "aria-label": "Steps" }, [...instants].map(([at, there]) =>
        h("li", { key: at },
          h("div.due-when", h("time", { datetime: at }, when(at)), h("span.quiet", until(at, now))),
          h("ul", there.map(({ what, phone }) =>
            h("li", h("bdi", cut(inWords(what), 300)), phone && [" ", h("a", { href: viewOf("phones", { phone }) }, h("bdi", phone))]))),
          !this.readOnly && h("button.small", {
            type: "button", "aria-label": `Advance to ${when(at)}`, onclick: () => advance(this.world, { to: at }),
          }, "Advance to here")))),
      more > 0 && this.#more(`Up to ${count(more, "further step")}`)];
  }

  #deliveries({ deliveries }) {
    if (!deliveries.length) return null;
    return [h("h2", "Webhooks not delivered"),
      table("Webhooks not delivered", ["Since", "State", "To", "Events", "Tries"], deliveries.map((delivery) => tr([
        h("td.nowrap", h("a", { href: viewOf("webhooks", { delivery: delivery.id }) }, when(delivery.at))),
        stateOf(delivery.state, delivery.tries.at(-1)), h("bdi", cut(delivery.target)), String(delivery.events.length), this.#tries(delivery),
      ], { key: delivery.id }))),
      deliveries.length === SHOWN && this.#more(`The first ${SHOWN} are shown; there may be more`)];
  }

  #tries({ tries }) {
    const last = tries.at(-1);
    return last ? `${tries.length}, the last ${last.status ?? last.error} at ${when(last.at)}` : "none yet";
  }

  #codes({ codes }, now) {
    if (!codes.length) return null;
    return [h("h2", "Open codes"),
      h("ul.card.due-rows", { "aria-label": "Open codes" }, codes.map((code) => h("li", { key: code.token },
        h("a", { href: viewOf("verify", { phone: code.phone }) }, h("bdi", code.phone)), h("strong.mono", h("bdi", code.code)), badge(code.state),
        h("span.quiet", `expires ${until(code.expires_at, now)}, at ${when(code.expires_at)}`)))),
      codes.length === SHOWN && this.#more(`The first ${SHOWN} are shown; there may be more`)];
  }

  #lists({ lists }, now) {
    if (!lists.length) return null;
    return [h("h2", "Entries of lists, not in force"),
      h("ul.card.due-rows", { "aria-label": "Entries of lists" }, lists.map((entry) => h("li",
        badge(entry.list, "way"), text(entry.phone), h("span.quiet", `in force ${until(entry.in_force, now)}, at ${when(entry.in_force)}`)))),
      lists.length === SHOWN && this.#more(`The first ${SHOWN} are shown; there may be more`)];
  }

  #more(said) {
    return h("p.quiet", said, ": ", h("a", { href: this.world.address("pending", { limit: 1000 }) }, "as JSON"), ".");
  }
}

customElements.define("sb-due", Due);
