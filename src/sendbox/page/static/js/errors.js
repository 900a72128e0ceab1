/** What control refused, as a sentence of the page: without paths, calls and JSON, which are for programs. */

import { cut } from "./words.js";

const LONGEST = 300;

/** Refusals that a person meets, by the word of control. */
const SAID = {
  unreachable: "The sandbox does not answer.",
  advancing: "The clock is being moved already.",
  playing: "A step of the story is being carried out already.",
  too_many_worlds: "The sandbox has as many worlds as it may have.",
  memory_full: "The sandbox has no memory left for more.",
  internal: "The sandbox failed at this; its log says why.",
  no_token: "This sandbox asks for a token.",
};
/** Signs of a text, or a part of one, that is for programs. */
const FOR_PROGRAMS = /\/_sandbox|\bSendbox-[A-Z]|\b(?:GET|POST|PUT|PATCH|DELETE) \/|\bcurl\b|pip install|[{}]|(?:^|[\s(])\/\S+\/\S|\S+\.py\b/;
/** What a person did not write: the argument that a message is about, and an option of the server. */
const NAMES = /^[a-z_]+: (?=["'\d-])|,? or --[a-z-]+/g;
const MISSING_PACKAGE = /needs (\w+), which is not installed/;

/** The sentence. `problems` are those of a scenario, with their lines, or of another body. */
export function sentence({ error, message = "", problems = [] }) {
  if (Object.hasOwn(SAID, error)) return SAID[error];
  const missing = MISSING_PACKAGE.exec(message);
  if (missing) return `This scenario needs the package ${missing[1]}, which the sandbox does not have here.`;
  if (problems[0]?.line) return problem(problems);
  // an id may be the first word
  return whole(problems[0]?.message ?? message).replace(NAMES, "").replace(/^(?:the|this|an?|no) /, (word) => word[0].toUpperCase() + word.slice(1));
}

/** The first problem of a scenario, with its line. */
function problem([{ line, message }, ...others]) {
  const number = others.length ? `${others.length + 1} problems, the first` : "a problem";
  return `The scenario has ${number} in line ${line}: ${whole(message)}`;
}

/** The parts of a message that are for people. */
function whole(message) {
  const parts = message.split("\n")[0].split("; ").filter((part) => !FOR_PROGRAMS.test(part));
  const text = cut(parts.join("; ").replaceAll(" -> ", " → ") || "The sandbox refused this", LONGEST);
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
