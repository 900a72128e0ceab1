/** What a list asks of control: one thing at a time, with its end. */

export class Asking {
  busy = false;
  /** whether there was an answer, and why there was none the last time */
  known = false;
  failed = null;
  #again = false;

  /** Does something, unless something is under way: then that is wanted again at its end. Answers whether it was done. */
  async run(doing) {
    if (this.busy) {
      this.#again = true;
      return false;
    }
    this.busy = true;
    try {
      await doing();
      this.failed = null;
    } catch (error) {
      this.failed = error;
    }
    [this.busy, this.known] = [false, true];
    return true;
  }

  /** True if more was wanted meanwhile; it is said once. */
  repeats() {
    const again = this.#again;
    this.#again = false;
    return again;
  }
}
