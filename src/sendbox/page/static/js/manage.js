/** What can be done with a whole world, in a dialog: checkpoints, reset, close. */

import { call, path } from "./api.js";
import { dialog, sure } from "./dialog.js";
import { h } from "./dom.js";
import { instant } from "./moving.js";
import { facts } from "./parts.js";
import { address, go, place } from "./route.js";
import { act, say } from "./view.js";
import { when } from "./words.js";

/** Opens the dialog of a world. */
export async function manage(id) {
  const here = path("worlds", id);
  const state = { world: null };
  const again = dialog(id, (close) => (state.world ? drawn(id, state.world, { refresh, close }) : h("p.quiet", "Loading …")));

  async function refresh() {
    state.world = (await act(() => call("GET", here))) ?? state.world;
    again();
  }
  await refresh();
}

function drawn(id, world, { refresh, close }) {
  const here = path("worlds", id);
  const button = (label, doing, more = {}) => h("button", { type: "button", onclick: doing, ...more }, label);
  const taken = world.checkpoints;
  const past = place().get("world") === id && place().has("then");
  const readOnly = past || world.closed;

  async function take(event) {
    event.preventDefault();
    const { name } = event.target.elements;
    const done = (answer) => `The checkpoint “${answer.name}” has the world as it is at ${when(answer.at)}.`;
    if (await act(() => call("PUT", path("worlds", id, "checkpoints", name.value.trim())), done)) name.value = "";
    refresh();
  }

  async function restore({ name, at }) {
    const text = `The world goes back to ${when(at)}. What came after it is gone.`;
    if (!await sure(`Restore “${name}”?`, text, "Restore")) return;
    await act(() => call("POST", path("worlds", id, "checkpoints", name), { body: {} }), `“${name}” is restored.`);
    refresh();
  }

  async function reset() {
    const text = "It begins anew at its start: messages, phones, webhooks and the journal are gone. Checkpoints stay.";
    if (!await sure(`Reset ${id}?`, text, "Reset")) return;
    await act(() => call("POST", `${here}/reset`, { body: {} }), `${id} begins anew.`);
    refresh();
  }

  async function end() {
    const text = "Nothing can happen in it any more, and its key is refused until the world is opened again.";
    if (!await sure(`Close ${id}?`, text, "Close the world")) return;
    if (await act(() => call("DELETE", here), `${id} is closed.`)) {
      close();
      if (place().get("world") === id) go(address({}, []));
    }
  }

  return [
    facts([
      ["Scenario", h("bdi", world.scenario)], ["Seed", String(world.seed)], ["Started", when(world.started)],
      ["Clock", `${when(world.clock.now)}, ${world.clock.mode}`], ["Messages", world.messages.toLocaleString("en")],
      ["Epoch", world.epoch ? String(world.epoch) : null],
    ]),
    h("h3", "Checkpoints"),
    h("p.quiet", "A checkpoint keeps the present state. Restoring it is how time goes back."),
    taken.length > 0 && h("ul.manage-taken", { "aria-label": "Checkpoints" }, taken.map((checkpoint) =>
      h("li", { key: checkpoint.name }, h("bdi", checkpoint.name), h("span.quiet", when(checkpoint.at)),
        !readOnly && h("button.small", { type: "button", onclick: () => restore(checkpoint), "aria-label": `Restore ${checkpoint.name}` }, "Restore")))),
    readOnly ? h("p", past ? "This world is shown as it was. Return to the present to change it." : "This world is closed, and can only be looked at.") : h("form.manage-take", { onsubmit: take },
      h("input", { name: "name", required: true, maxlength: 100, pattern: "[^\\/]*", title: "A name without a slash", placeholder: "before the campaign", "aria-label": "Name of a checkpoint", autocomplete: "off" }),
      h("button", "Take a checkpoint")),
    !readOnly && h("div.actions.manage-end",
      place().get("world") !== id && h("a.button", { href: address({ world: id }, []), onclick: close }, "Show"),
      button("Reset", reset),
      button("Close the world", end, { class: "danger" })),
  ];
}

/** A form that opens a world; `opened` is called with its id. */
export function opening(opened) {
  const field = (label, input, hint) => {
    const id = `opening-${input.name}`;
    input.id = id;
    if (hint) input.setAttribute("aria-describedby", `${id}-hint`);
    return h("div.field", h("label", { for: id }, label), input, hint && h("span.quiet", { id: `${id}-hint` }, hint));
  };
  dialog("Open a world", (close) => h("form", {
    onsubmit: async (event) => {
      event.preventDefault();
      const given = Object.fromEntries([...new FormData(event.target)].map(([name, value]) => [name, value.trim()]));
      const { id, seed, mode, start } = given;
      const scenario = given.text || given.scenario;
      const clock = { ...(mode && { mode }), ...(start && { start: instant(start) }) };
      const body = { ...(id && { id }), ...(scenario && { scenario }), ...(seed && { seed: numbered(seed) }), clock };
      const world = await act(() => call("POST", path("worlds"), { body }), (answer) => `${answer.id} is open.`);
      if (!world) return;
      close();
      opened(world.id);
    },
  },
  field("Id, which is the API key", h("input", { name: "id", placeholder: "test-shop", autocomplete: "off", spellcheck: "false" }), "Without it the world gets a new key."),
  field("Scenario of the library", h("select", { name: "scenario" }, h("option", { value: "" }, "that of the server"), h("option", { value: "", disabled: true }, "…"))),
  h("details.field", h("summary", "or a scenario as text"),
    h("textarea", { name: "text", rows: 8, "aria-label": "Scenario as text", spellcheck: "false", placeholder: "sendbox: 1\nextends: default\n" })),
  h("div.manage-pair",
    field("Clock", h("select", { name: "mode" }, ["", "manual", "auto", "real"].map((mode) => h("option", { value: mode }, mode || "as the server")))),
    field("Start", h("input", { name: "start", placeholder: "2026-03-01", autocomplete: "off" })),
    field("Seed", h("input", { name: "seed", placeholder: "0", autocomplete: "off" }))),
  h("div.actions", h("button.first", "Open"))));
  fill();
}

/** The scenarios of the library, in the form that is open. */
async function fill() {
  try {
    const { scenarios } = await call("GET", path("scenarios"));
    const list = document.querySelector("dialog[open] select[name=scenario]");
    list?.lastChild.remove();
    list?.append(...scenarios.map(({ name, title }) => h("option", { value: name }, title ? `${name}: ${title}` : name)));
  } catch (error) {
    say(error.message, { bad: true });
  }
}

/** A seed is a number where it looks like one: `7` and "7" draw differently. */
const numbered = (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text);
