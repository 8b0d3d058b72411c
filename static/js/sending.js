// What happens to a submission that does not come through: kept, sent again with the same key, never twice, never lost.

import { Backoff } from "./backoff.js";
import { askToSignIn, renewToken } from "./session.js";
import { clearNotice, clock, notice, saveState } from "./status.js";
import * as stash from "./stash.js";
import { gettext } from "./words.js";

const backoff = new Backoff();
let tokenRenewed = false;
let isOnTheWay = false;

const itemOf = (element) => element.closest("#item");
const isAnswer = (element) => element.id === "answer-form";
const isItem = (html) => /\sid="item"/.test(html);
const isConflict = (html) => html.includes('data-conflict="person"');

/** Submitted, not acknowledged: leaving the page now would be a risk. */
export const isUnacknowledged = () => Boolean(document.querySelector("#item[data-frozen]"));

/** While nobody knows whether an answer has arrived it must not change: the same key stands for the same words. */
function freeze(item, isFrozen) {
  for (const dialog of item.querySelectorAll("dialog[open]")) dialog.close(); // It would hide what the page has to say.
  item.toggleAttribute("data-frozen", isFrozen);
  for (const text of item.querySelectorAll("textarea, input:not([type=radio], [type=checkbox], [type=hidden])")) {
    text.readOnly = isFrozen;
  }
}

export function send(element) {
  if (!element.isConnected) return;
  backoff.cancel();
  window.htmx.trigger(element, element.matches("form") ? "submit" : "click");
}

let refused = () => {};

/** onSubmit(form) runs when an answer sets out, onRefused() when it came back for good and may be changed again. */
export function watchSending({ onSubmit, onRefused }) {
  refused = onRefused;
  document.addEventListener("click", (event) => {
    const control = event.target.closest("[data-frozen] :is(input, label, summary, a)");
    if (!control) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });

  document.body.addEventListener("htmx:beforeRequest", (event) => {
    const { elt } = event.detail;
    if (!itemOf(elt)) return;
    if (isOnTheWay) {
      event.preventDefault(); // The second click of a double click.
      return;
    }
    isOnTheWay = true;
    if (!elt.matches("form")) return;
    if (isAnswer(elt)) {
      onSubmit(elt);
      stash.keep(itemOf(elt), elt, { submitting: true });
    }
    freeze(itemOf(elt), true);
    saveState("busy", gettext("Saving"));
  });

  document.body.addEventListener("htmx:afterRequest", () => { isOnTheWay = false; });

  document.body.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, requestConfig: { elt } } = event.detail; // detail.elt is what would be exchanged.
    const item = itemOf(elt);
    if (!item || event.detail.isError || xhr.status === 204) return;
    isOnTheWay = false; // It has arrived; what is shown next may have to be sent at once.
    if (xhr.status === 409 && isConflict(xhr.responseText)) {
      event.detail.shouldSwap = false;
      anotherPerson(elt);
    } else if (!isItem(xhr.responseText)) {
      // Not an item: a sign-in page that a redirect led to, or a proxy's own page. It must not replace the answer.
      event.detail.shouldSwap = false;
      failed(elt, xhr.responseText.includes('data-page="sign-in"') ? 401 : 502);
    } else {
      arrived(elt, item, xhr.status);
    }
  });

  for (const name of ["htmx:sendError", "htmx:timeout", "htmx:sendAbort"]) {
    document.body.addEventListener(name, (event) => failed(event.detail.requestConfig.elt, 0));
  }
  document.body.addEventListener("htmx:responseError", (event) => failed(event.detail.requestConfig.elt, event.detail.xhr.status));
}

function arrived(elt, item, status) {
  backoff.reset();
  tokenRenewed = false;
  clearNotice();
  if (status >= 400) {
    // Refused with a reason that the new page shows: the words stay the person's, to be changed and sent anew.
    if (isAnswer(elt)) stash.keep(item, elt);
    saveState("", gettext("Not submitted"));
  } else if (elt.matches("form")) {
    stash.drop(item.dataset.person, item.dataset.token);
    saveState("good", gettext("Saved %(time)s", { time: clock() }));
  } else {
    // The page that came holds the words that were sent: older ones must not be put back over them.
    if (elt.matches("[data-look]")) stash.drop(item.dataset.person, item.dataset.token);
    saveState("", "");
  }
}

function failed(elt, status) {
  const item = itemOf(elt);
  if (!item) return;
  const again = () => send(elt);
  if (status === 403 && !tokenRenewed) {
    tokenRenewed = true;
    renewToken().then(again, () => failed(elt, 0));
  } else if (status === 401) {
    signedOut(elt);
  } else if (status === 0 || status === 429 || status >= 500) {
    saveState("bad", gettext("Not saved, trying again"));
    notice(status ? gettext("The server has trouble. Your answer is kept on this page and is sent again by itself.")
      : gettext("The network or the server is away. Your answer is kept on this page and is sent again by itself."), again);
    backoff.later(again);
  } else {
    freeze(item, false);
    stash.holdBack(item.dataset.person, item.dataset.token);
    refused();
    saveState("bad", gettext("Not submitted"));
    notice(gettext("The server did not take this (%(status)s). Your answer is kept on this page.", { status }), again);
  }
}

async function signedOut(elt) {
  const again = () => send(elt);
  saveState("bad", gettext("Signed out: sign in here, your answer is kept"), () => signedOut(elt));
  if (await askToSignIn()) again();
  else notice(gettext("You are signed out. Your answer is kept on this page and is sent when you have signed in."), () => signedOut(elt));
}

async function anotherPerson(elt) {
  const ask = () => anotherPerson(elt);
  saveState("bad", gettext("Signed in as somebody else"), ask);
  const isSignedIn = await askToSignIn({
    title: gettext("Somebody else is signed in"),
    words: gettext("This answer belongs to the person who wrote it. Nothing was stored. Sign in as that person and it will be sent."),
  });
  if (isSignedIn) send(elt);
  else notice(gettext("Somebody else is signed in. This answer is kept on this page; it is sent when the person who wrote it signs in."), ask);
}

/** Answers to earlier items that a dead network held back, of the person who is signed in now. */
export async function sendWaiting(item) {
  for (const one of stash.waiting(item.dataset.person, item.dataset.token)) {
    const body = new URLSearchParams(one.answer);
    body.set("person", item.dataset.person);
    body.set("client_key", one.clientKey);
    body.set("csrfmiddlewaretoken", document.querySelector("input[name=csrfmiddlewaretoken]").value);
    try {
      const response = await fetch(one.url, { method: "POST", body, headers: { "HX-Request": "true" } });
      const text = await response.text();
      if (response.ok && isItem(text)) {
        stash.drop(item.dataset.person, one.token);
        saveState("good", gettext("Saved %(time)s", { time: clock() }));
      } else if ((response.status === 409 && !isConflict(text)) || response.status === 404) {
        stash.holdBack(item.dataset.person, one.token);
        notice(gettext("An answer to an earlier item came too late: that item is no longer open for you. Its text stays in this tab."));
      }
    } catch {
      return; // Still away: the next item tries again.
    }
  }
}
