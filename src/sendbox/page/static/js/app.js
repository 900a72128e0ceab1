/** The frame of the page: its bar, the list of views, and the view that the address names. */

import { call, path } from "./api.js";
import { counts } from "./counts.js";
import { h, show } from "./dom.js";
import { back } from "./focus.js";
import { listen } from "./keyboard.js";
import { START, TITLES, drawViews } from "./nav.js";
import { isKept, keep, openingOf } from "./opening.js";
import { presence } from "./presence.js";
import { address, follow, place, start } from "./route.js";
import { lists } from "./served.js";
import { store } from "./store.js";
import { kept } from "./token.js";
import { act } from "./view.js";
import "./bar.js";
import "./list.js";

const main = document.getElementById("main");
const alarm = h("section.card.padded", { id: "missing", role: "alert" });
let shown = null;
let world;
let then = null;
let rest = null;

/** The view that the address names; without a world the list of worlds, or the library. */
function named() {
  const view = place().get("view");
  if (!place().has("world")) return view === "library" ? view : "worlds";
  return TITLES.has(view) ? view : START;
}

async function draw() {
  const here = place().get("world");
  if (here !== world) {
    world = here;
    store.open(here);
  }
  const name = named();
  drawViews(name);
  document.title = [TITLES.get(name) ?? "Worlds", here, "Sendbox"].filter(Boolean).join(" · ");
  const same = `${name} ${here}`;
  const [moment, fields] = [place().get("then"), address({ then: null })];
  const [travelled, changed] = [moment !== then, fields !== rest];
  [then, rest] = [moment, fields];
  if (travelled) store.travel();
  // within a view only some fields of the address change: the view itself looks at them
  if (same === shown && main.lastElementChild?.localName.startsWith("sb-")) {
    if (changed) main.lastElementChild.moved();
    // on a narrow page the row that was followed is hidden by what it opened
    requestAnimationFrame(back);
    return;
  }
  shown = same;
  main.setAttribute("aria-busy", "true");
  const listed = lists.some((list) => list.name === name);
  const tag = listed ? "listing" : name;
  await import(`./views/${tag}.js`);
  if (same !== shown) return;
  const view = document.createElement(`sb-${tag}`);
  main.className = name;
  const at = document.activeElement;
  main.replaceChildren(view);
  drawMissing();
  main.removeAttribute("aria-busy");
  main.scrollTop = 0;
  if (at !== document.body) back();
}

/** A world that is not open: the page waits for it, and shows it as soon as it opens. */
function drawMissing() {
  const { missing, world: id } = store;
  const restarted = presence.restarted(id) && missing?.status === 404;
  document.body.classList.toggle("missing", missing !== null);
  if (missing === null || id === null) {
    const at = document.activeElement;
    alarm.remove();
    if (at !== document.body) back();
    return;
  }
  show(alarm,
    h("h1", restarted ? "The sandbox was restarted" : missing.status === 404 ? "This world is not open" : "This world cannot be shown"),
    restarted
      ? h("p", "This world ended with it. ", isKept(id)
        ? "It can be opened again with the same scenario, seed and clock, but without what happened in it." : "It can be opened anew.")
      : h("p", missing.message),
    missing.status === 404 && h("p", "It appears here as soon as it opens: with the first call that a client makes with this key, or now."),
    h("div.actions",
      missing.status === 404 && h("button.first", {
        type: "button", onclick: () => act(() => call("POST", path("worlds"), { body: restarted ? openingOf(id) : { id } }), "The world is open."),
      }, restarted && isKept(id) ? "Open the same world again" : "Open it"),
      h("a.button", { href: address({}, []) }, "The open worlds")));
  if (main.firstChild !== alarm) main.prepend(alarm);
}

/** A link to JSON of control: a browser that follows it sends no token, so a page with one fetches what it leads to. */
async function followToControl(event) {
  const link = event.target.closest?.(`a[href^="${path("worlds")}/"]`);
  if (!link || !kept()) return;
  event.preventDefault();
  const tab = link.download ? null : open("", "_blank");
  const [address, query] = link.getAttribute("href").split("?");
  const answer = await act(() => call("GET", address, { query: Object.fromEntries(new URLSearchParams(query)) }));
  if (answer === undefined) return tab?.close();
  const url = URL.createObjectURL(new Blob([JSON.stringify(answer, null, 2)], { type: "application/json" }));
  if (tab) tab.location = url;
  else h("a", { href: url, download: link.download }).click();
}

addEventListener("click", followToControl);
store.addEventListener("world", drawMissing);
// once the first rows are there
store.addEventListener("world", () => {
  if (store.live && store.info) requestIdleCallback(() => keep(store.world));
});
counts.addEventListener("change", () => drawViews(named()));
start();
listen();
follow(draw);
draw();
