/**
 * A list of any length: only the rows that are seen are elements, and further pages are asked for when they come near.
 * What a person looks at stays in its place: while the pointer or the focus is on a row, or the list is scrolled, sorted
 * or paused, new items wait above under a button. `data` of the element: `{of, name, fetch, row, key, kinds, height, label,
 * noun, empty, columns, narrow, sorting, sorted}`; `row(item)` makes a link or a button; another `of` begins anew.
 */

import { h, show } from "./dom.js";
import { bar } from "./list/bar.js";
import { WIDE, heads, spread } from "./list/columns.js";
import { Items } from "./list/items.js";
import { anchor, looksAt, range, reveal } from "./list/places.js";
import { rows } from "./list/rows.js";
import { place } from "./route.js";
import { store } from "./store.js";

/** How high a row with columns is. */
const LINE = 40;

class List extends HTMLElement {
  own = new Set(["class", "tabindex", "style"]);
  data = null;
  #items = new Items();
  #paused = false;
  #busy = false;
  #again = false;
  #known = false;
  #failed = null;
  /** whether something happened that is not shown */
  #late = false;
  /** the key of the row that had the focus last */
  #stop = null;
  #news = ({ detail }) => {
    const { kinds } = this.data;
    if (place().has("then")) return;
    if (!kinds || detail.has("*") || kinds.some((kind) => detail.has(kind))) this.refresh();
  };

  #then = () => this.refresh({ anew: true });
  #resized = () => this.#draw({ anchored: true });

  connectedCallback() {
    this.#items.take(this.data);
    this.#ready();
    store.addEventListener("news", this.#news);
    store.addEventListener("then", this.#then);
    WIDE.addEventListener("change", this.#resized);
    this.refresh();
  }

  disconnectedCallback() {
    store.removeEventListener("news", this.#news);
    store.removeEventListener("then", this.#then);
    WIDE.removeEventListener("change", this.#resized);
  }

  #ready() {
    if (this.onscroll) return;
    this.onscroll = () => {
      this.#draw();
      this.#release();
    };
    this.addEventListener("focusin", ({ target }) => { this.#stop = target.closest("li")?.key ?? this.#stop; });
    this.addEventListener("focusout", () => queueMicrotask(() => this.#release()));
    this.addEventListener("pointerleave", () => this.#release());
    new ResizeObserver(() => this.#draw()).observe(this);
  }

  /** The view was drawn again: rows may look different, and another `of` is another list. */
  take(next) {
    const other = this.data?.of !== next.data.of;
    this.data = next.data;
    this.#items.take(this.data);
    if (!other) return this.#draw({ anchored: true });
    this.#items.clear();
    [this.#known, this.scrollTop, this.#stop] = [false, 0, null];
    this.refresh({ anew: true });
  }

  /** Asks again for the newest, and for those that are seen; `anew` where others may be older too. */
  refresh({ anew = false } = {}) {
    return this.#ask(async () => {
      if (anew) this.#items.clear();
      if (!this.#held()) {
        await this.#items.renew();
        this.#late = false;
      } else {
        this.#late = true;
        await this.#items.hold({ still: this.#paused });
        if (this.#paused) return;
      }
      await this.#items.renewFrom(range(this, this.#items.all.length, this.#height)[0]);
    });
  }

  /** Shows what waits, from the top. */
  #catchUp({ detail }) {
    this.scrollTop = 0;
    this.#ask(async () => {
      this.#items.clear();
      await this.#items.renew();
      this.#late = false;
    }).then(() => detail === 0 && this.enter());
  }

  #pause() {
    this.#paused = !this.#paused;
    this.#draw();
    this.#release();
  }

  /** Whether a person looks at rows, which must not move. */
  #held() {
    if (!this.#items.all.length) return false;
    return this.#paused || this.data.sorted || this.scrollTop > 0 || looksAt(this) !== null;
  }

  #release() {
    if (this.#late && this.isConnected && !this.#held()) this.refresh();
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
      return this.refresh({ anew: of !== this.data.of });
    }
    this.#draw({ anchored: true });
  }

  /** Asks for the next page where its rows come near; of a list that is not seen none does. */
  #more() {
    const end = this.#items.all.length * this.#height - this.clientHeight * 2;
    if (this.#items.next === null || this.#busy || !this.clientHeight || this.scrollTop < end) return;
    this.#ask(() => this.#items.more());
  }

  get #wide() {
    return Boolean(this.data.columns) && WIDE.matches && !this.data.narrow;
  }

  /** How high a row is. */
  get #height() {
    return this.#wide ? LINE : this.data.height;
  }

  #draw({ anchored = false } = {}) {
    const { label, empty } = this.data;
    if (this.#failed) return show(this, h("p.empty", { role: "alert" }, this.#failed.message));
    if (!this.#known) return show(this, h("p.empty", "Loading …"));
    const { all } = this.#items;
    if (!all.length) return show(this, h("p.empty", empty ?? "Nothing yet."));
    const top = anchored ? anchor(this, this.#items, this.#height) : this.scrollTop;
    this.classList.toggle("wide", this.#wide);
    if (this.#wide) spread(this, this.data);
    const on = { paused: this.#paused, catchUp: (event) => this.#catchUp(event), pause: () => this.#pause() };
    show(this, bar(this.#items, this.data, on, this.#wide && heads(this, this.data)), h("ul.window", { "aria-label": label, style: { height: `${all.length * this.#height}px` } }, rows(this, this.#items, this.data, { height: this.#height, top, stop: this.#stop })));
    if (top !== this.scrollTop) this.scrollTop = top;
    this.#more();
  }

  /** Moves the focus by so many rows; from elsewhere to the row that Tab leads to. */
  step(by) {
    const here = this.querySelector("li:focus-within");
    this.#reach(here ? Number(here.getAttribute("aria-posinset")) - 1 + by : null);
  }

  /** Moves the focus to the row that had it last. */
  enter() {
    this.#reach(null);
  }

  #reach(index) {
    const { all } = this.#items;
    if (!all.length) return;
    const last = this.#items.indexOf(this.#stop);
    const first = Math.ceil(this.scrollTop / this.#height);
    const to = Math.min(Math.max(index ?? (last >= 0 ? last : first), 0), all.length - 1);
    reveal(this, to, this.#height);
    this.#stop = String(this.data.key(all[to]));
    this.#draw();
    this.querySelector(`li[aria-posinset="${to + 1}"]`)?.querySelector("a, button").focus({ preventScroll: true });
  }
}

customElements.define("sb-list", List);
