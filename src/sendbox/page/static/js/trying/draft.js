/** A message that a person writes, and the body of the request that sends it. */

const VARIABLE = /\{\{\s*([^{}\s]+)\s*\}\}/g;

/** The channels that can be chosen, what a step of each needs, and what stands there at first. */
export const CHANNELS = {
  sms: { title: "SMS", sender: "" },
  richmsg: { title: "Rich message", sender: "Acme", buttons: true },
  chatapp_text: { title: "Messaging app, free text", sender: "109876543210987" },
  chatapp_template: { title: "Messaging app, template", sender: "109876543210987", template: true },
};

export const step = (channel) => ({ channel, sender: CHANNELS[channel].sender, ttl: "", title: "", url: "", template: "", values: {} });

export const draft = (to) => ({ to, body: "Hello! Your parcel is on its way: https://example.com/track/4711", tag: "", shorten: true, steps: [step("sms")], raw: null });

/** Whether any step takes the text of the message. */
export const worded = ({ steps }) => steps.some(({ channel }) => !CHANNELS[channel].template);

const variables = (text) => [...new Set([...(text ?? "").matchAll(VARIABLE)].map(([, name]) => name))];

/** A template by its title, or the first. */
export const templateOf = (templates, title) => templates.find((template) => titleOf(template) === title) ?? templates[0];
export const titleOf = ({ name, language }) => `${name} (${language})`;

/** What has to be given for a template: `{id, label, of, at}`; `of` is the field of the step, `at` the position there. */
export function blanksOf(template) {
  const parts = Object.fromEntries((template?.components ?? []).map((part) => [part.type?.toUpperCase(), part]));
  const names = variables(parts.BODY?.text);
  if (names.every((name) => /^\d+$/.test(name))) names.sort((one, other) => one - other);
  const blanks = names.map((name, at) => ({ id: name, label: `{{${name}}}`, of: "params", at }));
  const header = parts.HEADER;
  if (header && (header.format ?? "TEXT").toUpperCase() !== "TEXT") {
    blanks.push({ id: "header", label: `Address of the ${header.format.toLowerCase()}`, of: "params_header", at: 0 });
  } else if (variables(header?.text).length) {
    blanks.push({ id: "header", label: header.text, of: "params_header", at: 0 });
  }
  for (const [at, button] of (parts.BUTTONS?.buttons ?? []).entries()) {
    if (variables(button.url).length || /^(OTP|COPY_CODE)$/i.test(button.type)) {
      blanks.push({ id: `button ${at}`, label: `Button “${button.text ?? button.type}”`, of: "params_buttons", at, code: /COPY_CODE/i.test(button.type) });
    }
  }
  return blanks;
}

function templateFields(step, templates) {
  const template = templateOf(templates, step.template);
  const fields = { template_name: template?.name ?? "", language: template?.language ?? "" };
  const named = blanksOf(template);
  const value = ({ id }) => step.values[id] ?? "";
  const params = named.filter(({ of }) => of === "params");
  const numbered = params.every(({ id }) => /^\d+$/.test(id));
  if (params.length) fields.params = params.map((blank) => (numbered ? value(blank) : { [blank.id]: value(blank) }));
  for (const blank of named) {
    if (blank.of === "params_header") fields.params_header = [value(blank)];
    if (blank.of !== "params_buttons") continue;
    const buttons = (fields.params_buttons ??= []);
    while (buttons.length < blank.at) buttons.push(null);
    buttons.push(blank.code ? { code: value(blank) } : value(blank));
  }
  return fields;
}

function fieldsOf(step, last, templates) {
  return {
    ...(CHANNELS[step.channel].template && templateFields(step, templates)),
    ...(step.sender && { sender: step.sender }),
    ...(step.title && step.url && CHANNELS[step.channel].buttons && { buttons: [{ title: step.title, url: step.url }] }),
    ...(!last && step.ttl && { ttl: Number(step.ttl) }),
  };
}

/** The body of the request: an object, or the text that a person wrote instead. */
export function bodyOf(draft, templates) {
  if (draft.raw !== null) return draft.raw;
  const { steps } = draft;
  const plain = steps.length === 1 && steps[0].channel === "sms";
  return {
    to: draft.to.split(/[,;\n]+/).map((number) => number.trim()).filter(Boolean).map((number) => ({ phone_number: number })),
    ...(worded(draft) && { body: draft.body }),
    ...(plain && steps[0].sender && { sender: steps[0].sender }),
    ...(draft.tag && { tag: draft.tag }),
    ...(draft.shorten && worded(draft) && { params: { _url: { type: "full" } } }),
    ...(!plain && { flow: steps.map((step, at) => ({ [step.channel]: fieldsOf(step, at === steps.length - 1, templates) })) }),
  };
}
