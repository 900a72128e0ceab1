/** A world that is closed and can still be read: the bar says so, leads into its past, and opens it anew. */

import { call, path } from "./api.js";
import { sure } from "./dialog.js";
import { h } from "./dom.js";
import { isKept, openingOf } from "./opening.js";
import { address, go } from "./route.js";
import { store } from "./store.js";
import { act } from "./view.js";
import { when } from "./words.js";

/** The part of the bar. */
export const closed = (world) =>
  h("section.travel", { "aria-label": "Closed world", key: "closed" },
    h("p.travel-words", h("time", { datetime: store.info.clock.now }, when(store.info.clock.now)), " ",
      "This world is closed, and can only be looked at."),
    h("div.player-buttons",
      h("button.small", { type: "button", onclick: () => go(address({ then: Math.max(0, store.entries - 1) })) }, "Time travel"),
      h("button.small", { type: "button", onclick: () => open(world) }, "Open it anew")));

async function open(world) {
  const as = isKept(world) ? "It begins with the same scenario, seed and clock. " : "";
  if (!await sure(`Open ${world} anew?`, `${as}What happened in the closed world is forgotten then.`, "Open it anew")) return;
  await act(() => call("POST", path("worlds"), { body: openingOf(world) }), "The world is open.");
}
