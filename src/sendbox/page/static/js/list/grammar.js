/** The words of a search by list: its keys, the values of those that have few, and the filters that are used most. */

const CHANNELS = ["sms", "richmsg", "chatapp_text", "chatapp_template", "rcs"];
const RESULTS = ["accepted", "sending", "sent", "delivered", "seen", "undelivered", "rejected", "failed"];
const TIMES = ["10m", "1h", "1d"];
export const STATES = ["waiting", "sending", "delivered", "failed", "held", "dropped"];

/** The keys of each list with the values that are offered. `docs/control/messaging.md` has what they mean. */
export const KEYS = {
  messages: { to: [], tag: [], channel: CHANNELS, result: RESULTS, before: TIMES, after: TIMES, from: [], operation: ["send*"] },
  phones: { to: [], result: RESULTS, is: ["offline", "opted_out", "unanswered"] },
  requests: {
    to: [], tag: [], operation: ["send*"], status: ["200", "4*", "5*"], method: ["GET", "POST"], path: [], key: [], remark: ["*"],
    before: TIMES, after: TIMES,
  },
  webhooks: {
    to: [], message: [], event: [], result: RESULTS, state: STATES, status: ["200", "4*", "5*"], target: [], before: TIMES, after: TIMES,
  },
};

/** Filters as buttons: a label and a word of a search. */
export const CHIPS = {
  messages: [["failed", "result:failed"], ["undelivered", "result:undelivered"], ["rejected", "result:rejected"], ["last 10 minutes", "after:10m"]],
  phones: [["failed", "result:failed"], ["undelivered", "result:undelivered"], ["unanswered", "is:unanswered"], ["offline", "is:offline"], ["opted out", "is:opted_out"]],
  requests: [["refused", "status:4*"], ["last 10 minutes", "after:10m"]],
  webhooks: [["answered 5xx", "status:5*"], ["failed", "state:failed"], ["waiting", "state:waiting"], ["last 10 minutes", "after:10m"]],
};

const LAST = /^(.*\s|)(-?)(\S*)$/s;

/** The texts that a search may go on to, each whole. */
export function completions(list, text) {
  const [, before, minus, word] = LAST.exec(text);
  const [key, value] = word.split(":");
  const words = value === undefined
    ? Object.keys(KEYS[list]).map((name) => `${name}:`)
    : (KEYS[list][key] ?? []).map((one) => `${key}:${one}`);
  return words.filter((one) => one.startsWith(word) && one !== word).map((one) => `${before}${minus}${one}`);
}

const words = (search) => search.split(/\s+/).filter(Boolean);
const keyOf = (word) => word.split(":")[0];

/** True if a search has a word. */
export const has = (search, word) => words(search).includes(word);

/** A search with a word, instead of others of the same key; or without it, where it has the word. */
export const toggled = (search, word) =>
  (has(search, word) ? words(search).filter((one) => one !== word) : [...words(search).filter((one) => keyOf(one) !== keyOf(word)), word]).join(" ");
