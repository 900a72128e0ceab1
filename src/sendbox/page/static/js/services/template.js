/** A template as it looks on a phone: header, body, footer and buttons, with its parameters as they are written. */

import { h } from "../dom.js";
import { cut } from "../words.js";

/** What a button does beyond its text. */
const does = (button) => button.url ?? button.phone_number ?? button.type;

function part(component) {
  const type = String(component.type ?? "").toUpperCase();
  const written = cut(String(component.text ?? ""), 2000);
  if (type === "BODY") return h("p.template-body", h("bdi.text", written));
  if (type === "FOOTER") return h("p.template-footer", h("bdi.text", written));
  if (type === "HEADER") {
    return component.text ? h("p.template-header", h("bdi.text", written))
      : h("p.template-media", String(component.format ?? "media").toLowerCase());
  }
  if (type === "BUTTONS" && Array.isArray(component.buttons)) {
    return h("ul.template-buttons", component.buttons.map((button) =>
      h("li", h("bdi", cut(String(button.text ?? button.type ?? ""), 80)), h("span.quiet", h("bdi", cut(String(does(button) ?? ""), 80))))));
  }
  return h("p.quiet", type.toLowerCase());
}

/** The preview of a template from its components. */
export const preview = (components) =>
  h("div.template", (Array.isArray(components) ? components : []).map((component) => part(component ?? {})));
