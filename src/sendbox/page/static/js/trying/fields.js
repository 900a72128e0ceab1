/** The form of a message: whom it goes to, its text, its channels in their order. */

import { h } from "../dom.js";
import { blanksOf, CHANNELS, step, templateOf, titleOf, worded } from "./draft.js";
import { remarks } from "./remarks.js";

/** A field with its label, and what was remarked on it: `path` is its place in the request. */
export function field(label, path, found, control) {
  const list = found.take(path);
  const id = `try-${path.replace(/\W+/g, "-")}`;
  control.id = id;
  if (list.length) {
    control.setAttribute("aria-describedby", `${id}-remarks`);
    if (list.some(({ tone }) => tone === "bad")) control.setAttribute("aria-invalid", "true");
  }
  return h("div.field", h("label", { for: id }, label), control, remarks(list, `${id}-remarks`));
}

/** The fields. `found` has the remarks on the request that was sent; `change(changes)` changes the draft and draws again. */
export function fields({ draft, templates, found, change }) {
  const typed = (name) => ({ value: draft[name], oninput: (event) => change({ [name]: event.target.value }) });
  if (draft.raw !== null) {
    return field("Body as JSON", "$", found, h("textarea.mono", { ...typed("raw"), name: "raw", rows: 16, spellcheck: "false" }));
  }
  return [
    field("To", "$.to", found, h("input", { ...typed("to"), name: "to", inputmode: "tel", autocomplete: "off", required: true, placeholder: "420777000101, 420777000102" })),
    worded(draft) && field("Text", "$.body", found, h("textarea", { ...typed("body"), name: "body", rows: 3 })),
    draft.steps.map((one, at) => oneStep(one, at, draft, templates, found, change)),
    remarks(found.take("$.flow")),
    h("div.actions", h("button.small", {
      type: "button",
      onclick: () => change({ steps: [...draft.steps, step(draft.steps.some(({ channel }) => channel === "sms") ? "richmsg" : "sms")] }),
    }, "Add a fallback")),
    h("div.try-pair",
      field("Tag", "$.tag", found, h("input", { ...typed("tag"), name: "tag", autocomplete: "off", placeholder: "promotional" })),
      worded(draft) && h("div.field", h("label.try-check", h("input", {
        type: "checkbox", checked: draft.shorten, onchange: (event) => change({ shorten: event.target.checked }),
      }), "Shorten links"), remarks(found.take("$.params")))),
  ];
}

function oneStep(one, at, draft, templates, found, change) {
  const last = at === draft.steps.length - 1;
  const alter = (changes) => change({ steps: draft.steps.map((other, index) => (index === at ? { ...other, ...changes } : other)) });
  const typed = (name) => ({ value: one[name], autocomplete: "off", oninput: (event) => alter({ [name]: event.target.value }) });
  const { template: templated, buttons } = CHANNELS[one.channel];
  const path = `$.flow[${at}].${one.channel}`;
  return h("fieldset.try-step", { key: `step ${at}` },
    h("legend", at ? `Fallback ${draft.steps.length > 2 ? at : ""}` : "Channel"),
    h("div.try-pair",
      h("div.field", h("label", { for: `try-channel-${at}` }, at ? "Then by" : "By"), h("select", {
        id: `try-channel-${at}`, value: one.channel, onchange: (event) => alter({ ...step(event.target.value), ttl: one.ttl }),
      }, Object.entries(CHANNELS).map(([name, { title }]) => h("option", { value: name, selected: name === one.channel }, title)))),
      field("Sender", draft.steps.length === 1 && one.channel === "sms" ? "$.sender" : `${path}.sender`, found, h("input", { ...typed("sender"), placeholder: "The account's" }))),
    templated && template(one, path, templates, found, alter),
    buttons && h("div.try-pair",
      field("Button", `${path}.buttons[0].title`, found, h("input", { ...typed("title"), placeholder: "None" })),
      one.title !== "" && field("Its address", `${path}.buttons[0].url`, found, h("input", { ...typed("url"), type: "url", placeholder: "https://" }))),
    !last && field("Minutes before the next channel is used", `${path}.ttl`, found, h("input", { ...typed("ttl"), type: "number", min: 0.5, step: "any", placeholder: "When this one fails" })),
    remarks(found.take(path)),
    draft.steps.length > 1 && h("button.small", {
      type: "button", onclick: () => change({ steps: draft.steps.filter((_, index) => index !== at) }),
    }, "Remove", h("span.sr", ` ${CHANNELS[one.channel].title}`)));
}

function template(one, path, templates, found, alter) {
  if (!templates.length) return h("p.quiet", "The account has no templates.");
  const chosen = templateOf(templates, one.template);
  return [
    field("Template", `${path}.template_name`, found, h("select", { onchange: (event) => alter({ template: event.target.value, values: {} }) },
      templates.map((known) => h("option", { value: titleOf(known), selected: known === chosen }, `${titleOf(known)}, ${known.status}`)))),
    blanksOf(chosen).map((blank) => field(blank.label, `${path}.${blank.of}[${blank.at}]`, found, h("input", {
      value: one.values[blank.id] ?? "", autocomplete: "off", oninput: (event) => alter({ values: { ...one.values, [blank.id]: event.target.value } }),
    }))),
  ];
}
