// When to try again: sooner at first, never more often than the server can bear, at once when the network is back.

const SECONDS = [1, 2, 4, 8, 15, 30];

export class Backoff {
  #attempt = 0;
  #timer = null;
  #act = null;

  constructor() {
    window.addEventListener("online", () => this.now());
  }

  /** Calls act once, later: with a little chance in it, lest a whole panel comes back in the same second. */
  later(act) {
    this.#act = act;
    clearTimeout(this.#timer);
    const seconds = SECONDS[Math.min(this.#attempt, SECONDS.length - 1)];
    this.#attempt += 1;
    this.#timer = setTimeout(() => this.now(), seconds * (800 + 400 * Math.random()));
  }

  now() {
    const act = this.#act;
    clearTimeout(this.#timer);
    this.#act = null;
    act?.();
  }

  /** Somebody tries by hand: nothing is to come later, but the next pause is not shorter for it. */
  cancel() {
    clearTimeout(this.#timer);
    this.#act = null;
  }

  /** It went through. */
  reset() {
    this.cancel();
    this.#attempt = 0;
  }

  get isWaiting() {
    return this.#act !== null;
  }
}
