// Single keys. They act only when nobody types and no modifier is held, and each is printed on what it presses.

const TEXT = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox], [type=button], [type=submit])";

/** Whether a key still belongs to an input method. Safari ends a composition before the key that ends it: 229 tells. */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;

export const isTyping = () => document.activeElement?.matches(TEXT) ?? false;
export const openDialog = () => document.querySelector("dialog[open]");

/** The letter or digit of a key press, also where another script is on the keys; "" if it is none of ours. */
export function keyOf(event) {
  if (/^[\x21-\x7e]$/.test(event.key) && !/^Digit/.test(event.code)) return event.key.toLowerCase();
  // Digits by their place: on some keyboards they need Shift, on others they are other digits.
  const [, name] = /^(?:Key|Digit|Numpad)([A-Z0-9])$/.exec(event.code) ?? [];
  if (event.key === "؟") return "?";
  if (event.key === "?" || !name) return event.key === "?" ? "?" : "";
  return name.toLowerCase();
}

/** Prints 1 to 9 on the options of a part of the page, across its fields, so that no two share a key.

    Options that are not asked at the moment have none; one that never can be chosen beside this item keeps its own, so
    that a label has the same key beside every item. */
export function dealKeys(part) {
  let n = 0;
  for (const cap of part.querySelectorAll("[data-option-key]")) {
    const isAsked = cap.dataset.optionKey === "kept" || !cap.closest("label")?.querySelector("input")?.matches(":disabled");
    cap.textContent = isAsked && n < 9 ? String(++n) : "";
  }
}

function choose(part, digit) {
  const cap = [...part.querySelectorAll("[data-option-key]")].find((one) => one.textContent === digit);
  const input = cap?.closest("label").querySelector("input");
  if (!input?.disabled) {
    input?.focus();
    input?.click();
  }
  return Boolean(input);
}

/** actions: { submit(), letters: { s() {}, ... }, escape() }; optionsIn() is the part whose options the digits choose.

    Beside `letters`, a letter presses the button that names it in data-letter, as long as the part may be changed. */
export function listen({ submit, letters, escape, optionsIn }) {
  document.addEventListener("keydown", (event) => {
    if (isComposing(event) || event.defaultPrevented) return; // Enter and digits choose words in an input method.
    const dialog = openDialog();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.altKey) {
      event.preventDefault();
      if (event.repeat) return;
      if (dialog) dialog.querySelector("form")?.requestSubmit();
      else submit();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.key === "Escape") {
      if (dialog) return; // The browser closes it.
      if (isTyping()) document.activeElement.blur();
      else escape();
      return;
    }
    if (isTyping()) return;
    const key = keyOf(event);
    if (event.shiftKey && /^[a-z]$/.test(key)) return;
    const part = dialog ?? optionsIn();
    if (/^[1-9]$/.test(key)) {
      if (part && choose(part, key)) event.preventDefault();
    } else if (!dialog && Object.hasOwn(letters, key)) {
      event.preventDefault();
      letters[key]();
    } else if (!dialog && part && /^[a-z]$/.test(key)) {
      const button = document.querySelector(`[data-letter="${key}"]`);
      if (button) event.preventDefault();
      button?.click();
    }
  });
}
