/**
 * One stream for all tabs of a browser: a shared worker that each tab tells which world it shows. The stream carries
 * the positions of all worlds as its event ids, with which it is opened again when the worlds change.
 */

/** So many worlds a stream has at most; the tabs that were opened last come first. */
const MOST = 64;

const tabs = new Map();
let source = null;
let again = null;
let positions = {};
let shown = "";
/** Milliseconds until a stream is opened again that was refused: the browser itself does this only for one that broke. */
const AGAIN = 2000;

globalThis.onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (data.leave) tabs.delete(port);
    else tabs.set(port, data.world);
    follow();
  };
  port.start();
};

function follow() {
  const worlds = [...new Set([...tabs.values()].filter(Boolean))].slice(-MOST).sort();
  const wanted = tabs.size ? worlds.map(encodeURIComponent).join(",") : null;
  if (wanted === shown && source) {
    tell({ type: "state", live: source.readyState === EventSource.OPEN });
    return;
  }
  close();
  shown = wanted;
  if (wanted === null) return;
  const since = worlds.map((world) => positions[encodeURIComponent(world)]).filter(Boolean).join(",");
  source = new EventSource(`/_sandbox/stream?${new URLSearchParams({ worlds: wanted, ...(since && { since }) })}`);
  source.onopen = () => tell({ type: "state", live: true });
  source.onerror = () => {
    tell({ type: "state", live: false });
    if (source.readyState === EventSource.CLOSED) again ??= setTimeout(() => { close(); follow(); }, AGAIN);
  };
  for (const type of ["entry", "skipped", "clock", "reset", "closed", "opened", "worlds"]) {
    source.addEventListener(type, ({ data, lastEventId }) => {
      positions = Object.fromEntries(lastEventId.split(",").map((position) => [position.split("=")[0], position]));
      tell({ type, data: JSON.parse(data) });
    });
  }
}

function close() {
  clearTimeout(again);
  source?.close();
  source = again = null;
}

function tell(message) {
  for (const [port, world] of tabs) {
    const about = message.data?.world;
    if (about === undefined || about === world) port.postMessage(message);
  }
}
