/** Forms by which a person moves something to another state: what is legal says control. */

import { h } from "../dom.js";

/** Words for states that one brings about; others are named as they are. */
const WORDS = {
  APPROVED: "Approve", REJECTED: "Reject", PAUSED: "Pause", DISABLED: "Disable", PENDING: "Review again", DELETED: "Delete",
  IN_APPEAL: "Appeal", PENDING_DELETION: "Begin deletion", LIMIT_EXCEEDED: "Exceed the limit", CONNECTED: "Connect", FLAGGED: "Flag", RESTRICTED: "Restrict", OFFLINE: "Disconnect",
  complete: "Complete", fail: "Fail",
};

/**
 * A form with a button for each legal state. `fields` are `{name, label}` of texts that go along; `move(state, values)`
 * carries it out, and answers undefined where control refused it.
 */
export function moves({ label, legal, fields = [], move }) {
  if (!legal.length) return null;
  return h("form.moves", {
    "aria-label": label,
    onsubmit: async (event) => {
      event.preventDefault();
      const form = event.currentTarget ?? event.target;
      const given = [...new FormData(form)].filter(([, value]) => value.trim());
      if (await move(event.submitter?.value ?? legal[0], Object.fromEntries(given))) form.reset();
    },
  },
  fields.map((field) => h("label", h("span", field.label), h("input", { name: field.name, autocomplete: "off", maxlength: "1000" }))),
  h("span.actions", legal.map((state) =>
    h("button.small", { value: state, "aria-label": `${WORDS[state] ?? state}: ${label}` }, WORDS[state] ?? state))));
}
