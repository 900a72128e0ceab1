/** The form of a message: whom it goes to, its text, its channels in their order. */

import { h } from "../dom.js";
import { blanksOf, CHANNELS, step, templateOf, titleOf, worded } from "./draft.js";
import { remarks } from "./remarks.js";

/** The paths of the fields of a draft in its request, by which remarks find them. */
export const pathsOf = ({ steps }) => [
  "$.to", "$.body", "$.tag", "$.sender", "$.params", "$.flow",
  ...steps.flatMap(({ channel }, at) => ["", ".sender", ".ttl", ".buttons", ".params", ".params_header", ".params_buttons", ".template_name"]
    .map((field) => `$.flow[${at}].${channel}${field}`)),
];

/** A field with its label, and what was remarked on it. */
export function field(label, path, at, control) {
  const list = at?.get(path);
  const id = `try-${path.replace(/\W+/g, "-")}`;
  control.id = id;
  if (list?.length) {
    control.setAttribute("aria-describedby", `${id}-remarks`);
    if (list.some(({ tone }) => tone === "bad")) control.setAttribute("aria-invalid", "true");
  }
  return h("div.field", h("label", { for: id }, label), control, remarks(list, `${id}-remarks`));
}

/** The fields. `change(changes)` changes the draft and draws again. */
export function fields({ draft, templates, places, change }) {
  const typed = (name) => ({ value: draft[name], oninput: (event) => change({ [name]: event.target.value }) });
  return [
    field("To", "$.to", places, h("input", { ...typed("to"), name: "to", inputmode: "tel", autocomplete: "off", required: true, placeholder: "420777000101, several with commas" })),
    worded(draft) && field("Text", "$.body", places, h("textarea", { ...typed("body"), name: "body", rows: 3 })),
    draft.steps.map((one, at) => oneStep(one, at, draft, templates, places, change)),
    remarks(places?.get("$.flow")),
    h("div.actions", h("button.small", {
      type: "button",
      onclick: () => change({ steps: [...draft.steps, step(draft.steps.some(({ channel }) => channel === "sms") ? "richmsg" : "sms")] }),
    }, "Add a fallback")),
    h("div.try-pair",
      field("Tag", "$.tag", places, h("input", { ...typed("tag"), name: "tag", autocomplete: "off", placeholder: "promotional" })),
      worded(draft) && h("div.field", h("label.try-check", h("input", {
        type: "checkbox", checked: draft.shorten, onchange: (event) => change({ shorten: event.target.checked }),
      }), "Shorten links"), remarks(places?.get("$.params")))),
  ];
}

function oneStep(one, at, draft, templates, places, change) {
  const last = at === draft.steps.length - 1;
  const alter = (changes) => change({ steps: draft.steps.map((other, index) => (index === at ? { ...other, ...changes } : other)) });
  const typed = (name) => ({ value: one[name], autocomplete: "off", oninput: (event) => alter({ [name]: event.target.value }) });
  const { template: templated, buttons } = CHANNELS[one.channel];
  const path = `$.flow[${at}].${one.channel}`;
  return h("fieldset.try-step", { key: `step ${at}` },
    h("legend", at ? `Fallback ${draft.steps.length > 2 ? at : ""}` : "Channel"),
    h("div.try-pair",
      field(at ? "Then by" : "By", path, places, h("select", {
        value: one.channel, onchange: (event) => alter({ ...step(event.target.value), ttl: one.ttl }),
      }, Object.entries(CHANNELS).map(([name, { title }]) => h("option", { value: name, selected: name === one.channel }, title)))),
      field("Sender", draft.steps.length === 1 && one.channel === "sms" ? "$.sender" : `${path}.sender`, places, h("input", { ...typed("sender"), placeholder: "the account's" }))),
    templated && template(one, path, templates, places, alter),
    buttons && h("div.try-pair",
      field("Button", `${path}.buttons`, places, h("input", { ...typed("title"), placeholder: "none" })),
      one.title !== "" && field("Its address", `${path}.buttons[0].url`, places, h("input", { ...typed("url"), type: "url", placeholder: "https://" }))),
    !last && field("Minutes before the next channel is used", `${path}.ttl`, places, h("input", { ...typed("ttl"), type: "number", min: 0.5, step: "any", placeholder: "only when this one fails" })),
    draft.steps.length > 1 && h("button.small", {
      type: "button", onclick: () => change({ steps: draft.steps.filter((_, index) => index !== at) }),
    }, "Remove", h("span.sr", ` ${CHANNELS[one.channel].title}`)));
}

function template(one, path, templates, places, alter) {
  if (!templates.length) return h("p.quiet", "The account has no templates.");
  const chosen = templateOf(templates, one.template);
  return [
    field("Template", `${path}.template_name`, places, h("select", { onchange: (event) => alter({ template: event.target.value, values: {} }) },
      templates.map((known) => h("option", { value: titleOf(known), selected: known === chosen }, `${titleOf(known)}, ${known.status}`)))),
    blanksOf(chosen).map((blank) => field(blank.label, `${path}.${blank.of} ${blank.id}`, places, h("input", {
      value: one.values[blank.id] ?? "", autocomplete: "off", oninput: (event) => alter({ values: { ...one.values, [blank.id]: event.target.value } }),
    }))),
    ["params", "params_header", "params_buttons"].map((name) => remarks(places?.get(`${path}.${name}`))),
  ];
}
