/** Where the page is: the query of its address. `?world=test-a&view=phones&phone=420777000101` */

const listeners = new Set();

/** The present place, as `URLSearchParams`. */
export const place = () => new URLSearchParams(location.search);

/** The address of a place with some fields changed; null takes a field away. Fields in `only` are all that stay. */
export function address(changes, only = null) {
  const query = new URLSearchParams(only ? [...place()].filter(([name]) => only.includes(name)) : place());
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return text ? `?${text}` : "/_sandbox/";
}

/** The address of a view of the present world, with fields of its own. */
export const viewOf = (view, fields = {}) => address({ view, ...fields }, ["world", "then", "play"]);

/** Goes to an address; with `replace` the history keeps no step. */
export function go(target, { replace = false } = {}) {
  if (target === `${location.pathname}${location.search}` || target === location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", target);
  tell();
}

/** Calls `listener` at each move. */
export function follow(listener) {
  listeners.add(listener);
}

function tell() {
  for (const listener of listeners) listener();
}

/** Links within the page do not load it again. */
export function start() {
  addEventListener("popstate", tell);
  addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || link.target || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.origin !== location.origin || link.pathname !== location.pathname || link.hash) return;
    event.preventDefault();
    go(link.search || link.pathname);
  });
}
