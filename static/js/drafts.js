// Autosave. A draft is saved when the server said so; until then its words are also kept in the tab.

import { Backoff } from "./backoff.js";
import { showReadings } from "./fields.js";
import { askToSignIn, renewToken } from "./session.js";
import { clearNotice, clock, notice, saveState } from "./status.js";
import * as stash from "./stash.js";
import { gettext } from "./words.js";

const TYPING_PAUSE = 800; // milliseconds
const ANOTHER_PERSON = "another person";

export class Draft {
  #item;
  #form;
  #version;
  #timer = null;
  #backoff = new Backoff();
  #isSaving = false;
  #isDirty = false;
  #isStopped = false;
  #tokenRenewed = false;
  #refusal = "";

  constructor(item, form) {
    this.#item = item;
    this.#form = form;
    // A draft sent while the page was being left may arrive after this page was made: its number is used up, too.
    this.#version = Math.max(Number(item.dataset.draftVersion), stash.kept(item)?.draftVersion ?? 0);
    form.elements.draft_version.value = this.#version;
  }

  /** The person has changed something. */
  changed() {
    stash.keep(this.#item, this.#form);
    // An earlier answer that is being changed has no draft.
    if (this.#isStopped || !this.#item.dataset.draftUrl) return;
    this.#isDirty = true;
    if (this.#backoff.isWaiting) return; // The next attempt takes these words along.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.save(), TYPING_PAUSE);
  }

  /** Sends now what has not been sent. */
  async save() {
    clearTimeout(this.#timer);
    if (!this.#isDirty || this.#isSaving || this.#isStopped) return;
    this.#isSaving = true;
    this.#isDirty = false;
    saveState("busy", gettext("Saving"));
    const outcome = await this.#post();
    this.#isSaving = false;
    if (!this.#isStopped) this.#after(outcome);
  }

  /** A submit outranks any draft, and nobody wants to hear of the draft of an item that is gone. */
  stop() {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#backoff.reset();
  }

  resume() {
    this.#isStopped = false;
  }

  async #post() {
    // The number rises with each attempt: if only an acknowledgement got lost, the next draft is still the newer one.
    this.#version += 1;
    this.#form.elements.draft_version.value = this.#version;
    stash.keep(this.#item, this.#form);
    try {
      const response = await fetch(this.#item.dataset.draftUrl, {
        method: "POST",
        body: new URLSearchParams(new FormData(this.#form)),
        headers: { "HX-Request": "true", Accept: "application/json" },
        signal: AbortSignal.timeout(20_000),
      });
      if (response.redirected) return 401;
      if (response.status === 409 && (await response.text()).includes('"person"')) return ANOTHER_PERSON;
      if (response.status === 422) this.#refusal = Object.values((await response.json()).fields ?? {}).join(" ");
      // A proxy's own page also says 200: saved is only what the server acknowledges by number.
      if (response.ok) {
        const saved = await response.json();
        showReadings(this.#form, saved.readings);
        return saved.version === this.#version ? 200 : 502;
      }
      return response.status;
    } catch {
      return 0;
    }
  }

  #after(status) {
    if (status === 200) {
      this.#backoff.reset();
      this.#tokenRenewed = false;
      saveState("good", gettext("Saved %(time)s", { time: clock() }));
      if (this.#refusal) clearNotice();
      this.#refusal = "";
      if (this.#isDirty) this.changed();
      else stash.drop(this.#item.dataset.person, this.#item.dataset.token);
      return;
    }
    if (status === 409 || status === 404) {
      // Another tab, or a submit that overtook this draft: its words stand there, and here in the tab.
      this.stop();
      saveState("", gettext("Changed in another tab"));
      return;
    }
    this.#isDirty = true;
    if (status === 403 && !this.#tokenRenewed) {
      this.#tokenRenewed = true;
      renewToken().catch(() => "").then(() => this.save());
    } else if (status === 401 || status === ANOTHER_PERSON) {
      const words = status === 401 ? gettext("Signed out: sign in here, your answer is kept") : gettext("Signed in as somebody else");
      saveState("bad", words, async () => {
        if (await askToSignIn()) this.save();
      });
    } else if (status === 400 || status === 413 || status === 422) {
      // Sending the same words again would not help: the next change is tried again.
      saveState("bad", gettext("Not saved"));
      this.#refusal ||= gettext("The server does not take these words (%(status)s). They are kept on this page.", { status });
      notice(this.#refusal);
    } else {
      saveState("bad", gettext("Not saved, trying again"));
      this.#backoff.later(() => this.save());
    }
  }
}
