/**
 * A text with numbered lines: a real `textarea`, with numbers and marks of lines beside it and colours of lines behind it.
 * `data`: `{of, text, readonly, label, describedby, marks, line, changed, moved}`. Another `of` is another text; `marks` is a
 * map from lines to `{note, tone, title}`; `changed(text)` and `moved()` are called where a person types and moves.
 */

import { h, show } from "../dom.js";

/** The height of a line, and the space above the first, as in `css/scenario.css`. */
const HEIGHT = 20;
const ABOVE = 8;
/** What is a word at the cursor: a key, a value. */
const WORD_BEFORE = /[^\s,:{}[\]]*$/;
const WORD_AFTER = /^[^\s,:{}[\]]*/;

class Editor extends HTMLElement {
  own = new Set(["class"]);
  data = {};
  #lines = 1;
  #numbers = h("div.editor-numbers", { "aria-hidden": "true" });
  #behind = h("div.editor-behind", { "aria-hidden": "true" });
  #area = h("textarea.editor-area", { wrap: "off", spellcheck: "false", autocomplete: "off", autocapitalize: "off" });

  connectedCallback() {
    if (!this.firstChild) this.#build();
    this.#begin();
  }

  #build() {
    this.append(this.#numbers, h("div.editor-text", this.#behind, this.#area));
    this.#area.addEventListener("input", () => {
      this.#count();
      this.#draw();
      this.data.changed?.(this.#area.value);
    });
    this.#area.addEventListener("scroll", () => this.#draw());
    for (const type of ["keyup", "click", "focus"]) this.#area.addEventListener(type, () => this.data.moved?.());
    this.#area.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#draw()).observe(this);
  }

  take(next) {
    const other = next.data.of !== this.data.of || (next.data.readonly && next.data.text !== this.data.text);
    const line = next.data.line !== this.data.line ? next.data.line : null;
    this.data = next.data;
    if (other) this.#begin();
    else this.#dress();
    if (line && !other) this.goto(line);
  }

  #begin() {
    this.#area.value = this.data.text;
    this.#area.setSelectionRange(0, 0);
    this.#count();
    this.#dress();
    if (this.data.line) this.goto(this.data.line, 1, { focus: false });
  }

  #dress() {
    const { readonly, label, describedby, bad } = this.data;
    this.#area.readOnly = Boolean(readonly);
    this.#area.setAttribute("aria-label", label);
    if (describedby) this.#area.setAttribute("aria-describedby", describedby);
    this.#area.setAttribute("aria-invalid", String(Boolean(bad)));
    this.#draw();
  }

  #count() {
    this.#lines = this.#area.value.split("\n").length;
  }

  /** The lines that are seen: their numbers and marks. */
  #draw() {
    const { scrollTop, clientHeight } = this.#area;
    const { marks = new Map(), line } = this.data;
    const first = Math.max(0, Math.floor((scrollTop - ABOVE) / HEIGHT));
    const last = Math.min(this.#lines, Math.ceil((scrollTop + clientHeight) / HEIGHT));
    const numbers = [];
    const colours = [];
    for (let number = first + 1; number <= last; number += 1) {
      const mark = marks.get(number);
      const style = { top: `${ABOVE + (number - 1) * HEIGHT - scrollTop}px` };
      numbers.push(h("div", { style, class: mark?.tone, title: mark?.title }, mark && h("span", mark.note), h("b", number)));
      if (mark || number === line) colours.push(h("div", { style, class: mark?.tone ?? "here" }));
    }
    show(this.#numbers, numbers);
    show(this.#behind, colours);
  }

  get text() {
    return this.#area.value;
  }

  /** Where the cursor stands: `{line, column}`, which count from 1. */
  get cursor() {
    const before = this.#area.value.slice(0, this.#area.selectionStart);
    const begin = before.lastIndexOf("\n") + 1;
    return { line: before.split("\n").length, column: before.length - begin + 1 };
  }

  /** Moves the cursor to a place, and shows it. */
  goto(line, column = 1, { focus = true } = {}) {
    const lines = this.#area.value.split("\n");
    const row = Math.min(line, lines.length) - 1;
    const begin = lines.slice(0, row).reduce((sum, each) => sum + each.length + 1, 0);
    const at = begin + Math.min(column - 1, lines[row].length);
    if (focus) this.#area.focus();
    this.#area.setSelectionRange(at, at);
    this.#area.scrollTop = Math.max(0, row * HEIGHT - this.#area.clientHeight / 3);
    this.#draw();
    if (focus) this.data.moved?.();
  }

  /** Sets the whole text, as a person would who selects all: it can be undone. */
  replace(text) {
    this.#area.select();
    this.#type(text);
    this.goto(1);
  }

  /** Puts a word in place of that at the cursor; `key`: as a key, with its colon. */
  insert(word, { key = false } = {}) {
    const { value, selectionStart: at } = this.#area;
    const begin = value.lastIndexOf("\n", at - 1) + 1;
    const end = value.indexOf("\n", at) < 0 ? value.length : value.indexOf("\n", at);
    const before = WORD_BEFORE.exec(value.slice(begin, at))[0];
    const after = WORD_AFTER.exec(value.slice(at, end))[0];
    const head = value.slice(begin, at - before.length);
    const dash = before === "-" ? before : "";
    const blank = dash || head.endsWith(":") ? " " : "";
    const colon = key && !/^\s*:/.test(value.slice(at + after.length, end)) ? ": " : "";
    this.#area.focus();
    this.#area.setSelectionRange(at - before.length, at + after.length);
    this.#type(`${dash}${blank}${word}${colon}`);
    this.data.moved?.();
  }

  #type(text) {
    // the one way that keeps the browser's undo
    if (document.execCommand("insertText", false, text)) return;
    this.#area.setRangeText(text, this.#area.selectionStart, this.#area.selectionEnd, "end");
    this.#area.dispatchEvent(new Event("input"));
  }

  #key(event) {
    if (this.data.readonly) return;
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      this.data.legal?.();
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.isComposing) {
      event.preventDefault();
      const { value, selectionStart: at } = this.#area;
      const line = value.slice(value.lastIndexOf("\n", at - 1) + 1, at);
      const indent = /^\s*/.exec(line)[0].length + (/^\s*- .*\S/.test(line) ? 2 : 0) + (/:\s*$/.test(line) ? 2 : 0);
      this.#type(`\n${" ".repeat(indent)}`);
    }
  }
}

customElements.define("sb-editor", Editor);
