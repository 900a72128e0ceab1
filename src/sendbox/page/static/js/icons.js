/** Icons, drawn here. They say nothing that a word beside them does not say. */

import { h } from "./dom.js";

const PATHS = {
  phones: "M7 3h10a1.5 1.5 0 0 1 1.5 1.5v15A1.5 1.5 0 0 1 17 21H7a1.5 1.5 0 0 1-1.5-1.5v-15A1.5 1.5 0 0 1 7 3zM10.5 18h3",
  messages: "M4 5h16v11H9.5L5.5 20v-4H4zM8 9h8M8 12h5",
  webhooks: "M8.5 10.5a4 4 0 1 1 6 0L17 15M7 14a3.5 3.5 0 1 0 3.4 4.5H17a2.5 2.5 0 1 0 0-3.5",
  requests: "M4 7h13l-3-3M20 17H7l3 3",
  verify: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2 2 4-4",
  partner: "M4 20V9l8-5 8 5v11zM9 20v-6h6v6",
  account: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 20c1-4 4-6 8-6s7 2 8 6",
  scenario: "M6 3h9l4 4v14H6zM14 3v5h5M9 12h7M9 16h5",
  verdict: "M4 12l5 5L20 6",
  coverage: "M4 20V10M10 20V4M16 20v-7M22 20H2",
  assumptions: "M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 18v.01",
  worlds: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
  list: "M8 6h12M8 12h12M8 18h12M4 6v.01M4 12v.01M4 18v.01",
  try: "M4 4l17 8-17 8 3-8zM7 12h14",
  due: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4l3 2",
  compare: "M4 5h6v14H4zM14 5h6v14h-6z",
  past: "M4 5v5h5M4.5 10a8 8 0 1 1-.5 4M12 8v4l3 2",
  close: "M6 6l12 12M18 6L6 18",
  back: "M15 5l-7 7 7 7",
  next: "M9 5l7 7-7 7",
  down: "M6 9l6 6 6-6",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  play: "M7 4l13 8-13 8z",
  pause: "M8 5v14M16 5v14",
  library: "M4 4h4v16H4zM10 4h4v16h-4zM16.5 5l3.5-1 3 15.5-3.5.7z",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L21 21",
  theme: "M12 4a8 8 0 1 0 0 16zM12 4v16",
  clock: "M12 5a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM12 8.5V12l2.5 1.5",
  check: "M5 12.5l4.5 4.5L19 7.5",
  checks: "M2.5 12.5L7 17l9-9.5M11.5 15.5L13 17l9-9.5",
  alert: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v5M12 16v.01",
  eye: "M2.5 12C5 8 8.5 6 12 6s7 2 9.5 6c-2.5 4-6 6-9.5 6s-7-2-9.5-6zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  reply: "M10 7L5 12l5 5M5.5 12H14c3 0 5 2 5 5v1",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7L12 17",
  signal: "M5 19v-3M10 19v-7M15 19V8M20 19V4",
  offline: "M5 19v-3M10 19v-7M4 4l16 16M15 19v-4M20 19V4",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9v.01",
  video: "M4 6h11v12H4zM15 10.5l5-3v9l-5-3",
  document: "M6 3h8l4 4v14H6zM13 3v5h5M9 12h6M9 16h6",
  location: "M12 21c-4-4.5-6-7.5-6-11a6 6 0 0 1 12 0c0 3.5-2 6.5-6 11zM12 8a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  product: "M5 8h14l-1 12H6zM9 8V6.5a3 3 0 0 1 6 0V8",
};

/** An icon by name. */
export const icon = (name) =>
  h("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, h("path", { d: PATHS[name] ?? PATHS.list }));
