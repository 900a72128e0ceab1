/** How the world that is shown was opened, so that it can be opened again after a restart of the sandbox. */

import { call, path } from "./api.js";

let kept = null;

/** Asks for the settings and the scenario of a world, while it is open. */
export async function keep(world) {
  if (kept?.id === world) return;
  const scenario = await call("GET", path("worlds", world, "scenario")).catch(() => null);
  if (scenario === null) return;
  const { seed, salt, started, clock } = scenario.settings;
  kept = {
    id: world, seed, salt, scenario: scenario.text,
    clock: { mode: clock.mode, rate: clock.rate, start: started },
  };
}

/** The body that opens a world as it was opened, or with the settings of the sandbox where these are not known. */
export const openingOf = (world) => (kept?.id === world ? kept : { id: world });

/** Whether it can be opened with its settings. */
export const isKept = (world) => kept?.id === world;
