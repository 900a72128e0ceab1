/** The scenario of a world: the file in effect and what its rules did, and an editor that changes it. */

import "../scenario/checked.js";
import "../scenario/editor.js";
import { call, path } from "../api.js";
import { sure } from "../dialog.js";
import { h } from "../dom.js";
import { badge, copy, facts, save, text } from "../parts.js";
import { go, viewOf } from "../route.js";
import { drafts } from "../scenario/drafts.js";
import { marks, table } from "../scenario/rules.js";
import { View, act, say } from "../view.js";
import { count, when } from "../words.js";

let library = null;

class Scenario extends View {
  #applied = null;

  /** While one writes, only what changes the scenario itself matters. */
  news(kinds) {
    if (!this.field("edit") || ["*", "control", "reset"].some((kind) => kinds.has(kind))) super.news(kinds);
  }

  async load() {
    library ??= call("GET", path("scenarios")).catch(() => ({ scenarios: [] }));
    return { scenario: await this.world.get("scenario"), library: (await library).scenarios };
  }

  draw({ scenario, library: stories }) {
    const editing = this.field("edit") !== null && !this.readOnly;
    const to = (label, fields, on) => h("a", { href: viewOf("scenario", fields), "aria-current": on ? "true" : null }, label);
    return h("div.page.scenario",
      h("h1", "Scenario"),
      facts([
        ["Name", text(scenario.name, 200)], ["Given as", scenario.given], ["Seed", text(scenario.settings.seed)],
        ["Started", when(scenario.settings.started)], ["Clock", scenario.settings.clock.mode],
      ]),
      scenario.at_reset.length > 0 && h("p.scenario-waits", "Waits for the next reset: ",
        scenario.at_reset.map((part) => [h("code", part), " "])),
      !this.readOnly && h("nav.report-choice", { "aria-label": "What is shown" }, to("In effect", {}, !editing), to("Edit", { edit: "1" }, editing)),
      editing ? this.#edit(scenario, stories) : this.#effect(scenario));
  }

  #effect(scenario) {
    const fired = scenario.rules.filter((rule) => rule.fired).length;
    const file = this.field("of");
    const foreign = file !== null && scenario.rules.some(({ of, place }) => of !== "scenario" && place?.split("/").at(-1).startsWith(`${file}:`));
    return [
      h("h2", "The text in effect"),
      foreign && h("p.scenario-waits", "Line ", this.field("line"), " is not one of this text: it is in ", h("bdi.mono", file), ", on which this text builds."),
      h("div.actions", copy(scenario.text, "Copy text"), save(scenario.text, "scenario.yaml", "Save as YAML")),
      h("sb-editor", { key: "effect", class: "effect", data: {
        of: "effect", text: scenario.text, readonly: true, label: "Scenario in effect", marks: marks(scenario.rules),
        line: foreign ? null : Number(this.field("line")) || null,
      } }),
      h("h2", `Rules: ${fired} of ${scenario.rules.length} decided something`),
      table(scenario.rules, { remove: this.readOnly ? null : (id) => this.#remove(id) }),
    ];
  }

  async #remove(id) {
    await act(() => this.world.remove(["rules", id]), "The rule is removed.");
    this.reload();
  }

  #edit(scenario, stories) {
    const { id } = this.world;
    return [
      h("form.actions", {
        onsubmit: (event) => {
          event.preventDefault();
          this.#start(event.target.elements.from.value, scenario.text);
        },
      }, h("label", { for: "scenario-from" }, "Start from"),
      h("select", { id: "scenario-from", name: "from" }, h("option", { value: "" }, "the scenario in effect"),
        stories.map(({ name, title }) => h("option", { value: name }, title ? `${name}: ${title}` : name))),
      h("button", "Take its text")),
      h("sb-checked", { key: "edit", data: {
        of: id, text: drafts.get(id) ?? scenario.text,
        changed: (written) => drafts.set(id, written), apply: (written, reset) => this.#apply(written, reset),
      } }),
      h("div.actions.scenario-apply",
        h("button.first", { type: "button", onclick: () => this.#checked.apply(false) }, "Apply to this world"),
        h("button", { type: "button", onclick: () => this.#reset() }, "Apply and reset the world"),
        h("span.quiet", "Without a reset its rules and expectations hold at once, everything else from the next reset on.")),
      h("div.scenario-applied", { role: "status" }, this.#applied && this.#said(this.#applied)),
    ];
  }

  get #checked() {
    return this.querySelector("sb-checked");
  }

  /** Puts another text into the editor; what stood there comes back by undo. */
  async #start(name, present) {
    const answer = name ? await act(() => call("GET", path("scenarios", name))) : { text: present };
    if (answer) this.#checked.editor.replace(answer.text);
  }

  async #reset() {
    const words = "The world begins anew with this scenario: messages, phones, webhooks and the journal are gone.";
    if (await sure("Apply and reset?", words, "Apply and reset")) this.#checked.apply(true);
  }

  async #apply(written, reset) {
    try {
      this.#applied = { ...await this.world.put("scenario", written, reset ? { reset: "true" } : {}), reset };
    } catch (error) {
      this.#applied = null;
      this.redraw();
      if (error.detail?.problems) return error.detail.problems;
      say(error.message, { bad: true });
      return null;
    }
    drafts.delete(this.world.id);
    this.reload();
    return null;
  }

  #said({ applied, at_reset: later, reset }) {
    const parts = (names) => names.map((name) => [h("code", name), " "]);
    return h("div.card.padded",
      h("p", badge("applied", "good"), reset ? " The world began anew with it. " : " ",
        applied.length ? ["Holds now: ", parts(applied)] : "Nothing differs that holds now."),
      later.length > 0 && h("p", "Waits for the next reset: ", parts(later)),
      h("p", h("button.small", { type: "button", onclick: () => go(viewOf("scenario")) }, "Show the text in effect"),
        later.length > 0 && h("span.quiet", ` ${count(later.length, "part")} of the text ${later.length === 1 ? "is" : "are"} not in force yet`)));
  }
}

customElements.define("sb-scenario", Scenario);
