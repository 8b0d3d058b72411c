// How often something was pasted into an answer, and how much; how often the page was left, and for how long. Counts
// alone: what was pasted, and where somebody went, is never looked at.

export class Attention {
  #field;
  #counts; // [pastes, characters, times away, seconds away]
  #leftAt = null;
  #listeners = new AbortController();

  constructor(form) {
    this.#field = form.elements.attention;
    if (!this.#field) return; // Only answers are counted, not decisions about them.
    const kept = this.#field.value.split(",").map(Number);
    this.#counts = kept.length === 4 && kept.every(Number.isFinite) ? kept : [0, 0, 0, 0];
    this.#write();
    const { signal } = this.#listeners;
    form.addEventListener("paste", (event) => this.#pasted(event), { signal, capture: true });
    window.addEventListener("blur", () => this.#left(), { signal });
    window.addEventListener("focus", () => this.#came(), { signal });
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#left() : this.#came()), { signal });
  }

  stop() {
    this.#listeners.abort();
  }

  #pasted(event) {
    const length = [...(event.clipboardData?.getData("text/plain") ?? "")].length;
    if (!length) return;
    this.#counts[0] += 1;
    this.#counts[1] += length;
    this.#write();
  }

  #left() {
    this.#leftAt ??= performance.now();
  }

  #came() {
    if (this.#leftAt === null) return;
    // The time that a dialog of the browser, or a glance, takes is none.
    const seconds = Math.round((performance.now() - this.#leftAt) / 1000);
    this.#leftAt = null;
    if (!seconds) return;
    this.#counts[2] += 1;
    this.#counts[3] += seconds;
    this.#write();
  }

  #write() {
    this.#field.value = this.#counts.join(",");
  }
}
