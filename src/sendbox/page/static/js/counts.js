/** How many phones, messages, webhooks and requests the world has. They are asked for when something happened, not more often than each second. */

import { World } from "./api.js";
import { place } from "./route.js";
import { serves } from "./served.js";
import { store } from "./store.js";

/** The lists that are counted, by view: the operation of control. */
const COUNTED = { phones: "phones", messages: "messages", webhooks: "deliveries", requests: "requests" };
const GATHERED = 1000;

class Counts extends EventTarget {
  #numbers = {};
  #timer = null;
  #asking = false;

  constructor() {
    super();
    for (const type of ["news", "then", "world"]) store.addEventListener(type, () => this.#later(type === "world" ? 0 : GATHERED));
  }

  /** The number of a view, undefined where it is not known. */
  of(view) {
    return this.#numbers[view];
  }

  #later(soon) {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => this.#ask(), soon);
  }

  async #ask() {
    if (!this.#asking) {
      this.#asking = true;
      const world = place().get("world");
      const numbers = store.info === null ? {} : await numbersOf(new World(world, place().get("then")));
      this.#asking = false;
      if (world === place().get("world")) this.#numbers = numbers;
      this.dispatchEvent(new CustomEvent("change"));
    }
    this.#timer = null;
  }
}

async function numbersOf(world) {
  const asked = Object.entries(COUNTED).filter(([, operation]) => serves(operation)).map(async ([view, operation]) =>
    [view, (await world.get(operation, { limit: 1, form: "short", total: true })).total]);
  return Object.fromEntries(await Promise.all(asked).catch(() => []));
}

export const counts = new Counts();
