// A part that opens in place without scripts opens as a dialog with them: the same form, the same buttons.

import { gettext } from "./words.js";

/** details: <details data-dialog="Title"> with a summary and an .in-place-body. Returns a function that opens it. */
export function asDialog(details, { mayOpen = () => true } = {}) {
  const summary = details.querySelector("summary");
  const body = details.querySelector(".in-place-body");
  const dialog = document.createElement("dialog");
  const head = document.createElement("div");
  const title = document.createElement("h2");
  const close = document.createElement("button");
  title.textContent = details.dataset.dialog;
  title.id = `${details.id}-title`;
  close.type = "button";
  close.className = "button small";
  close.textContent = gettext("Close");
  close.addEventListener("click", () => dialog.close());
  head.className = "dialog-head";
  head.append(title, close);
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.append(head, body);
  // Beside the details, not in them: what is folded away cannot be shown.
  details.closest("#item").append(dialog);
  details.open = false;
  const open = () => {
    if (!mayOpen() || dialog.open) return;
    dialog.showModal();
    (body.querySelector("textarea") ?? body.querySelector("input:checked, input:not([type=hidden])"))?.focus();
  };
  summary.addEventListener("click", (event) => {
    event.preventDefault();
    open();
  });
  dialog.addEventListener("close", () => summary.focus({ preventScroll: true }));
  return open;
}
