/** The account: credit, senders, keys, lists, numbers, orders. Credit and lists can be changed. */

import { chips } from "../services/chips.js";
import { h } from "../dom.js";
import { badge, facts, link, table, text } from "../parts.js";
import { viewOf } from "../route.js";
import { View, act } from "../view.js";
import { when } from "../words.js";

const LISTS = [
  ["optout", "Opt-out list", "Phone number"], ["blacklist", "Blacklist", "Phone number"], ["stop_words", "Stop words", "Word"],
];

class Account extends View {
  async load() {
    const [account, pending] = await Promise.all([this.world.get("account"), this.world.get("pending", { limit: 20 })]);
    return { account, lists: pending.lists ?? [] };
  }

  /** Changes the account, and shows it at once. */
  async #change(fields, done) {
    const answer = await act(() => this.world.change("account", fields), done);
    if (answer !== undefined) this.reload();
    return answer;
  }

  /** Changes one list, from what it holds now. */
  #edit(name, edit, done) {
    return act(async () => {
      const present = (await this.world.get("account"))[name];
      const answer = await this.world.change("account", { [name]: edit(present) });
      this.reload();
      return answer;
    }, done);
  }

  draw({ account, lists }) {
    return h("div.page.account",
      h("h1", "Account"),
      this.#credit(account),
      h("h2", "Lists"),
      h("div.account-lists", LISTS.map(([name, title, noun]) => chips({
        title, noun, items: account[name], waiting: lists.filter((entry) => entry.list === name),
        ...(!this.readOnly && {
          add: (value) => this.#edit(name, (items) => [...items.filter((item) => item !== value), value], `${title}: ${value} is on it.`),
          remove: (value) => this.#edit(name, (items) => items.filter((item) => item !== value), `${title}: ${value} is off it.`),
        }),
      }))),
      h("h2", "Senders, numbers and domains"),
      h("div.account-lists", this.#senders(account),
        chips({ title: "Numbers", items: account.numbers }), chips({ title: "Domains of short links", items: account.domains }),
        chips({
          title: "Templates", items: account.templates.map((each) => `${each.name}, ${each.language}`),
          more: h("a", { href: viewOf("partner") }, "Templates with their review"),
        })),
      this.#keys(account),
      this.#orders(account.orders));
  }

  #credit({ currency, credit, spent, country, default_callback_url: callback }) {
    return h("section.card.padded.account-credit", { "aria-label": "Credit" },
      facts([
        ["Credit", h("span.account-sum", money(credit, currency))], ["Spent", h("span.account-sum", money(spent, currency))],
        ["Country", country && `+${country}`], ["Default callback", callback ? link(callback) : "the built-in receiver"],
      ]),
      !this.readOnly && h("form.actions", {
        onsubmit: async (event) => {
          event.preventDefault();
          const field = event.target.elements.credit;
          if (await this.#change({ credit: Number(field.value) }, (now) => `The credit is ${money(now.credit, now.currency)}.`)) field.value = "";
        },
      }, h("label", { for: "account-credit" }, `New credit in ${currency}`),
      h("input", { id: "account-credit", name: "credit", type: "number", min: "0", step: "any", required: true }),
      h("button", "Set credit")));
  }

  #senders({ senders }) {
    if (senders === "any") return h("section.card.padded.chips", h("h3", "Senders"), h("p", "Any sender may be used."));
    return Object.entries(senders).map(([family, names]) => chips({ title: `Senders of ${family}`, items: names }));
  }

  #keys({ subkeys }) {
    const rows = subkeys.slice(0, 200);
    return [
      h("h2", "Keys"),
      table("Keys", ["Key", "Note", "Scope", "State", "Credit", "Default callback"], [
        [h("bdi.mono", this.world.id), h("span.quiet", "the top key"), "full", badge("enabled", "good"), "", ""],
        ...rows.map((key) => [
          h("bdi.mono", key.key), text(key.note), key.scope, key.disabled ? badge("disabled", "bad") : badge("enabled", "good"),
          key.shared ? h("span.quiet", "shared") : money(key.credit, key.currency),
          key.default_callback_url ? link(key.default_callback_url) : "",
        ]),
      ]),
      subkeys.length > rows.length && h("p.quiet", `and ${subkeys.length - rows.length} more`),
    ];
  }

  #orders(orders) {
    if (!orders.length) return null;
    const rows = orders.toReversed().slice(0, 200);
    return [
      h("h2", "Ordered services"),
      table("Ordered services", ["Service", "For", "Period", "State", "Fee", "Ordered"], rows.map((order) => [
        text(order.service), text(order.subject), order.period, badge(order.state, order.state === "active" ? "good" : "way"),
        money(order.fee, order.currency), when(order.placed_at),
      ])),
      orders.length > rows.length && h("p.quiet", `and ${orders.length - rows.length} more`),
    ];
  }
}

const money = (sum, currency) => `${sum.toLocaleString("en", { maximumFractionDigits: 6 })} ${currency}`;

customElements.define("sb-account", Account);
