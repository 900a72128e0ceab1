/** Calls of control. The page reads and acts through these only. */

import { sentence } from "./errors.js";
import { presence } from "./presence.js";
import { ask, authorization } from "./token.js";

const BASE = "/_sandbox";

/** What control answered instead: `status`, `error` (a stable word), `message` (a sentence), and more in `detail`. */
export class ControlError extends Error {
  constructor(status, answer) {
    super(sentence({ ...answer, message: answer.message ?? `The answer has the status ${status}.` }));
    this.status = status;
    this.error = answer.error ?? "failed";
    this.detail = answer;
  }
}

/** An address under control: `path("worlds", id, "phones")`; each part is one segment. */
export const path = (...parts) => `${BASE}/${parts.map(encodeURIComponent).join("/")}`;

/** One call. `query` and `body` are objects; a text as body is sent as it is. Raises `ControlError`. */
export async function call(method, address, { query = {}, body, signal } = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const url = given.length ? `${address}?${new URLSearchParams(given)}` : address;
  let response;
  try {
    response = await fetch(url, {
      method,
      signal,
      headers: { ...authorization(), ...(body !== undefined && { "content-type": "application/json" }) },
      body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    presence.lost();
    throw new ControlError(0, { error: "unreachable" });
  }
  const [, world = null] = /\/worlds\/([^/?]+)/.exec(address) ?? [];
  presence.heard(world && decodeURIComponent(world), response.headers.get("sendbox-instance"));
  const text = await response.text();
  let answer = text;
  if (response.headers.get("content-type")?.startsWith("application/json")) {
    try {
      answer = JSON.parse(text);
    } catch {
      answer = { error: "bad_json", message: "The answer is not JSON." };
    }
  }
  if (response.status === 401) ask();
  if (!response.ok) throw new ControlError(response.status, typeof answer === "object" ? answer : { message: answer });
  return answer;
}

/** Control of one world; with `then` its reads are about the world as it was at that place. */
export class World {
  constructor(id, then = null) {
    this.id = id;
    this.then = then;
  }

  get(parts, query = {}, options = {}) {
    const past = this.then === null ? {} : { then: this.then };
    return call("GET", path("worlds", this.id, ...list(parts)), { query: { ...query, ...past }, ...options });
  }

  /** The address of a read, for a link to its JSON. */
  address(parts, query = {}) {
    const past = this.then === null ? {} : { then: this.then };
    const given = new URLSearchParams({ ...query, ...past }).toString();
    return `${path("worlds", this.id, ...list(parts))}${given && `?${given}`}`;
  }

  post(parts, body = {}) {
    return this.#act("POST", parts, body);
  }

  put(parts, body, query = {}) {
    return this.#act("PUT", parts, body, query);
  }

  change(parts, body) {
    return this.#act("PATCH", parts, body);
  }

  remove(parts = []) {
    return this.#act("DELETE", parts);
  }

  #act(method, parts, body, query) {
    if (this.then !== null) {
      throw new ControlError(409, { error: "past", message: "The past can only be looked at. Return to the present." });
    }
    return call(method, path("worlds", this.id, ...list(parts)), { body, query });
  }
}

const list = (parts) => (Array.isArray(parts) ? parts : parts === "" ? [] : parts.split("/"));
