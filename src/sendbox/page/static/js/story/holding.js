/** Webhooks that are held before their first try, and those that wait to be released, in an order of one's own. */

import { h } from "../dom.js";
import { text } from "../parts.js";
import { viewOf } from "../route.js";
import { View, act } from "../view.js";
import { count, time } from "../words.js";
import { distinct, receiver, short } from "./delivery.js";

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
    const names = distinct(held);
    this.#order = [...this.#order.filter((name) => names.includes(name)), ...names.filter((name) => !this.#order.includes(name))];
    const shown = distinct(deliveries.map(({ id }) => id));
    return { holds, byName: new Map(deliveries.map((delivery, index) => [shown[index], delivery])) };
  }

  draw({ holds, byName }) {
    const held = this.#order.filter((name) => byName.has(name));
    return h("details.holding", { key: "holding" },
      h("summary", "Hold and release", (held.length > 0 || holds.length > 0) && h("span.quiet", ` ${count(held.length, "held", "held")}${holds.length ? ", more will be" : ""}`)),
      !this.readOnly && this.#form(),
      holds.length > 0 && this.#holds(holds),
      held.length > 0 && this.#held(held, byName));
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

  #held(held, byName) {
    return [
      h("ol.holding-list", { "aria-label": "Held webhooks" }, held.map((name, place) => this.#item(name, byName.get(name), place, held.length))),
      !this.readOnly && h("div.actions", h("button.small.first", { type: "button", onclick: () => this.#release(held) }, held.length > 1 ? "Release all in this order" : "Release it"))];
  }

  #item(name, delivery, place, among) {
    const about = `${place + 1} of ${among}`;
    const button = (label, title, onclick, disabled = false) =>
      h("button.small", { type: "button", class: label.toLowerCase(), "aria-label": title, disabled, onclick }, label);
    return h("li", {
      key: name, draggable: this.readOnly ? null : "true", "data-name": name,
      ondragstart: (event) => { this.#dragged = name; event.dataTransfer.effectAllowed = "move"; },
      ondragover: (event) => { if (this.#dragged) event.preventDefault(); },
      ondrop: (event) => { event.preventDefault(); this.#move(this.#dragged, place); this.#dragged = null; },
    },
    h("a.text", { href: viewOf("webhooks", { delivery: delivery.id }) }, time(delivery.at), " ", h("bdi", delivery.events.map(short).join(", ")), " to ", receiver(delivery)),
    !this.readOnly && h("span.holding-acts",
      button("Up", `Move ${about} up`, () => this.#move(name, place - 1, "up"), place === 0),
      button("Down", `Move ${about} down`, () => this.#move(name, place + 1, "down"), place === among - 1),
      button("Release", `Release ${about}`, () => this.#release([name]))));
  }

  /** Puts a webhook at a place, and the focus back to the button that was pressed, or to the other one at the end. */
  #move(name, place, pressed = null) {
    const order = this.#order.filter((other) => other !== name);
    order.splice(place, 0, name);
    this.#order = order;
    this.redraw();
    const item = pressed && this.querySelector(`[data-name="${CSS.escape(name)}"]`);
    item?.querySelector(`.${pressed}:enabled, button:enabled`)?.focus();
  }

  async #release(names) {
    const ids = names.map((name) => name.split(" ")[0]);
    const done = ids.length > 1 ? `${count(ids.length, "webhook")} leave one after another.` : "The webhook is released.";
    await act(() => this.world.post("holds/release", { deliveries: ids }), done);
    this.reload();
  }
}

customElements.define("sb-holding", Holding);
