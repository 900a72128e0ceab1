/**
 * Elements made from data. A text is always a text node, never markup, so nothing that a client sent can become an
 * element. `h` makes elements, `patch` brings those that are shown to a new state and keeps focus, selection and scroll.
 */

import { leave, settle } from "./focus.js";

const SVG = "http://www.w3.org/2000/svg";
const AS_PROPERTY = new Set(["value", "checked", "selected", "disabled", "open", "indeterminate"]);

/** A new element: `h("a.link", {href, onclick}, "text", child, [more])`. Null, false and undefined children are left out. */
export function h(what, ...rest) {
  const [tag, ...classes] = what.split(".");
  const svg = tag === "svg" || tag === "path" || tag === "circle" || tag === "rect" || tag === "line" || tag === "g";
  const element = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  if (classes.length) element.setAttribute("class", classes.join(" "));
  const [first] = rest;
  if (first && typeof first === "object" && !(first instanceof Node) && !Array.isArray(first)) {
    for (const [name, value] of Object.entries(rest.shift())) set(element, name, value);
  }
  add(element, rest);
  return element;
}

function add(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === true || child === "") continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

function set(element, name, value) {
  if (name.startsWith("on")) listen(element, name.slice(2), value);
  else if (name === "key") element.key = String(value);
  else if (name === "data") element.data = value;
  else if (name === "class") {
    if (value) element.setAttribute("class", [element.getAttribute("class"), value].filter(Boolean).join(" "));
  } else if (name === "style") {
    for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
  } else if (AS_PROPERTY.has(name)) {
    element[name] = value ?? "";
    (element.given ??= {})[name] = value ?? "";
  } else if (value !== null && value !== undefined && value !== false) {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** One listener for each kind of event stays; what it calls can change. */
function listen(element, type, handler) {
  element.handlers ??= {};
  if (!(type in element.handlers)) element.addEventListener(type, (event) => element.handlers[type]?.(event));
  element.handlers[type] = handler;
}

/** The children of `parent` become those of `children` (a node, or a list as `h` takes it). */
export function show(parent, ...children) {
  const next = document.createElement("div");
  add(next, children);
  const at = document.activeElement;
  patchChildren(parent, next);
  settle(at);
}

function remove(node) {
  leave(node);
  node.remove();
}

function alike(node, next) {
  return node.nodeType === next.nodeType && node.nodeName === next.nodeName && node.key === next.key;
}

function patchChildren(parent, next) {
  const keyed = new Map();
  for (const child of parent.childNodes) if (child.key !== undefined) keyed.set(child.key, child);
  let current = parent.firstChild;
  const all = [...next.childNodes];
  for (const [index, wanted] of all.entries()) {
    // what is not wanted any more goes first: those behind it stay where they are, with their focus and scroll
    while (current && !all.some((each, place) => place >= index && alike(current, each))) {
      const following = current.nextSibling;
      remove(current);
      current = following;
    }
    const kept = wanted.key === undefined ? undefined : keyed.get(wanted.key);
    if (kept && kept !== current && alike(kept, wanted)) parent.insertBefore(kept, current);
    const old = kept && alike(kept, wanted) ? kept : current;
    if (old && alike(old, wanted)) {
      if (old === current) current = current.nextSibling;
      patch(old, wanted);
    } else {
      parent.insertBefore(wanted, current);
    }
  }
  while (current) {
    const following = current.nextSibling;
    remove(current);
    current = following;
  }
}

/** Brings `node` to the state of `next`, an element of the same name that is not shown. */
function patch(node, next) {
  if (node.nodeType === Node.TEXT_NODE) {
    if (node.data !== next.data) node.data = next.data;
    return;
  }
  // what a person opened or closed stays so
  const turned = (name) => name === "open" && node.nodeName === "DETAILS";
  for (const { name } of [...node.attributes]) {
    if (!turned(name) && !next.hasAttribute(name) && !node.own?.has(name)) node.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    // a style as text would be refused by the policy of the page
    if (turned(name) || node.getAttribute(name) === value) continue;
    if (name === "style") node.style.cssText = next.style.cssText;
    else node.setAttribute(name, value);
  }
  for (const [type, handler] of Object.entries(next.handlers ?? {})) listen(node, type, handler);
  for (const type of Object.keys(node.handlers ?? {})) if (!(type in (next.handlers ?? {}))) node.handlers[type] = null;
  // what a person typed stays, until the data says something else than before
  for (const [name, value] of Object.entries(next.given ?? {})) {
    if (node.given?.[name] === value) continue;
    if (name === "disabled" && value) leave(node);
    node[name] = value;
  }
  node.given = next.given;
  if (node.take) node.take(next);
  else patchChildren(node, next);
}
