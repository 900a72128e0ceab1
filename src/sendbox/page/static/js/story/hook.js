/** The built-in receiver: its address, how to use it, and the newest that it got. */

import { path } from "../api.js";
import { h } from "../dom.js";
import { copy, json } from "../parts.js";
import { viewOf } from "../route.js";
import { origin } from "../served.js";
import { View } from "../view.js";
import { time } from "../words.js";
import { short } from "./delivery.js";

/** So many webhooks are shown whole. */
const NEWEST = 5;
/** How the list of webhooks is asked for those of the built-in receiver. */
const OF_HOOK = "target:hook";

class Hook extends View {
  static kinds = ["delivery", "try"];

  async load() {
    const { deliveries } = await this.world.get("deliveries", { search: OF_HOOK, order: "newest", limit: NEWEST, form: "short" });
    return Promise.all(deliveries.map(({ id }) => this.world.get(["deliveries", id])));
  }

  draw(deliveries) {
    const address = `${origin}${path("worlds", this.field("world"), "hook")}`;
    const sample = JSON.stringify({ to: [{ phone_number: "420777000101" }], body: "Hello", callback: address }, null, 2);
    return h("article.story", { "aria-labelledby": "story-title" },
      h("h1", { id: "story-title" }, "The built-in receiver"),
      h("p", "For those who have none yet. It takes the webhooks of every message without a callback, in an account without ",
        h("code", "default_callback_url"), ", and answers 200: nothing has to be done for it."),
      h("p", "It has an address too, which takes any body and answers 200:"),
      h("p.story-call", h("code", address), " ", copy(address, "Copy the address")),
      h("details", h("summary", "A message that names it as its callback"), json(sample), copy(sample, "Copy the body")),
      h("h2", "Newest first"),
      h("p", h("a", { href: viewOf("webhooks", { search: OF_HOOK, hook: "1" }) }, "All that it got, as a list")),
      deliveries.length ? deliveries.map(({ id, at, events, request }) => h("section", { key: id, "aria-label": `Webhook of ${time(at)}` },
        h("p", h("a", { href: viewOf("webhooks", { delivery: id }) }, time(at)), " ", h("bdi", events.slice(0, 3).map(short).join(", "))),
        json(request.body, 3000)))
        : h("p.quiet", "It got nothing yet."));
  }
}

customElements.define("sb-hook", Hook);
