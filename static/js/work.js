// The work page: what happens from one item to the next. Each form also works without any of this.

import { Activity, inWords } from "./activity.js";
import { Attention } from "./attention.js";
import { applyConditions, nameChoice } from "./conditions.js";
import { offerLines } from "./copy_lines.js";
import { prepareAsking } from "./asides.js";
import { asDialog } from "./dialogs.js";
import { Draft } from "./drafts.js";
import { enhance, focusTarget } from "./fields.js";
import { remember, stays } from "./given.js";
import { Hints } from "./hints.js";
import { dealKeys, listen } from "./keys.js";
import { makeRoom, preparePairs, watchPairs } from "./pairs.js";
import { missingIn, putCaretAtEnd, reveal, takeBack } from "./refusals.js";
import { isUnacknowledged, send, sendWaiting, watchSending } from "./sending.js";
import { announce, notice, saveState } from "./status.js";
import * as stash from "./stash.js";
import { gettext } from "./words.js";

const work = document.getElementById("work");
const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);
const guidelines = document.getElementById("guidelines");
const itemNow = () => document.getElementById("item");
const formNow = () => document.getElementById("answer-form");
const isFrozen = () => itemNow()?.hasAttribute("data-frozen") ?? false;

let shown = null; // { item, draft, activity, attention, open } of the item on the page
let isEarly = false; // something was typed or chosen before the page was ready for it

function show({ isFirst }) {
  shown?.draft?.stop();
  shown?.activity?.stop();
  shown?.attention?.stop();
  shown?.hints?.stop();
  const item = itemNow();
  const form = formNow();
  shown = { item };
  if (!form) {
    focusOn(item.querySelector(".headline"), { isFirst });
    if (!isFirst) announce(item.dataset.headline);
    return;
  }
  shown.draft = new Draft(item, form);
  shown.open = prepareDialogs(item);
  prepareAsking(item);
  if (IS_MAC) item.querySelector("[data-key-submit]").textContent = "⌘ ⏎";
  shown.hints = new Hints(item, form);
  const kept = stash.kept(item);
  if (kept) makeRoom(form, kept.answer);
  preparePairs(form);
  if (kept && stash.restore(form, kept.answer) && !kept.submitting) shown.draft.changed();
  else if (isFirst && item.dataset.draftUrl && Number(item.dataset.draftVersion)) saveState("good", gettext("Saved"));
  if (isEarly) shown.draft.changed();
  isEarly = false;
  applyConditions(form);
  nameChoice(form);
  dealKeys(form);
  enhance(form); // With the words in it that were kept.
  offerLines(item, form);
  shown.activity = new Activity({
    idleSeconds: Number(work.dataset.idleSeconds),
    seconds: Number(form.elements.active_seconds.value),
    onTick: (seconds) => {
      form.elements.active_seconds.value = seconds;
      document.getElementById("work-timer").textContent = inWords(seconds);
    },
    onRenew: () => renew(item, form),
  });
  shown.attention = new Attention(form);
  form.querySelectorAll("[data-max-length]").forEach(count);
  focusOn(firstField(form), { isFirst });
  if (!isFirst) announce(item.querySelector(".alert.is-bad, #answer-form .field-error")?.textContent ?? gettext("Next item: %(headline)s", { headline: item.dataset.headline }));
  if (kept?.submitting) {
    // The page was left while this answer was on its way: the same answer under the same key.
    form.elements.client_key.value = kept.clientKey;
    send(form);
  }
  sendWaiting(item);
}

function firstField(form) {
  const invalid = form.querySelector("[aria-invalid=true]");
  if (invalid) return invalid.matches("fieldset") ? missingIn(invalid) : focusTarget(invalid);
  const field = form.querySelector(".field:not(.flag-note)");
  // What is not shown yet, such as the correction of a verdict, takes no focus, and would leave it in the item before.
  const chosen = [...(field?.querySelectorAll("input:checked") ?? [])].find((one) => one.getClientRects().length);
  return chosen ?? focusTarget(field?.querySelector("[name]"));
}

function focusOn(element, { isFirst }) {
  if (!element || (isFirst && document.activeElement !== document.body)) return;
  if (!isFirst && !stays(itemNow())) window.scrollTo({ top: 0, behavior: "instant" });
  const refused = formNow()?.querySelector("[aria-invalid=true]");
  // On a touch screen a focused field opens the keyboard over the item that is still to be read, or looks chosen.
  const isTouched = matchMedia("(hover: none) and (pointer: coarse)").matches && !refused;
  (isTouched ? itemNow().querySelector(".headline") : element).focus({ preventScroll: true });
  putCaretAtEnd(element);
  if (refused) reveal(refused.closest(".field"), element);
}

/** What opens as a dialog on this item, by the id of its part. */
function prepareDialogs(item) {
  const parts = [...item.querySelectorAll("details[data-dialog]")];
  const opens = parts.map((details) => [details.id, asDialog(details, { mayOpen: () => !isFrozen() })]);
  item.querySelectorAll("dialog").forEach(dealKeys);
  return Object.fromEntries(opens);
}

function count(text) {
  const most = Number(text.dataset.maxLength);
  const length = [...text.value].length;
  document.getElementById(`count-${text.name}`).textContent = length > 0.8 * most ? gettext("%(length)s of %(most)s characters", { length, most }) : "";
}

async function renew(item, form) {
  if (!item.dataset.renewUrl || isFrozen()) return;
  const { csrfmiddlewaretoken, person } = form.elements;
  try {
    const response = await fetch(item.dataset.renewUrl, {
      method: "POST",
      body: new URLSearchParams({ csrfmiddlewaretoken: csrfmiddlewaretoken.value, person: person.value }),
      headers: { "HX-Request": "true", Accept: "application/json" },
    });
    if (response.status === 409 && item === itemNow()) {
      notice(gettext("This item is no longer held for you. You can still submit; if others have taken every place, your text stays here."));
    }
  } catch {
    // The draft says when the network is away; the lease runs on until it is back.
  }
}

function onInput(event) {
  if (event.target.form !== formNow() || isFrozen()) return;
  if (!shown) {
    isEarly = true;
    return;
  }
  if (event.target.dataset.maxLength) count(event.target);
  takeBack(event.target);
  shown.draft.changed();
  shown.hints.changed();
}

document.addEventListener("input", onInput);

document.addEventListener("change", ({ target }) => {
  if (target.form !== formNow()) return;
  if (applyConditions(target.form)) dealKeys(target.form);
  nameChoice(target.form);
});

// Another look at the same item is made of the words as they stand: no draft of them may come after it.
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-look]") && !isFrozen()) shown?.draft?.stop();
});

watchPairs({ mayChange: () => !isFrozen() });

watchSending({
  onSubmit: (form) => {
    shown.draft?.stop();
    form.elements.active_seconds.value = shown.activity?.seconds ?? 0;
  },
  onRefused: () => shown.draft?.resume(),
});

// When the server is quick, the second half of a double click falls on the next item's button: it neither sends that
// item nor takes the focus from its first field.
for (const name of ["mousedown", "click"]) {
  document.addEventListener(name, (event) => {
    if (event.detail > 1 && event.target.closest("#submit-answer")) event.preventDefault();
  }, { capture: true });
}

document.body.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target === itemNow()) remember(itemNow());
});

// After settling: ids are in place, and the swap is over for htmx too.
document.body.addEventListener("htmx:afterSettle", () => {
  if (itemNow() !== shown?.item) show({ isFirst: false });
});

listen({
  submit: () => {
    // htmx sends the name of the button of a form that has the focus along: "Add a pair" would be pressed as well.
    if (document.activeElement.matches("#answer-form button")) document.activeElement.blur();
    document.getElementById("submit-answer")?.click();
  },
  optionsIn: () => (isFrozen() ? null : formNow()),
  letters: {
    s: () => shown?.open?.skip?.(),
    a: () => shown?.open?.ask?.(),
    f: () => document.getElementById("flag")?.click(),
    "?": () => guidelines && (guidelines.open = !guidelines.open),
  },
  escape: () => guidelines && (guidelines.open = false),
});

// The panel stays as it was left, for each stage, also over a reload.
const OPEN = `goldpanel:guidelines:${guidelines?.dataset.stage}`;
const closeGuidelines = guidelines?.querySelector("[data-close-guidelines]");
if (closeGuidelines) {
  closeGuidelines.hidden = false;
  closeGuidelines.addEventListener("click", () => {
    guidelines.open = false;
    guidelines.querySelector("summary").focus({ preventScroll: true });
  });
}
try {
  // A sheet would stand before the item that somebody has just come to.
  if (localStorage.getItem(OPEN) && !matchMedia("(width < 56rem)").matches) guidelines.open = true;
} catch {
  // A browser that keeps nothing begins with the panel closed.
}

guidelines?.addEventListener("toggle", () => {
  try {
    if (guidelines.open) localStorage.setItem(OPEN, "open");
    else localStorage.removeItem(OPEN);
  } catch {
    // As above.
  }
  // A sheet that covers the item takes the focus along; a panel beside it does not.
  if (guidelines.open && matchMedia("(width < 56rem)").matches) guidelines.querySelector(".guidelines-panel").focus();
});

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") shown?.draft?.save();
});

window.addEventListener("beforeunload", (event) => {
  // The tab keeps the words over a reload, but not over its own end.
  if (isUnacknowledged()) event.preventDefault();
});

// Modules run before the event that htmx starts on, and an answer may have to be sent at once.
if (document.readyState === "complete") show({ isFirst: true });
else document.addEventListener("DOMContentLoaded", () => show({ isFirst: true }), { once: true });
