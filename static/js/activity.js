// Active seconds: counted only while the page has the focus and somebody has touched it within the idle limit.
// The server keeps wall time beside them, and clamps them to it.

import { gettext } from "./words.js";

const TICK = 1000; // milliseconds
const RENEW_EVERY = 60_000;
const SIGNS_OF_LIFE = ["keydown", "pointerdown", "pointermove", "wheel", "touchstart", "input", "scroll"];

let lastSign = performance.now();
for (const name of SIGNS_OF_LIFE) {
  document.addEventListener(name, () => { lastSign = performance.now(); }, { capture: true, passive: true });
}

export class Activity {
  #milliseconds;
  #lastTick = performance.now();
  #lastRenewal = performance.now();
  #timer;

  /** onTick(seconds) is called about once a second; onRenew() at most once a minute, if somebody was active in it. */
  constructor({ idleSeconds, seconds = 0, onTick, onRenew }) {
    this.#milliseconds = seconds * 1000;
    lastSign = performance.now();
    let wasActive = false;
    this.#timer = setInterval(() => {
      const now = performance.now();
      // A sleeping machine, or a throttled tab, fires one tick for a whole night: it counts as one.
      const elapsed = Math.min(now - this.#lastTick, 2 * TICK);
      this.#lastTick = now;
      if (document.visibilityState === "visible" && document.hasFocus() && now - lastSign <= idleSeconds * 1000) {
        this.#milliseconds += elapsed;
        wasActive = true;
        onTick(this.seconds);
      }
      if (wasActive && now - this.#lastRenewal >= RENEW_EVERY) {
        this.#lastRenewal = now;
        wasActive = false;
        onRenew();
      }
    }, TICK);
  }

  get seconds() {
    return Math.round(this.#milliseconds / 1000);
  }

  stop() {
    clearInterval(this.#timer);
  }
}

export function inWords(seconds) {
  const minutes = Math.floor(seconds / 60);
  return minutes
    ? gettext("%(minutes)s min %(seconds)s s", { minutes, seconds: seconds % 60 })
    : gettext("%(seconds)s s", { seconds });
}
