/** The bar on top: where one is, whether the page is live, the clock of the world, the theme. */

import "./clock.js";
import { h, show } from "./dom.js";
import { icon } from "./icons.js";
import { address, follow, place, viewOf } from "./route.js";
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
  const theme = document.documentElement.dataset.theme;
  const names = Object.keys(THEMES);
  const next = names[(names.indexOf(theme) + 1) % names.length];
  const state = place().has("then") ? "past" : store.missing ? "none" : store.live ? "live" : "waits";
  const said = { past: "the past", none: "not open", live: "live", waits: "connecting" }[state];
  show(bar,
    h("a.brand", { href: "/_sandbox/" }, h("img", { src: document.querySelector("link[rel=icon]").href, alt: "", width: 24, height: 24 }), "Sendbox"),
    world !== null && h("a.world", { href: viewOf(null), title: "The world that is shown" }, h("bdi", world)),
    h("span.live", { class: state }, said),
    world !== null && h("sb-clock"),
    h("span.tools",
      world !== null && h("a.plain", { href: address({}, []) }, icon("worlds"), "Worlds"),
      h("button.plain", {
        type: "button", onclick: () => themed(next), title: `Colours: ${THEMES[theme]}; switch to ${THEMES[next]}`,
        "aria-label": `Colours: ${THEMES[theme]}`,
      }, icon("theme"))));
}

try {
  document.documentElement.dataset.theme = localStorage.getItem("sendbox-theme") ?? "auto";
} catch { /* a browser that keeps nothing */ }
store.addEventListener("world", draw);
follow(draw);
draw();
