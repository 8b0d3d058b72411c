// Hints while somebody writes questions. The server alone knows them (annotate/hints.py); here they are asked for and shown.

import { announce } from "./status.js";

const PAUSE = 700; // milliseconds

export class Hints {
  #item;
  #form;
  #timer = null;
  #asked = 0;
  #said = new Set();
  #isStopped = false;

  constructor(item, form) {
    this.#item = item;
    this.#form = form;
    // What the page came with was read when the page was.
    for (const one of form.querySelectorAll(".hints li")) this.#said.add(one.textContent);
  }

  /** The person has changed something. */
  changed() {
    if (!this.#item.dataset.hintsUrl || this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), PAUSE);
  }

  stop() {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #ask() {
    this.#asked += 1;
    const turn = this.#asked;
    try {
      const response = await fetch(this.#item.dataset.hintsUrl, {
        method: "POST",
        body: new URLSearchParams(new FormData(this.#form)),
        headers: { "HX-Request": "true", Accept: "application/json" },
        signal: AbortSignal.timeout(10_000),
      });
      // Words that were typed meanwhile have their own question on the way.
      if (response.ok && turn === this.#asked && !this.#isStopped) this.#show((await response.json()).hints);
    } catch {
      // Hints can wait; the draft says when the network is away.
    }
  }

  #show(hints) {
    const news = hints.filter((hint) => !this.#said.has(hint.text));
    this.#said = new Set(hints.map((hint) => hint.text));
    for (const list of this.#form.querySelectorAll(".hints")) {
      const mine = hints.filter((hint) => list.id === `hints-${hint.field}-${hint.position}`);
      list.replaceChildren(...mine.map((hint) => {
        const line = document.createElement("li");
        line.textContent = hint.text;
        return line;
      }));
    }
    // Once, when it is new: a hint that stands there while somebody types on is not read again.
    if (news.length) announce(news.map((hint) => hint.text).join(" "));
  }
}
