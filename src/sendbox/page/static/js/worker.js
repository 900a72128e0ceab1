/**
 * One stream for all tabs of a browser: a shared worker that each tab tells which world it shows. The stream carries
 * the positions of all worlds as its event ids, with which it is opened again when the worlds change.
 */

/** So many worlds a stream has at most; the tabs that were opened last come first. */
const MOST = 64;

const tabs = new Map();
let token = null;
let source = null;
let again = null;
let positions = {};
let shown = "";
/** Milliseconds until a stream that broke, or was refused, is opened again. */
const AGAIN = 1000;
/** Statuses of a stream that this token never gets. */
const DENIED = [401, 403];

globalThis.onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (data.leave) tabs.delete(port);
    else {
      tabs.set(port, data.world);
      ({ token } = data);
    }
    follow();
  };
  port.start();
};

function follow() {
  const worlds = [...new Set([...tabs.values()].filter(Boolean))].slice(-MOST).sort();
  const wanted = tabs.size ? worlds.map(encodeURIComponent).join(",") : null;
  if (wanted === shown && source) {
    tell({ type: "state", live: source.live });
    return;
  }
  close();
  shown = wanted;
  if (wanted === null) return;
  const since = worlds.map((world) => positions[encodeURIComponent(world)]).filter(Boolean).join(",");
  source = open(`/_sandbox/stream?${new URLSearchParams({ worlds: wanted, ...(since && { since }) })}`);
}

/** A stream that is read until it ends or is closed. A browser's own (`EventSource`) would send no token. */
function open(url) {
  const leaving = new AbortController();
  const stream = { live: false, close: () => leaving.abort() };
  const isPresent = () => stream === source;
  read(url, leaving.signal, (event) => {
    if (!isPresent()) return;
    stream.live = true;
    tell(event);
  }).catch((error) => error.status).then((status) => {
    if (!isPresent()) return;
    stream.live = false;
    tell({ type: "state", live: false });
    if (!DENIED.includes(status)) again ??= setTimeout(() => { close(); follow(); }, AGAIN);
  });
  return stream;
}

/** Reads server-sent events: `take` gets that the stream is live, then each event. Raises where it is refused. */
async function read(url, signal, take) {
  const response = await fetch(url, { signal, headers: token ? { authorization: `Bearer ${token}` } : {} });
  if (!response.ok) throw response;
  take({ type: "state", live: true });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = `${rest}${value}`.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const { event, id, data } = Object.fromEntries(block.split("\n").map((line) => /^(\w*): ?(.*)$/.exec(line)?.slice(1) ?? []));
      if (data === undefined) continue;
      positions = Object.fromEntries(id.split(",").map((position) => [position.split("=")[0], position]));
      take({ type: event, data: JSON.parse(data) });
    }
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
