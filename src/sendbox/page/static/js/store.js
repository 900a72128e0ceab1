/**
 * What is known of the world that is shown: its clock, its counts, and that something happened. Views ask control
 * again for what they show; they are told of which kinds the new entries of the journal are, not more often than a
 * person can see it.
 */

import { call, path } from "./api.js";
import * as live from "./live.js";
import { presence } from "./presence.js";

/** Milliseconds in which news are gathered. */
const GATHERED = 120;

class Store extends EventTarget {
  world = null;
  /** the view of the world by control; null until it is known, or where it is not open */
  info = null;
  missing = null;
  live = false;
  entries = 0;
  #kinds = new Set();
  #timer = null;

  constructor() {
    super();
    live.listen((event) => this.#fold(event));
  }

  /** Whether the world is closed, and can still be read. */
  get closed() {
    return Boolean(this.info?.closed);
  }

  /** Shows another world; null: none. */
  async open(world) {
    this.world = world;
    this.info = this.missing = null;
    // what happens before the stream has this world is asked for when it says that it is open
    this.live = false;
    live.watch(world);
    await this.refresh();
  }

  /** Asks for the view of the world again. */
  async refresh() {
    const world = this.world;
    if (world === null) return this.#tell("world");
    try {
      const info = await call("GET", path("worlds", world));
      if (world !== this.world) return;
      const { closed } = this;
      [this.info, this.missing, this.entries] = [info, null, info.entries ?? 0];
      // what can be done with it is another thing now
      if (closed !== this.closed) this.news("*");
      presence.settled(world);
    } catch (error) {
      // while the sandbox does not answer, what is known stays
      if (world === this.world && error.error !== "unreachable") [this.info, this.missing] = [null, error];
    }
    this.#tell("world");
  }

  #fold({ type, data, live: open }) {
    if (type === "state") {
      const again = open && !this.live;
      this.live = open;
      this.#tell("world");
      if (again) this.news("*");
      if (this.world !== null && (!open || presence.gone)) this.refresh();
    } else if (type === "worlds") {
      this.#tell("worlds");
    } else if (data?.world !== this.world) {
      return;
    } else if (type === "entry") {
      this.entries = data.entry.n + 1;
      this.news(data.entry.kind);
    } else if (type === "clock") {
      if (this.info) this.info.clock = data;
      this.#tell("clock");
      this.news("clock");
    } else {
      this.news("*");
      // its past is another one, too
      if (type !== "skipped") this.travel();
      this.refresh();
    }
  }

  /** Another moment of the world is shown: all that is shown is asked for again. */
  travel() {
    this.#tell("then");
  }

  /** Something of this kind happened; `*`: anything may have. */
  news(kind) {
    this.#kinds.add(kind);
    this.#timer ??= setTimeout(() => {
      const kinds = this.#kinds;
      this.#kinds = new Set();
      this.#timer = null;
      this.dispatchEvent(new CustomEvent("news", { detail: kinds }));
    }, GATHERED);
  }

  #tell(what) {
    this.dispatchEvent(new CustomEvent(what));
  }
}

export const store = new Store();
