/** How many phones, messages, webhooks and requests the world has. They are asked for when something happened, not more often than each second. */

import { World } from "./api.js";
import { Asking } from "./list/asking.js";
import { place } from "./route.js";
import { serves } from "./served.js";
import { store } from "./store.js";

/** The lists that are counted, by view: the operation of control. */
const COUNTED = { phones: "phones", messages: "messages", webhooks: "deliveries", requests: "requests" };
const GATHERED = 1000;

class Counts extends EventTarget {
  #numbers = {};
  /** of which world they are */
  #of = null;
  #timer = null;
  #asking = new Asking();

  constructor() {
    super();
    for (const type of ["news", "then"]) store.addEventListener(type, () => this.#later());
    store.addEventListener("world", () => this.#ask());
  }

  /** The number of a view, undefined where it is not known. */
  of(view) {
    return this.#of === place().get("world") ? this.#numbers[view] : undefined;
  }

  #later() {
    this.#timer ??= setTimeout(() => this.#ask(), GATHERED);
  }

  async #ask() {
    clearTimeout(this.#timer);
    this.#timer = null;
    const world = place().get("world");
    const isDone = await this.#asking.run(async () => {
      const numbers = store.info === null ? {} : await numbersOf(new World(world, place().get("then")));
      [this.#numbers, this.#of] = [numbers, world];
    });
    if (!isDone) return;
    // what happened meanwhile may not be counted yet
    if (this.#asking.repeats()) {
      if (world === place().get("world")) this.#later();
      else this.#ask();
    }
    this.dispatchEvent(new CustomEvent("change"));
  }
}

async function numbersOf(world) {
  const asked = Object.entries(COUNTED).filter(([, operation]) => serves(operation)).map(async ([view, operation]) =>
    [view, (await world.get(operation, { limit: 1, form: "short", total: true })).total]);
  return Object.fromEntries(await Promise.all(asked));
}

export const counts = new Counts();
