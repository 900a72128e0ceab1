/** The chosen call of the client. `data` is the number of its entry of the journal. */

import { h } from "../dom.js";
import { View } from "../view.js";
import { exchange } from "./exchange.js";

/** So many of its messages are linked. */
const MOST = 20;

class Request extends View {
  static kinds = ["transition", "refusal"];

  async load() {
    const [request, made] = await Promise.all([
      this.world.get(["journal", this.data]),
      this.world.get("messages", { request: this.data, limit: MOST, form: "short" }),
    ]);
    if (request.kind !== "request") throw new Error(`Entry ${this.data} is not a call: it is of the kind ${request.kind}.`);
    return { request, ...made };
  }

  draw({ request, messages, next_cursor: more }) {
    return h("article.story", { "aria-labelledby": "story-title" },
      h("h1", { id: "story-title" }, h("bdi", request.operation)),
      exchange(request, this.world, { messages, more: more !== null, level: "h2" }));
  }
}

customElements.define("sb-request", Request);
