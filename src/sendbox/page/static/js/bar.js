/** The bar on top: where one is, whether the page is live, the clock of the world or its past, the theme. */

import "./clock.js";
import { closed } from "./closed.js";
import { h, show } from "./dom.js";
import { icon } from "./icons.js";
import { manage } from "./manage.js";
import { presence } from "./presence.js";
import "./past.js";
import "./player.js";
import { address, follow, place } from "./route.js";
import { store } from "./store.js";

const THEMES = { auto: "as the system", light: "light", dark: "dark" };
const bar = document.getElementById("bar");

function themed(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("sendbox-theme", theme);
  } catch { /* a browser that keeps nothing */ }
  draw();
}

function draw() {
  const world = place().get("world");
  const past = place().has("then");
  const theme = document.documentElement.dataset.theme;
  const names = Object.keys(THEMES);
  const next = names[(names.indexOf(theme) + 1) % names.length];
  const state = presence.gone ? "gone" : past ? "past" : store.missing ? "none" : store.closed ? "closed" : store.live ? "on" : "waits";
  const said = { gone: "The sandbox does not answer", past: "the past", none: "not open", closed: "closed", on: "live", waits: "connecting" }[state];
  show(bar,
    // a link to the worlds stands beside
    h("a.brand", { href: "/_sandbox/", tabindex: location.search ? "-1" : null }, h("img", { src: document.querySelector("link[rel=icon]").href, alt: "", width: 24, height: 24 }), "Sendbox"),
    world !== null && h("button.plain.world", {
      type: "button", "aria-haspopup": "dialog", title: "This world: checkpoints, reset, close", onclick: () => manage(world),
    }, h("bdi", world), icon("down")),
    h("span.live", { class: state }, said),
    world !== null && !past && !store.closed && h("sb-clock", { role: "toolbar", "aria-label": "Clock" }),
    h("span.tools",
      location.search && h("a.plain", { href: address({}, []) }, icon("worlds"), h("span.label", "Worlds")),
      h("button.plain", {
        type: "button", onclick: () => themed(next), title: `Colours: ${THEMES[theme]}; switch to ${THEMES[next]}`,
        "aria-label": `Colours: ${THEMES[theme]}`,
      }, icon("theme"))),
    world !== null && past && h("sb-past"),
    world !== null && !past && store.closed && closed(world),
    world !== null && place().has("play") && h("sb-player", { hidden: past || store.closed, key: world }));
}

try {
  document.documentElement.dataset.theme = localStorage.getItem("sendbox-theme") ?? "auto";
} catch { /* a browser that keeps nothing */ }
store.addEventListener("world", draw);
presence.addEventListener("turn", draw);
follow(draw);
draw();
