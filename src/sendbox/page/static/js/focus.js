/**
 * The focus when what has it goes, or is switched off: what stands in its place then gets it, and never the page as a
 * whole, from which the next key would lead to the top.
 */

/** Controls that Tab can lead to. */
const CONTROLS = ":is(a[href], button, input, select, textarea, summary, [tabindex]):not(:disabled, [tabindex='-1'])";
/** Parts of the page in which the focus stays. */
const PARTS = "main, dialog, .player, .travel";

/** where the focus was when its control went: the elements around it, each with how many controls were before it */
let around = [];

const controlsOf = (element) => [...element.querySelectorAll(CONTROLS)].filter((control) => control.checkVisibility());
const isBefore = (control, node) => Boolean(control.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING);

/** Said before an element goes or is switched off. */
export function leave(node) {
  const at = document.activeElement;
  if (at === document.body || !node.contains(at)) return;
  const part = node.parentElement?.closest(PARTS);
  around = [];
  for (let element = node.parentElement; part?.contains(element); element = element.parentElement) {
    around.push([element, controlsOf(element).filter((control) => isBefore(control, node)).length]);
  }
}

/** Said after elements changed; `at` had the focus before. */
export function settle(at) {
  const left = around;
  around = [];
  const now = document.activeElement;
  if (now === at ? !at?.disabled : now !== document.body) return;
  // what was moved is still there
  if (at.isConnected && !at.disabled) return at.focus({ preventScroll: true });
  for (const [element, before] of left) {
    const controls = element.isConnected ? controlsOf(element) : [];
    if (controls.length) return controls[Math.min(before, controls.length - 1)].focus({ preventScroll: true });
  }
  back();
}

/** Gives the focus to the main part, where nothing else has it. */
export function back() {
  const at = document.activeElement;
  if (at === null || at === document.body || !at.checkVisibility()) document.getElementById("main").focus({ preventScroll: true });
}
