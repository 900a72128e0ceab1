/** Try it: send a message or a code as a client would, and see the answer, the remarks, and the request as code. */

import { call, path } from "../api.js";
import { h } from "../dom.js";
import { store } from "../store.js";
import { answer, numbers, preview } from "../trying/answer.js";
import { ask } from "../trying/client.js";
import { codeForms } from "../trying/code.js";
import { bodyOf, draft } from "../trying/draft.js";
import { fields } from "../trying/fields.js";
import { Remarks, remarksOf } from "../trying/remarks.js";
import { View, act } from "../view.js";
import { tone } from "../words.js";

/** A number that is delivered, until the person chooses another. */
const FIRST = "420777000101";

class Try extends View {
  static kinds = ["transition", "refusal", "fallback", "template", "clock"];
  #draft = draft(this.field("to") ?? FIRST);
  #tried = null;
  #language = "curl";
  #code = null;
  #verify = { number: FIRST, code: "", asked: null, checked: null };
  #numbers = null;
  #busy = false;

  moved() {
    this.#draft.to = this.field("to") ?? this.#draft.to;
    this.reload();
  }

  async load() {
    this.#numbers ??= (await call("GET", path("numbers"))).numbers;
    const ids = (this.#tried?.json?.accepted ?? []).slice(0, 10).map(({ message_id: id }) => id).filter(Boolean);
    const [{ templates }, ...messages] = await Promise.all([
      this.world.get("account"), ...ids.map((id) => this.world.get(["messages", id])),
    ]);
    return { templates: templates.slice(0, 200), messages };
  }

  /** Sends a request, and finds what was remarked on it. */
  async #ask(interfaceName, address, body) {
    const answered = await ask(interfaceName, address, body, this.world.id);
    const entry = answered.entry === null ? null : await this.world.get(["journal", answered.entry]);
    return { ...answered, remarks: remarksOf(entry) };
  }

  async #send(templates) {
    if (this.#busy) return;
    this.#busy = true;
    const sent = await act(() => this.#ask("base_url", "/message", bodyOf(this.#draft, templates)));
    this.#busy = false;
    if (!sent) return;
    this.#tried = sent;
    await this.#choose(this.#language);
    await this.reload();
    this.querySelector("#try-answer")?.focus();
  }

  async #choose(language) {
    this.#language = language;
    const { entry } = this.#tried;
    const text = entry === null ? null : await act(() => this.world.get(["requests", entry, "export"], { as: language }));
    this.#code = text?.text ?? null;
    this.redraw();
  }

  async #verifying(doing) {
    if (this.#busy) return;
    this.#busy = true;
    await act(doing);
    this.#busy = false;
    this.redraw();
  }

  draw({ templates, messages }) {
    const change = (changes) => {
      Object.assign(this.#draft, changes);
      this.redraw();
    };
    const clock = store.info?.clock;
    const waits = !this.readOnly && clock?.mode === "manual" && clock.next_due !== null && messages.some(({ result }) => tone(result) === "way" || result === "accepted");
    const found = new Remarks(this.#tried?.remarks);
    const form = fields({ draft: this.#draft, templates, found, change });
    return h("div.page",
      h("h1", "Try it"),
      h("p.lead", "Send a request to the emulated service, as a client with the key of this world does."),
      h("div.try-columns",
        h("div",
          h("form.card.padded", {
            "aria-label": "Message",
            onsubmit: (event) => {
              event.preventDefault();
              this.#send(templates);
            },
          },
          h("h2", "Send a message"),
          form,
          h("div.actions", h("button.first", { type: "submit", disabled: this.readOnly }, "Send"), h("button.small.local", {
            type: "button", onclick: () => change({ raw: this.#draft.raw === null ? JSON.stringify(bodyOf(this.#draft, templates), null, 2) : null }),
          }, this.#draft.raw === null ? "Write the body as JSON" : "Back to the form"))),
          h("div.card.padded.after", numbers(this.#numbers, (to) => change({ to })))),
        h("div",
          h("section.card.padded", { "aria-label": "Result" }, this.#tried
            ? answer({ tried: this.#tried, rest: found.rest, messages, code: this.#code, language: this.#language, waits }, {
              choose: (language) => this.#choose(language),
              move: () => act(() => this.world.post("clock/advance", { until: "idle" }), "Everything that was due has happened."),
            })
            : preview(bodyOf(this.#draft, templates))),
          this.#codes())));
  }

  #codes() {
    const state = this.#verify;
    return codeForms(state, this.readOnly, {
      change: (changes) => {
        Object.assign(state, changes);
        this.redraw();
      },
      ask: () => this.#verifying(async () => {
        const { number } = state;
        state.asked = { ...await this.#ask("verify_url", "/v1/validations", { phoneNumber: number }), number };
        [state.checked, state.code] = [null, ""];
      }),
      check: () => this.#verifying(async () => {
        const { token } = state.asked.json;
        state.checked = await this.#ask("verify_url", `/v1/validations/${encodeURIComponent(token)}/verify`, { code: state.code });
      }),
    });
  }
}

customElements.define("sb-try", Try);
