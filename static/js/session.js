// Signing in again over the page, so that a dead session never costs an answer.

import { gettext } from "./words.js";

const dialog = () => document.getElementById("sign-in-dialog");
const signInUrl = () => document.getElementById("work").dataset.signInUrl;

const FOR_A_SCRIPT = { Accept: "application/json" };

/** Every form on the page gets the token of the present session: signing in has replaced it. */
export async function renewToken() {
  // A script that asks gets the page with its form even where somebody is signed in, and no way round by the home.
  const response = await fetch(signInUrl(), { cache: "no-store", headers: FOR_A_SCRIPT });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return adopt(page.querySelector("input[name=csrfmiddlewaretoken]")?.value);
}

function adopt(token = "") {
  if (token) for (const input of document.querySelectorAll("input[name=csrfmiddlewaretoken]")) input.value = token;
  return token;
}

let asking = null;

/** Opens the dialog; resolves to true once somebody has signed in, to false if it was closed. */
export function askToSignIn({ title = gettext("You are signed out"), words = gettext("Your answer is kept on this page. Sign in again and it will be sent.") } = {}) {
  document.getElementById("sign-in-title").textContent = title;
  document.getElementById("sign-in-words").textContent = words;
  asking ??= new Promise((resolve) => {
    const box = dialog();
    const form = box.querySelector("form");
    const code = form.elements.code;
    const finish = (signedIn) => {
      asking = null;
      form.onsubmit = null;
      box.onclose = null;
      if (box.open) box.close();
      code.value = "";
      resolve(signedIn);
    };
    form.onsubmit = async (event) => {
      event.preventDefault();
      if (await signIn(form)) finish(true);
      else code.select();
    };
    form.querySelector("[data-signed-in]").onclick = async () => {
      await renewToken().catch(() => "");
      finish(true);
    };
    form.querySelector("[data-close]").onclick = () => box.close();
    box.onclose = () => finish(false);
    complain("");
    box.showModal();
    code.focus();
  });
  return asking;
}

async function signIn(form) {
  const button = form.querySelector(".primary");
  if (button.disabled) return false;
  button.disabled = true;
  try {
    const body = new URLSearchParams({ code: form.elements.code.value, csrfmiddlewaretoken: await renewToken() });
    const response = await fetch(signInUrl(), { method: "POST", body, headers: FOR_A_SCRIPT });
    const answer = response.headers.get("Content-Type")?.includes("json") ? await response.json() : {};
    if (answer.ok) {
      adopt(answer.csrf_token);
      return true;
    }
    complain(answer.error || gettext("Signing in was refused (%(status)s). Your answer is kept.", { status: response.status }));
  } catch {
    complain(gettext("The server cannot be reached. Your answer is kept; try again in a moment."));
  } finally {
    button.disabled = false;
  }
  return false;
}

function complain(text) {
  document.getElementById("sign-in-error").textContent = text;
  document.getElementById("sign-in-code").toggleAttribute("aria-invalid", Boolean(text));
  if (text) document.getElementById("sign-in-code").setAttribute("aria-invalid", "true");
}
