// A field that was refused: where the person goes on, what they see, and when its message is out of date.

const LINES = "textarea, input[type=text]";

/** What still wants words in a refused group; else what is chosen, else its beginning. */
export function missingIn(group) {
  const inputs = [...group.querySelectorAll("input, textarea")].filter((one) => one.getClientRects().length);
  return inputs.find((one) => one.matches(LINES) && !one.value.trim()) ?? inputs.find((one) => one.checked) ?? inputs[0];
}

/** Words that are there already are gone on with, not written before. */
export function putCaretAtEnd(element) {
  if (!element.matches(LINES) || !element.value) return;
  element.setSelectionRange(element.value.length, element.value.length);
  element.scrollTop = element.scrollHeight;
}

/** Both the message and what it is about come into sight; where the window is too low for both, the latter. */
export function reveal(field, element) {
  for (const one of [field.querySelector(".field-error"), element]) one?.scrollIntoView({ block: "nearest", behavior: "instant" });
}

/** A message is about the words that were sent: when they change it goes, and leaves its room so that nothing moves. */
export function takeBack(input) {
  for (const error of input.form.querySelectorAll(".field-error[id]")) {
    const field = error.closest(".field");
    if (!field.contains(input)) continue;
    for (const one of [field, ...field.querySelectorAll("[aria-invalid]")]) one.removeAttribute("aria-invalid");
    field.classList.remove("is-refused");
    error.removeAttribute("id"); // Nothing is described by it any more.
    error.classList.add("is-past");
  }
}
