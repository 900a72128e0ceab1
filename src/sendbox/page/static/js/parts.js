/** Parts that several views show. */

import { h, show } from "./dom.js";
import { icon } from "./icons.js";
import { say } from "./notes.js";
import { cut, tone } from "./words.js";

/** A result or a state as a mark. */
export const badge = (word, style = tone(word)) => h("span.badge", { class: style }, word);

/** A text of a client: whole where it is short; a long one can be opened. Its direction does not touch its neighbours. */
export function text(value, most = 2000) {
  const whole = String(value);
  if (whole.length <= most) return h("bdi.text", whole);
  return h("details.long", h("summary", h("bdi.text", cut(whole, 300)), h("span.quiet", ` ${whole.length.toLocaleString("en")} characters`)),
    h("bdi.text", cut(whole, 200_000)));
}

/** JSON for people to read. */
export function json(value, most = 20_000) {
  const pretty = typeof value === "string" ? indented(value) : JSON.stringify(value, null, 2);
  return h("pre.json", { tabindex: "0", role: "group", "aria-label": "JSON" }, cut(pretty, most));
}

function indented(value) {
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
}

/** A button that copies a text, or what a function answers; `about` is its whole name where there are several. */
export function copy(what, label = "Copy", about = null) {
  return h("button.small", {
    type: "button", "aria-label": about, class: typeof what === "string" && "local",
    onclick: async () => {
      try {
        await navigator.clipboard.writeText(typeof what === "function" ? await what() : what);
        say("Copied.");
      } catch (error) {
        say(error.name === "NotAllowedError" ? "This browser does not allow to copy here." : error.message, { bad: true });
      }
    },
  }, label);
}

/** A button that saves a text as a file. */
export function save(content, name, label) {
  return h("button.small.local", {
    type: "button",
    onclick: () => {
      const url = URL.createObjectURL(new Blob([content], { type: "text/plain" }));
      h("a", { href: url, download: name }).click();
      URL.revokeObjectURL(url);
    },
  }, label);
}

/**
 * A field to search by; it searches when a person has stopped typing for a moment, or at Enter. `complete(text)` answers the
 * texts that it may go on to, where a search has a grammar.
 */
export function searchBox({ value, label, hint, search, complete = null }) {
  let timer = null;
  const offers = (text) => complete(text).map((offer) => h("option", { value: offer }));
  const list = complete && h("datalist", { id: "search-words" }, offers(value));
  // it follows what is typed, whatever the address says
  if (list) list.take = () => {};
  return h("form.search", {
    role: "search",
    onsubmit: (event) => {
      event.preventDefault();
      search(event.target.elements.search.value.trim());
    },
  },
  icon("search"),
  h("input", {
    type: "search", name: "search", list: list?.id, value, placeholder: hint, title: hint, "aria-label": label, autocomplete: "off", spellcheck: "false",
    onfocus: ({ target }) => complete && show(target.list, offers(target.value)),
    oninput: (event) => {
      clearTimeout(timer);
      if (complete) show(event.target.list, offers(event.target.value));
      const from = location.search;
      // not where the person has gone elsewhere meanwhile
      timer = setTimeout(() => event.target.isConnected && location.search === from && search(event.target.value.trim()), 300);
    },
  }), list);
}

/** Pairs of a name and a value; pairs without a value are left out. */
export const facts = (pairs) =>
  h("dl.facts", pairs.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false)
    .map(([name, value]) => h("div", h("dt", name), h("dd", value))));

/**
 * A table that scrolls by itself; on a narrow page the cells of a row stand below each other, with their headings. A row is
 * a list of cells, each a value or `td` of its own, or a `tr` with a class of its own.
 */
export function table(label, headings, rows, { card = true } = {}) {
  const body = h("tbody", rows.map((row) => (Array.isArray(row) ? tr(row) : row)));
  for (const { children } of body.children) [...children].forEach((cell, index) => { cell.dataset.head = headings[index] ?? ""; });
  return h("div.scroll", { tabindex: "0", role: "group", "aria-label": label, class: card && "card" }, h("table",
    h("thead", h("tr", headings.map((heading) => h("th", { scope: "col" }, h("bdi", heading))))), body));
}

/** A row of a table: cells that are not elements of their own become `td`. */
export const tr = (cells, given = {}) =>
  h("tr", given, cells.map((cell) => (cell instanceof Element && cell.localName === "td" ? cell : h("td", cell))));

/** A link to an address that came from a client: http and https only, else its text. */
export function link(url, label = url) {
  const safe = /^https?:\/\//i.test(url);
  return safe ? h("a", { href: url, target: "_blank", rel: "noreferrer noopener" }, h("bdi", cut(label))) : h("bdi", cut(label));
}
