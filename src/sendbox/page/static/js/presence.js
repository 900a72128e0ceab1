/**
 * Whether the sandbox answers, and whether it still is the same one: after a restart its worlds are gone. While it does
 * not answer, buttons that need it are off; what is shown and typed stays.
 */

/** Buttons that need it, but for those that copy, close and move within the page. */
const BUTTONS = "main button:not(.local), #bar form button, #bar .player button, dialog form button";

const OWN = new Set(["disabled"]);
const off = new Set();
/** the one of them that had the focus, which is nowhere while it is off */
let focused = null;

class Presence extends EventTarget {
  gone = false;
  #instances = new Map();
  #restarted = new Set();
  #observer = new MutationObserver(() => switchOff());

  /** An answer about a world (null: about none) came from this instance of the sandbox. */
  heard(world, instance) {
    const known = this.#instances.get(world);
    if (instance !== null) this.#instances.set(world, instance);
    if (known !== undefined && instance !== null && known !== instance) this.#restarted.add(world);
    if (this.gone) this.#turn(false);
  }

  /** No answer came. */
  lost() {
    if (!this.gone) this.#turn(true);
  }

  /** Whether the sandbox was restarted since this page has shown a world. */
  restarted(world) {
    return this.#restarted.has(world);
  }

  /** The world is open again. */
  settled(world) {
    this.#restarted.delete(world);
  }

  #turn(gone) {
    this.gone = gone;
    if (gone) {
      switchOff();
      this.#observer.observe(document.body, { childList: true, subtree: true });
    } else {
      this.#observer.disconnect();
      switchOn();
    }
    this.dispatchEvent(new CustomEvent("turn"));
  }
}

function switchOff() {
  for (const button of document.querySelectorAll(BUTTONS)) {
    if (button.disabled) continue;
    if (button === document.activeElement) focused = button;
    button.disabled = true;
    // where a view is drawn again, too
    button.own = OWN;
    off.add(button);
  }
}

function switchOn() {
  for (const button of off) {
    button.disabled = button.given?.disabled ?? false;
    delete button.own;
  }
  off.clear();
  if (document.activeElement === document.body) focused?.focus({ preventScroll: true });
  focused = null;
}

export const presence = new Presence();
