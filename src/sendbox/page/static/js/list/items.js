/** The items of a list as they are shown, the pages that they came in, and how many newer ones wait above them. */

export class Items {
  all = [];
  /** the cursor of the page behind the last item, null where there is none */
  next = null;
  /** how many there are on all pages, and how many came since these were shown; null and 0 where that is not known */
  total = null;
  waiting = 0;
  /** whether some of them would stand elsewhere now: only of a list that is sorted */
  moved = false;
  #data;
  #cursors = new Map();

  /**
   * `fetch(cursor)` answers `{items, next, total}`; `key(item)` names an item; `sorted`: not the newest first; `moves`: an item
   * moves up when something happens to it.
   */
  take(data) {
    this.#data = data;
  }

  clear() {
    [this.all, this.next, this.total, this.waiting, this.moved] = [[], null, null, 0, false];
    this.#cursors.clear();
  }

  indexOf(name) {
    return this.all.findIndex((item) => String(this.#data.key(item)) === name);
  }

  /** The newest as they are now; what lies behind them stays, but not `anew`. */
  async renew({ anew }) {
    const { key } = this.#data;
    const head = await this.#page(null);
    if (anew) this.#begin(head);
    const fresh = new Set(head.items.map(key));
    const last = head.items.length ? key(head.items.at(-1)) : null;
    const meets = this.all.findIndex((item) => key(item) === last);
    if (meets >= 0 && this.all.length > head.items.length) {
      this.all = [...head.items, ...this.all.slice(meets + 1).filter((item) => !fresh.has(key(item)))];
    } else {
      [this.all, this.next] = [head.items, head.next];
    }
    [this.total, this.waiting] = [head.total, 0];
  }

  /** Counts what came, and brings what is shown up to date where it stands; nothing moves. */
  async hold({ still }) {
    const head = await this.#page(null);
    if (!still && this.#isAnother(head)) return this.#begin(head);
    if (!still) this.#update(head);
    this.waiting = this.#newer(head);
    this.#compare(head, 0);
  }

  /** Notes whether a page of a sorted list has other items than those that are shown from `first` on. */
  #compare({ items }, first) {
    const { key, sorted } = this.#data;
    const present = this.all.slice(first, first + items.length).map(key);
    if (sorted && items.some((item, index) => key(item) !== present[index])) this.moved = true;
  }

  /** True if nothing of what is shown is left: the world began anew, or nothing fits any more. */
  #isAnother({ items, next, total }) {
    const isLess = total !== null && this.total !== null && total < this.total;
    return (isLess || next === null) && this.#unknown(items) === items.length;
  }

  /** The first page is all that is known. */
  #begin(head) {
    this.clear();
    [this.all, this.next, this.total] = [head.items, head.next, head.total];
    this.#keep(head);
  }

  /** How many of the newest would stand above those that are shown. */
  #newer({ items, total }) {
    const { key, sorted } = this.#data;
    const more = total === null || this.total === null ? 0 : Math.max(0, total - this.total);
    if (sorted || !this.all.length) return more;
    const first = key(this.all[0]);
    const above = items.findIndex((item) => key(item) === first);
    return Math.max(more, above >= 0 ? above : this.#unknown(items));
  }

  #unknown(items) {
    const { key } = this.#data;
    const known = new Set(this.all.map(key));
    return items.filter((item) => !known.has(key(item))).length;
  }

  /** Items that are shown, as they are now; those that should be among them and are not any more, go. */
  #update({ items, next }) {
    const { key, sorted, moves } = this.#data;
    const fresh = new Map(items.map((item) => [key(item), item]));
    // those of a list whose items move up may have left the first page, and are there all the same
    const last = sorted || moves ? -1 : this.all.findLastIndex((item) => fresh.has(key(item)));
    const until = next === null ? this.all.length : last;
    const rest = this.all.filter((item, index) => index > until || fresh.has(key(item))).map((item) => fresh.get(key(item)) ?? item);
    if (this.total !== null) this.total -= this.all.length - rest.length;
    this.all = rest;
  }

  /** Brings the items from `index` on up to date, where they lie behind the first page. */
  async renewFrom(index) {
    const { key } = this.#data;
    let first = Math.min(index, this.all.length - 1);
    while (first > 0 && !this.#cursors.has(key(this.all[first - 1]))) first -= 1;
    if (first <= 0) return;
    const page = await this.#page(this.#cursors.get(key(this.all[first - 1])));
    this.#compare(page, first);
    const fresh = new Map(page.items.map((item) => [key(item), item]));
    this.all = this.all.map((item) => fresh.get(key(item)) ?? item);
  }

  /** The page behind the last item. */
  async more() {
    const { key } = this.#data;
    const page = await this.#page(this.next);
    const known = new Set(this.all.map(key));
    this.all.push(...page.items.filter((item) => !known.has(key(item))));
    this.next = page.next;
  }

  async #page(cursor) {
    const { items, next, total = null } = await this.#data.fetch(cursor);
    this.#keep({ items, next });
    return { items, next, total };
  }

  #keep({ items, next }) {
    if (items.length && next) this.#cursors.set(this.#data.key(items.at(-1)), next);
  }
}
