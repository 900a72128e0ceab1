/** What the server tells by itself, from the one stream of this browser (`worker.js`). */

import { kept } from "./token.js";

const listeners = new Set();
let port = null;

/** Says which world this tab shows; null: none. */
export function watch(world) {
  port ??= connect();
  port.postMessage({ world, token: kept() });
}

/** Calls `listener` with each event: `{type, data}`. */
export function listen(listener) {
  listeners.add(listener);
}

function connect() {
  // the worker is a part of the same script; tabs with different tokens have different workers
  const options = { name: `sendbox ${kept() ?? ""}`, type: "module" };
  // a browser without shared workers has a stream for each tab, of a worker of its own
  const channel = globalThis.SharedWorker ? new SharedWorker(import.meta.url, options).port : own();
  channel.onmessage = ({ data }) => {
    for (const listener of listeners) listener(data);
  };
  // a tab that is put aside keeps no stream; when it comes back, it says again which world it shows
  addEventListener("pagehide", () => channel.postMessage({ leave: true }));
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
  return channel;
}

/** The worker in the tab itself: it has one port, by which it believes to be shared. */
function own() {
  const { port1, port2 } = new MessageChannel();
  import(`./worker.js`).then(() => globalThis.onconnect({ ports: [port2] }));
  return port1;
}
