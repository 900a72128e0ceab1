/** A request as fields on lines, each with its path, so that a remark can stand at the field that it is about. */

import { cut } from "../words.js";

const STEP = /\.([^.[]+)|\[([0-9]+)\]|\[('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\]/g;
/** A body of more characters is shown as a text; of a line, and of all lines, so much is shown. */
const READ = 300_000;
const WIDE = 600;
const LINES = 300;
const DEEP = 30;
/** Lines around a remark that are shown in any case. */
const AROUND = 3;

const CONTROLS = { n: "\n", r: "\r", t: "\t" };

/** A name that is written in quotes, as control writes it. */
const unquoted = (quoted) => quoted.slice(1, -1).replace(/\\(?:x(..)|u(.{4})|U(.{8})|(.))/g, (_, two, four, eight, one) =>
  one === undefined ? String.fromCodePoint(Number.parseInt(two ?? four ?? eight, 16)) : CONTROLS[one] ?? one);

/** The steps of a path: `$.flow[1].sms.ttl` is `flow`, 1, `sms`, `ttl`. */
const stepsOf = (path) =>
  [...path.matchAll(STEP)].map(([, name, index, quoted]) =>
    name ?? (index === undefined ? unquoted(quoted) : Number(index)));

/** What a client sent, as an object: JSON, or the fields of a form or a query; undefined where it is neither. */
export function read({ body, path, method }) {
  if (body.length > READ) return undefined;
  try {
    if (body) return JSON.parse(body);
  } catch { /* a form, or nothing that can be read */ }
  const fields = body || (method === "GET" ? path.split("?")[1] ?? "" : "");
  if (!/^[^=&\s{[]+=/.test(fields)) return undefined;
  return Object.fromEntries(new URLSearchParams(fields));
}

/** The lines of a value: `{text, steps}`. What lies too deep stands on one line. */
function* lines(value, steps = [], before = "", after = "") {
  const indent = "  ".repeat(steps.length);
  if (value === null || typeof value !== "object" || !Object.keys(value).length || steps.length > DEEP) {
    yield { text: `${indent}${before}${JSON.stringify(value)}${after}`, steps };
    return;
  }
  const listed = Array.isArray(value);
  yield { text: `${indent}${before}${listed ? "[" : "{"}`, steps };
  const entries = listed ? value.map((item, index) => [index, item]) : Object.entries(value);
  for (const [place, [name, item]] of entries.entries()) {
    yield* lines(item, [...steps, name], listed ? "" : `${JSON.stringify(name)}: `, place + 1 < entries.length ? "," : "");
  }
  yield { text: `${indent}${listed ? "]" : "}"}${after}`, steps: null };
}

const keyOf = (steps) => JSON.stringify(steps);

/** All lines; null where the value is too deep to be written. */
function linesOf(value) {
  try {
    return [...lines(value)];
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * The lines of a request with the remarks at them: `{lines, rest}`. A line is `{text, remarks}`, or `{left}` for lines
 * that are left out; a remark about a field that is missing stands at what should have it and is not `placed`. `rest`
 * are the remarks about the whole call.
 */
export function marked(value, remarks) {
  const every = value === undefined ? null : linesOf(value);
  if (every === null) return { lines: null, rest: remarks };
  const places = new Map(every.filter(({ steps }) => steps).map((line) => [keyOf(line.steps), line]));
  const rest = [];
  for (const remark of remarks) {
    const steps = remark.path?.startsWith("$") ? stepsOf(remark.path) : [];
    const { length } = steps;
    while (steps.length && !places.has(keyOf(steps))) steps.pop();
    if (length) (places.get(keyOf(steps)).remarks ??= []).push({ ...remark, placed: steps.length === length });
    else rest.push(remark);
  }
  const seen = new Set(every.slice(0, LINES).keys());
  for (const [index, line] of every.entries()) {
    if (line.remarks) for (let near = index - AROUND; near <= index + AROUND; near += 1) seen.add(near);
  }
  const shown = [];
  for (const [index, { text, remarks: about = [] }] of every.entries()) {
    if (seen.has(index)) shown.push({ text: cut(text, WIDE), remarks: about });
    else if (shown.at(-1)?.left) shown.at(-1).left += 1;
    else shown.push({ left: 1 });
  }
  return { lines: shown, rest };
}
