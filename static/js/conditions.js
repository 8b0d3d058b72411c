// Fields that are asked only after one choice: data-when names the value of the decision that they belong to.
// The stylesheet hides the others; disabled, they are neither sent nor chosen by a key, and keep what was typed.

/** Asks for what belongs to the decision that is chosen; tells whether anything changed. */
export function applyConditions(form) {
  const decision = form.querySelector("[name=decision]:checked")?.value;
  let isOther = false;
  for (const part of form.querySelectorAll("[data-when]")) {
    isOther ||= part.disabled !== (part.dataset.when !== decision);
    part.disabled = part.dataset.when !== decision;
  }
  return isOther;
}

/** The main button says what it does with the answer that is chosen. */
export function nameChoice(form) {
  const words = form.querySelector("[data-words]:checked")?.dataset.words;
  const place = document.querySelector("#submit-words [data-choice]");
  if (place) place.textContent = words ? `“${words.length > 24 ? `${words.slice(0, 23)}…` : words}”` : place.dataset.choice;
}
