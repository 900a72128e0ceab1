/** Webhooks that are held before their first try, and those that wait to be released, in an order of one's own. */

import { h } from "../dom.js";
import { text } from "../parts.js";
import { viewOf } from "../route.js";
import { View, act } from "../view.js";
import { count, time } from "../words.js";
import { receiver, short } from "./delivery.js";

/** What can be held, and the field that says which. */
const KINDS = { all: "All webhooks", phone: "Those about a phone", target: "Those to an address" };

class Holding extends View {
  static kinds = ["delivery", "try", "control"];
  #kind = "all";
  #order = [];
  #dragged = null;

  async load() {
    const [{ holds, held }, { deliveries }] = await Promise.all([
      this.world.get("holds"), this.world.get("deliveries", { state: "held", form: "short" }),
    ]);
    // what the person has put in order stays so, and what came since follows
    this.#order = [...this.#order.filter((id) => held.includes(id)), ...held.filter((id) => !this.#order.includes(id))];
    return { holds, byId: new Map(deliveries.map((delivery) => [delivery.id, delivery])) };
  }

  draw({ holds, byId }) {
    const held = this.#order.filter((id) => byId.has(id));
    return h("details.holding", { key: "holding" },
      h("summary", "Hold and release", (held.length > 0 || holds.length > 0) && h("span.quiet", ` ${count(held.length, "held", "held")}${holds.length ? ", more will be" : ""}`)),
      !this.readOnly && this.#form(),
      holds.length > 0 && this.#holds(holds),
      held.length > 0 && this.#held(held, byId));
  }

  #form() {
    return h("form.actions", { "aria-label": "Hold before the first try", onsubmit: (event) => this.#hold(event) },
      h("select", { "aria-label": "What is held", onchange: (event) => { this.#kind = event.target.value; this.redraw(); } },
        Object.entries(KINDS).map(([kind, title]) => h("option", { value: kind, selected: kind === this.#kind }, title))),
      this.#kind !== "all" && h("input", {
        name: "which", key: this.#kind, required: true, autocomplete: "off", "aria-label": this.#kind === "phone" ? "Phone" : "Address",
        placeholder: this.#kind === "phone" ? "420777000101" : "https://…",
      }),
      h("button.small", "Hold next"));
  }

  async #hold(event) {
    event.preventDefault();
    const which = this.#kind === "all" ? {} : { [this.#kind]: event.target.elements.which.value.trim() };
    await act(() => this.world.post("holds", which), "Webhooks that fit are held from now on, before their first try.");
    this.reload();
  }

  #holds(holds) {
    const words = ({ phone, target }) => (phone ? `about ${phone}` : target ? `to ${target === "hook" ? "the built-in receiver" : target}` : "all");
    return h("p", "Held from now on: ", text(holds.map(words).join(", ")), ". ",
      !this.readOnly && h("button.small", {
        type: "button",
        onclick: async () => {
          await act(() => this.world.remove("holds"), "Webhooks leave by themselves again, but for those that are held.");
          this.reload();
        },
      }, "Hold no more"));
  }

  #held(held, byId) {
    return [
      h("ol.holding-list", { "aria-label": "Held webhooks" }, held.map((id, place) => this.#item(byId.get(id), place, held.length))),
      !this.readOnly && h("div.actions", h("button.small.first", { type: "button", onclick: () => this.#release(held) }, held.length > 1 ? "Release all in this order" : "Release it"))];
  }

  #item(delivery, place, among) {
    const { id } = delivery;
    const name = `${place + 1} of ${among}`;
    const button = (label, about, onclick, disabled = false) =>
      h("button.small", { type: "button", class: label.toLowerCase(), "aria-label": about, disabled, onclick }, label);
    return h("li", {
      key: id, draggable: this.readOnly ? null : "true", "data-id": id,
      ondragstart: (event) => { this.#dragged = id; event.dataTransfer.effectAllowed = "move"; },
      ondragover: (event) => { if (this.#dragged) event.preventDefault(); },
      ondrop: (event) => { event.preventDefault(); this.#move(this.#dragged, place); this.#dragged = null; },
    },
    h("a.text", { href: viewOf("webhooks", { delivery: id }) }, time(delivery.at), " ", h("bdi", delivery.events.map(short).join(", ")), " to ", receiver(delivery)),
    !this.readOnly && h("span.holding-acts",
      button("Up", `Move ${name} up`, () => this.#move(id, place - 1, "up"), place === 0),
      button("Down", `Move ${name} down`, () => this.#move(id, place + 1, "down"), place === among - 1),
      button("Release", `Release ${name}`, () => this.#release([id]))));
  }

  /** Puts a webhook at a place, and the focus back to the button that was pressed, or to the other one at the end. */
  #move(id, place, pressed = null) {
    const order = this.#order.filter((other) => other !== id);
    order.splice(place, 0, id);
    this.#order = order;
    this.redraw();
    const item = pressed && this.querySelector(`[data-id="${CSS.escape(id)}"]`);
    item?.querySelector(`.${pressed}:enabled, button:enabled`)?.focus();
  }

  async #release(ids) {
    const done = ids.length > 1 ? `${count(ids.length, "webhook")} leave one after another.` : "The webhook is released.";
    await act(() => this.world.post("holds/release", { deliveries: ids }), done);
    this.reload();
  }
}

customElements.define("sb-holding", Holding);
