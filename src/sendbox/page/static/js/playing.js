/** Opens a world of its own for a scenario of the library, and begins to play it step by step. */

import { call, path } from "./api.js";
import { address, go } from "./route.js";
import { act } from "./view.js";

/** The world that was opened to be played in this tab: only there it begins by itself. */
let begun = null;

/** Plays a scenario by its name. */
export async function play(name) {
  const opened = await act(() => call("POST", path("worlds"), { body: { scenario: name, clock: { mode: "manual" } } }));
  if (!opened) return;
  begun = opened.id;
  go(address({ world: opened.id, view: "phones", play: "1" }, []));
}

/** Whether a world waits to be played; asking takes the answer away. */
export function begins(world) {
  const here = begun === world;
  if (here) begun = null;
  return here;
}
