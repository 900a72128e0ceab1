/**
 * A list of any length: only the rows that are seen are elements, and further pages are asked for when they come near.
 * `data` of the element: `{fetch, row, key, kinds, height, label, empty, of}`. `fetch(cursor)` answers `{items, next}`, the
 * newest first; `row(item)` makes a link or a button; another `of` begins anew.
 */

import { h, show } from "./dom.js";
import { place } from "./route.js";
import { store } from "./store.js";

/** Rows beyond what is seen, above and below. */
const BEYOND = 8;

class List extends HTMLElement {
  own = new Set(["class", "tabindex", "style"]);
  data = null;
  #items = [];
  #next = null;
  #cursors = new Map();
  #busy = false;
  #again = false;
  #known = false;
  #failed = null;
  #news = ({ detail }) => {
    const { kinds } = this.data;
    if (place().has("then")) return;
    if (!kinds || detail.has("*") || kinds.some((kind) => detail.has(kind))) this.refresh();
  };

  #then = () => this.refresh({ anew: true });

  connectedCallback() {
    this.#ready();
    store.addEventListener("news", this.#news);
    store.addEventListener("then", this.#then);
    this.refresh();
  }

  disconnectedCallback() {
    store.removeEventListener("news", this.#news);
    store.removeEventListener("then", this.#then);
  }

  #ready() {
    if (this.onscroll) return;
    this.onscroll = () => this.#draw();
    this.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#draw()).observe(this);
  }

  /** The view was drawn again: rows may look different, and another `of` is another list. */
  take(next) {
    const other = this.data?.of !== next.data.of;
    this.data = next.data;
    if (!other) return this.#draw();
    this.#items = [];
    this.#cursors.clear();
    [this.#next, this.#known, this.scrollTop] = [null, false, 0];
    this.refresh();
  }

  /** Asks again for the newest, and for those that are seen; `anew` where others may be older too. */
  refresh({ anew = false } = {}) {
    return this.#ask(async () => {
      const { key } = this.data;
      if (anew) {
        this.#items = [];
        this.#cursors.clear();
      }
      const head = await this.#page(null);
      const last = head.items.length ? key(head.items.at(-1)) : null;
      const meets = this.#items.findIndex((item) => key(item) === last);
      if (meets >= 0 && this.#items.length > head.items.length) {
        this.#items = [...head.items, ...this.#items.slice(meets + 1)];
      } else {
        [this.#items, this.#next] = [head.items, head.next];
      }
      await this.#seen();
    });
  }

  /** Brings those that are seen up to date, where they lie behind the first page. */
  async #seen() {
    const { key } = this.data;
    let index = this.#range()[0];
    while (index > 0 && !this.#cursors.has(key(this.#items[index - 1]))) index -= 1;
    if (index <= 0) return;
    const page = await this.#page(this.#cursors.get(key(this.#items[index - 1])));
    const fresh = new Map(page.items.map((item) => [key(item), item]));
    this.#items = this.#items.map((item) => fresh.get(key(item)) ?? item);
  }

  async #page(cursor) {
    const page = await this.data.fetch(cursor);
    if (page.items.length && page.next) this.#cursors.set(this.data.key(page.items.at(-1)), page.next);
    return page;
  }

  async #ask(doing) {
    if (this.#busy) {
      this.#again = true;
      return;
    }
    this.#busy = true;
    const { of } = this.data;
    try {
      await doing();
      this.#failed = null;
    } catch (error) {
      this.#failed = error;
    }
    [this.#busy, this.#known] = [false, true];
    if (!this.isConnected) return;
    if (this.#again || of !== this.data.of) {
      this.#again = false;
      // what is known is shown: an answer may take long
      if (of === this.data.of) this.#draw();
      return this.refresh();
    }
    this.#draw();
  }

  /** Asks for the next page where its rows come near; of a list that is not seen none does. */
  #more() {
    const end = this.#items.length * this.data.height - this.clientHeight * 2;
    if (this.#next === null || this.#busy || !this.clientHeight || this.scrollTop < end) return;
    this.#ask(async () => {
      const page = await this.#page(this.#next);
      this.#items.push(...page.items);
      this.#next = page.next;
    });
  }

  #range() {
    const { height } = this.data;
    const first = Math.max(0, Math.floor(this.scrollTop / height) - BEYOND);
    const last = Math.min(this.#items.length, Math.ceil((this.scrollTop + this.clientHeight) / height) + BEYOND);
    return [first, last];
  }

  #draw() {
    const { row, key, height, label, empty } = this.data;
    if (this.#failed) return show(this, h("p.empty", { role: "alert" }, this.#failed.message));
    if (!this.#known) return show(this, h("p.empty", "Loading …"));
    if (!this.#items.length) return show(this, h("p.empty", empty ?? "Nothing yet."));
    const [first, last] = this.#range();
    const total = this.#next === null ? this.#items.length : -1;
    const rows = this.#items.slice(first, last).map((item, index) =>
      h("li", {
        key: key(item), "aria-setsize": total, "aria-posinset": first + index + 1,
        style: { top: `${(first + index) * height}px`, height: `${height}px` },
      }, row(item)));
    show(this, h("ul.window", { "aria-label": label, style: { height: `${this.#items.length * height}px` } }, rows));
    this.#more();
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const here = event.target.closest?.("li");
    if (!step || !here) return;
    event.preventDefault();
    const next = this.querySelector(`li[aria-posinset="${Number(here.getAttribute("aria-posinset")) + step}"]`);
    next?.querySelector("a, button")?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }
}

customElements.define("sb-list", List);
