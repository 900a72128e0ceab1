/** Values in words: instants, durations, tones. */

const UNITS = [["d", 86_400_000], ["h", 3_600_000], ["m", 60_000], ["s", 1000], ["ms", 1]];
const TONES = {
  good: ["delivered", "seen", "verified", "completed", "passed", "APPROVED", "CONNECTED", "GREEN", "2xx"],
  fair: ["undelivered", "held", "dropped", "advice", "expired", "open", "PENDING", "PAUSED", "FLAGGED", "RESTRICTED", "YELLOW", "waiting"],
  bad: ["rejected", "failed", "refused", "error", "fault", "outage", "REJECTED", "DISABLED", "RED", "locked"],
};
const TONE = new Map(Object.entries(TONES).flatMap(([tone, words]) => words.map((word) => [word, tone])));

/** The style of a result or a state: good, fair, bad, or still under way. */
export const tone = (word) => TONE.get(word) ?? "way";

/** The style of an HTTP status. */
export const statusTone = (status) => (status === null || status === undefined ? "bad" : status < 300 ? "good" : status < 400 ? "fair" : "bad");

/** A duration in milliseconds: `1m30s`. */
export function span(ms) {
  let left = Math.abs(ms);
  const parts = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count) parts.push(`${count}${unit}`);
  }
  return parts.slice(0, 3).join(" ") || "0s";
}

/** The time from one instant to another: `+1m 30s`. */
export function since(at, start) {
  const ms = Date.parse(at) - Date.parse(start);
  return `${ms < 0 ? "−" : "+"}${span(ms)}`;
}

/** An instant for people, in UTC: `2026-03-01 09:00:00`. */
export const when = (at) => (at ?? "").replace("T", " ").replace(/(\.000)?Z$/, "");

/** The time of day of an instant, in UTC: `09:00:00`. */
export const time = (at) => when(at).slice(11);

/** A number with its noun: `1 message`, `2 messages`. */
export const count = (number, noun, plural = `${noun}s`) => `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;

/** So many characters of a text are shown in a row: control sends one more, if there is one. */
export const SHOWN = 159;

/** A text of bounded length. */
export const cut = (text, most = 160) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);

/** A line of control as the page writes it: without its short names of messages, and with a number for many events. */
export function inWords(text) {
  const line = text.replaceAll(/:? +(?:->|→) /g, " → ").replace(/\b1 phones$/, "1 phone").replace(/^(webhook[^:]*): (.*?, .*?)(?= → |$)/, (_, webhook, events) => {
    const [, more = 0] = /, and (\d+) more$/.exec(events) ?? [];
    return `${webhook} with ${events.split(", ").length + (more ? Number(more) - 1 : 0)} events`;
  });
  // not in what stands in quotes, which a client may have written
  return line.replace(/^[^"]+/, (own) => own.replace(/\bm\d+ (?=[a-z])/g, "").replace(/\bm\d+\b/g, "a message"));
}
