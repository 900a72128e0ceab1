/** Partner management: signups, business accounts with their numbers, templates with their review. */

import { h } from "../dom.js";
import { moves } from "../services/moves.js";
import { badge, facts, searchBox, text } from "../parts.js";
import { go, viewOf } from "../route.js";
import { preview } from "../services/template.js";
import { View, act } from "../view.js";
import { when } from "../words.js";

/** So many of each are shown. */
const SHOWN = 50;
const QUALITIES = ["GREEN", "YELLOW", "RED", "UNKNOWN"];

class Partner extends View {
  moved() {
    this.redraw();
  }

  load() {
    return this.world.get("partner");
  }

  draw({ signups, accounts, templates }) {
    const search = (this.field("search") ?? "").toLowerCase();
    const fits = (item) => !search || JSON.stringify(Object.values(item)).toLowerCase().includes(search);
    return h("div.page",
      h("h1", "Partner"),
      searchBox({
        value: this.field("search") ?? "", label: "Search signups, accounts and templates", hint: "Name, number, id or state",
        search: (words) => go(viewOf("partner", { search: words }), { replace: true }),
      }),
      this.#part("Signups", signups.toReversed().filter(fits), (each) => this.#signup(each), "No signup."),
      this.#part("Business accounts", accounts.filter(fits), (each) => this.#account(each), "No business account."),
      this.#part("Templates", templates.filter(fits), (each) => this.#template(each), "No template."));
  }

  #part(title, items, one, empty) {
    return h("section", h("h2", `${title} (${items.length.toLocaleString("en")})`),
      items.length ? h("ul.partner-list", { class: title.toLowerCase().replace(" ", "-") }, items.slice(0, SHOWN).map(one))
        : h("p.card.empty", empty),
      items.length > SHOWN && h("p.quiet", `and ${(items.length - SHOWN).toLocaleString("en")} more: search for them, or read `,
        h("a", { href: this.world.address("partner"), target: "_blank" }, "all as JSON")));
  }

  /** Carries out an act and shows its effect at once. */
  async #act(doing, done) {
    const answer = await act(doing, done);
    if (answer !== undefined) this.reload();
    return answer;
  }

  #signup(signup) {
    const name = signup.details.name ?? signup.partner_client_id ?? signup.signup;
    return h("li.card.padded", { key: signup.signup },
      h("h3", text(name, 120), " ", badge(signup.finishing ? "being finished" : signup.state)),
      facts([
        ["Client", signup.partner_client_id && text(signup.partner_client_id)], ["Mode", signup.mode],
        ["Number", signup.phone_number && h("a", { href: viewOf("phones", { phone: signup.phone_number }) }, signup.phone_number)],
        ["Code", signup.code && h("code.partner-code", signup.code)], ["Began", when(signup.created_at)],
        ["Account", signup.chatapp_id && text(signup.chatapp_id)],
        ["Hosted page", signup.page && signup.legal.length > 0 && h("a", { href: signup.page, target: "_blank", rel: "noreferrer" }, "Open as the client")],
      ]),
      signup.reason && h("p", text(signup.reason)),
      !this.readOnly && moves({
        label: name, legal: signup.legal,
        fields: [
          signup.mode === "manual" && !signup.phone_number && { name: "phone_number", label: "Phone number, to complete" },
          { name: "reason", label: "Reason, to fail" },
        ].filter(Boolean),
        move: (state, { phone_number, reason }) => this.#act(
          () => this.world.post(["signups", signup.signup, state], state === "complete" ? { phone_number } : { reason }),
          (moved) => `The signup is ${moved.finishing ? "being finished" : moved.state}.`),
      }));
  }

  #account(account) {
    return h("li.card.padded", { key: account.chatapp_id },
      h("h3", text(account.name, 120)),
      facts([
        ["Id", text(account.chatapp_id)], ["Client", account.partner_client_id && text(account.partner_client_id)],
        ["Country", account.country], ["Currency", account.currency],
      ]),
      h("ul.partner-numbers", account.numbers.map((number) => this.#number(number))));
  }

  #number(number) {
    const change = (fields) => this.#act(() => this.world.change(["numbers", number.phone_number_id], fields),
      (moved) => `${moved.phone_number} is ${moved.status}, quality ${moved.quality}.`);
    return h("li", { key: number.phone_number_id },
      h("p", h("a", { href: viewOf("phones", { phone: number.phone_number }) }, number.phone_number), " ", text(number.name, 120), " ",
        badge(number.status), " ", badge(number.quality)),
      !this.readOnly && h("div.moves",
        h("label", h("span", "Quality"), h("select", {
          "aria-label": `Quality of ${number.phone_number}`, onchange: (event) => change({ quality: event.target.value }),
        }, QUALITIES.map((quality) => h("option", { value: quality, selected: quality === number.quality }, quality)))),
        moves({ label: number.phone_number, legal: number.legal, move: (status) => change({ status }) })));
  }

  #template(template) {
    const label = `${template.name}, ${template.language}`;
    return h("li.card.padded", { key: template.template_id },
      h("h3", text(template.name, 120), " ", h("span.tag", template.language), " ", badge(template.status)),
      preview(template.components),
      h("p.quiet", template.category, template.chatapp_id && [", of the account ", text(template.chatapp_id)]),
      template.reason && h("p", h("span.quiet", "Reason: "), text(template.reason)),
      !this.readOnly && template.legal.length > 0 && h("details.partner-move", h("summary", "Change its status"), moves({
        label, legal: template.legal, fields: [{ name: "reason", label: "Reason" }],
        move: (status, { reason }) => this.#act(
          () => this.world.change(["templates", template.template_id], { status, reason }), `${label}: ${status}.`),
      })));
  }
}

customElements.define("sb-partner", Partner);
