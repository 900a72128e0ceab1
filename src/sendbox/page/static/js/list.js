/**
 * A list of any length: only the rows that are seen are elements, and further pages are asked for when they come near.
 * What a person looks at stays in its place: while the pointer or the focus is on a row, or the list is scrolled, sorted
 * or paused, new items wait above under a button. `data` of the element: `{of, name, fetch, row, key, kinds, height, label,
 * noun, empty, columns, narrow, sorting, sorted, moves}`; `row(item)` makes a link or a button; another `of` begins anew.
 */

import { h, show } from "./dom.js";
import { Asking } from "./list/asking.js";
import { bar } from "./list/bar.js";
import { WIDE, heads, spread } from "./list/columns.js";
import { Items } from "./list/items.js";
import { anchor, looksAt, range, reveal } from "./list/places.js";
import { rows } from "./list/rows.js";
import { place } from "./route.js";
import { store } from "./store.js";

/** How high a row with columns is; and after a scroll by how many rows they are drawn again: fewer than lie beyond what is seen. */
const LINE = 40;
const SOON = 4;

class List extends HTMLElement {
  own = new Set(["class", "tabindex", "style"]);
  data = null;
  #items = new Items();
  #paused = false;
  #asking = new Asking();
  /** where it was scrolled to when it was drawn last */
  #drawn = 0;
  /** whether something happened that is not shown, and whether something happened at all since they were asked for */
  #late = false;
  #aged = false;
  /** whether it is wanted from the beginning */
  #anew = false;
  /** the key of the row that had the focus last */
  #stop = null;
  #news = ({ detail }) => {
    const { kinds } = this.data;
    if (place().has("then")) return;
    if (kinds && !detail.has("*") && !kinds.some((kind) => detail.has(kind))) return;
    this.#aged = true;
    this.refresh();
  };

  #heard = [
    [store, "news", this.#news], [store, "then", () => this.refresh({ anew: true })], [WIDE, "change", () => this.#draw({ anchored: true })],
  ];

  connectedCallback() {
    this.#items.take(this.data);
    this.#ready();
    for (const [target, type, listener] of this.#heard) target.addEventListener(type, listener);
    this.refresh();
  }

  disconnectedCallback() {
    for (const [target, type, listener] of this.#heard) target.removeEventListener(type, listener);
  }

  #ready() {
    if (this.onscroll) return;
    this.onscroll = () => {
      if (Math.abs(this.scrollTop - this.#drawn) < SOON * this.#height) this.#more();
      else this.#scrolled();
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
    const opens = next.data.narrow && !this.data?.narrow;
    this.data = next.data;
    this.#items.take(this.data);
    if (!other) return this.#draw({ anchored: true, opens });
    this.#items.clear();
    [this.#asking.known, this.scrollTop, this.#stop] = [false, 0, null];
    this.refresh({ anew: true });
  }

  /** Asks again for the newest, and for those that are seen; `anew` where others may be older too. */
  refresh({ anew = false } = {}) {
    this.#anew ||= anew;
    return this.#ask(async () => {
      const fresh = this.#anew;
      this.#anew = false;
      if (fresh || !this.#held()) {
        await this.#items.renew({ anew: fresh });
        this.#late = false;
      } else {
        this.#late = true;
        await this.#items.hold({ still: this.#paused });
        if (this.#paused) return;
      }
      await this.#items.renewFrom(this.#first);
    });
  }

  /** Draws the rows that came in sight; they may have changed since they were asked for. */
  #scrolled() {
    this.#draw();
    if (this.#aged && !this.#asking.busy) this.#ask(() => this.#items.renewFrom(this.#first));
  }

  /** Shows what waits, from the top. */
  #catchUp({ detail }) {
    this.scrollTop = 0;
    this.refresh({ anew: true }).then(() => detail === 0 && this.enter());
  }

  #pause() {
    this.#paused = !this.#paused;
    this.#draw();
    this.#release();
  }

  /** True if a person looks at rows, which must not move. */
  #held() {
    if (!this.#items.all.length) return false;
    return this.#paused || this.data.sorted || this.scrollTop > 0 || looksAt(this) !== null;
  }

  #release() {
    if (this.#late && this.isConnected && !this.#held()) this.refresh();
  }

  async #ask(doing) {
    const { of } = this.data;
    if (!(await this.#asking.run(doing)) || !this.isConnected) return;
    const [again, anew] = [this.#asking.repeats(), of !== this.data.of];
    if (!anew) this.#draw({ anchored: true });
    if (again || anew) return this.refresh({ anew });
  }

  /** Asks for the next page where its rows come near; of a list that is not seen none does. */
  #more() {
    const end = this.#items.all.length * this.#height - this.clientHeight * 2;
    if (this.#items.next === null || this.#asking.busy || !this.clientHeight || this.scrollTop < end) return;
    this.#ask(() => this.#items.more());
  }

  /** The first row that is drawn. */
  get #first() {
    return range(this, this.#items.all.length, this.#height)[0];
  }

  get #wide() {
    return Boolean(this.data.columns) && WIDE.matches && !this.data.narrow;
  }

  /** How high a row is. */
  get #height() {
    return this.#wide ? LINE : this.data.height;
  }

  /** `anchored`: what a person looks at stays; `opens`: a row was opened, and stays in sight where the rows are higher now. */
  #draw({ anchored = false, opens = false } = {}) {
    const { label, empty } = this.data;
    const { failed, known } = this.#asking;
    if (failed) return show(this, h("p.empty", { role: "alert" }, failed.message));
    if (!known) return show(this, h("p.empty", "Loading …"));
    const { all } = this.#items;
    if (!all.length) return show(this, h("p.empty", empty ?? "Nothing yet."));
    const top = anchored ? anchor(this, this.#items, this.#height) : this.scrollTop;
    this.classList.toggle("wide", this.#wide);
    if (this.#wide) spread(this, this.data);
    const on = { paused: this.#paused, catchUp: (event) => this.#catchUp(event), pause: () => this.#pause() };
    show(this, bar(this.#items, this.data, on, this.#wide && heads(this, this.data)), h("ul.window", { "aria-label": label, style: { height: `${all.length * this.#height}px` } }, rows(this, this.#items, this.data, { height: this.#height, top, stop: this.#stop })));
    if (top !== this.scrollTop) this.scrollTop = top;
    if (opens) reveal(this, this.#items.indexOf(this.#stop), this.#height);
    this.#drawn = top;
    this.#more();
  }

  /** Moves the focus by so many rows; from elsewhere to the row that Tab leads to. */
  step(by) {
    const here = this.querySelector("li:focus-within");
    this.enter(here ? Number(here.getAttribute("aria-posinset")) - 1 + by : null);
  }

  /** Moves the focus to a row; to the one that had it last, where none is named. */
  enter(index = null) {
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
