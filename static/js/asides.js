// What happens beside the answer: a question to the admins, and news that were read. The item and its form stay.

import { Backoff } from "./backoff.js";
import { openDialog } from "./keys.js";
import { askToSignIn, renewToken } from "./session.js";
import { announce, saveState } from "./status.js";
import { gettext } from "./words.js";

const PREFIX = "goldpanel:asking:";
const backoff = new Backoff();

let isOnTheWay = false;

const nameFor = (item) => `${PREFIX}${item.dataset.person}`;

/** The form of a question on a new item: with the words of one that was never acknowledged. */
export function prepareAsking(item) {
  const form = document.getElementById("ask-form");
  if (!form) return;
  const kept = read(nameFor(item));
  if (kept) {
    form.elements.text.value = kept.text;
    form.elements.about.value = kept.about;
    form.elements.client_key.value = kept.clientKey;
    if (form.action !== kept.url) {
      form.action = kept.url;
      problem(gettext("These words were kept from an earlier item, and are sent about that one."));
    }
  }
  form.addEventListener("input", () => keep(item, form));
}

async function ask(item, form) {
  if (isOnTheWay) return;
  isOnTheWay = true;
  backoff.cancel();
  keep(item, form);
  const outcome = await post(form);
  isOnTheWay = false;
  if (outcome.status === 200 && outcome.told.client_key) {
    sent(item, form, outcome.told);
  } else if (outcome.status === 401) {
    problem(gettext("You are signed out. Your question is kept; sign in and it is sent."));
    if (await askToSignIn()) ask(item, form);
  } else if (outcome.status === 0 || outcome.status === 429 || outcome.status >= 500) {
    problem(gettext("Not sent yet: the network or the server is away. Your question is kept and is sent again by itself."));
    backoff.later(() => ask(item, form));
  } else {
    problem(outcome.told.message ?? gettext("The server did not take this (%(status)s). Your question is kept in this tab.", { status: outcome.status }));
  }
}

function sent(item, form, told) {
  forget(nameFor(item));
  form.elements.text.value = "";
  form.elements.about.value = "item";
  // The next question is another one.
  form.elements.client_key.value = told.client_key;
  problem("");
  form.closest("dialog")?.close();
  saveState("good", gettext("Question sent"));
  announce(told.message);
}

async function post(form, isSecond = false) {
  try {
    const response = await fetch(form.action, {
      method: "POST",
      body: new URLSearchParams(new FormData(form)),
      headers: { "HX-Request": "true", Accept: "application/json" },
      signal: AbortSignal.timeout(20_000),
    });
    if (response.status === 403 && !isSecond) {
      form.elements.csrfmiddlewaretoken.value = await renewToken();
      return post(form, true);
    }
    // A proxy's own page says 200 too: acknowledged is only what carries the server's words.
    const told = await response.json().catch(() => ({}));
    return { status: response.ok && !told.client_key && form.id === "ask-form" ? 502 : response.status, told };
  } catch {
    return { status: 0, told: {} };
  }
}

function problem(words) {
  const place = document.getElementById("ask-problem");
  place.replaceChildren();
  if (!words) return;
  const error = document.createElement("p");
  error.className = "field-error";
  error.textContent = words;
  place.append(error);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  const item = form.closest("#item");
  if (form.id === "ask-form" && item) {
    event.preventDefault();
    ask(item, form);
  } else if (form.closest(".told")) {
    event.preventDefault();
    const told = form.closest(".told");
    post(form).then(({ status }) => {
      // It stands there until the server knows that it was read.
      if (status < 300 && status) told.remove();
      if (!openDialog()) document.querySelector("#item .headline")?.focus({ preventScroll: true });
    });
  }
});

function keep(item, form) {
  const { text, about, client_key: clientKey } = form.elements;
  try {
    if (text.value) sessionStorage.setItem(nameFor(item), JSON.stringify({ text: text.value, about: about.value, clientKey: clientKey.value, url: form.action }));
    else forget(nameFor(item));
  } catch (fault) {
    console.warn("The browser keeps nothing for this tab:", fault.name);
  }
}

function read(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name));
  } catch {
    return null;
  }
}

function forget(name) {
  try {
    sessionStorage.removeItem(name);
  } catch {
    // Nothing was kept where nothing may be kept.
  }
}
