// Questions with answers, pair by pair: add, remove and move them in place. Without this each button posts the form.

import { isComposing } from "./keys.js";
import { announce } from "./status.js";
import { gettext } from "./words.js";

const pairsOf = (field) => [...field.querySelectorAll("[data-pair]")];
const fieldOf = (element) => element?.closest?.("[data-pairs]");
const inputsOf = (pair) => [...pair.querySelectorAll("textarea, input")];

/** Numbers, ids and buttons follow the order in which the pairs stand. */
function renumber(field) {
  const name = field.dataset.pairs;
  const pairs = pairsOf(field);
  pairs.forEach((pair, position) => {
    for (const part of ["question", "answer"]) {
      const input = pair.querySelector(`[name="${name}.${part}"]`);
      const label = pair.querySelector(`label[for="${input.id}"]`);
      input.id = `field-${name}-${position}-${part}`;
      if (label) label.htmlFor = input.id;
      input.setAttribute("aria-describedby", `hints-${name}-${position}`);
    }
    pair.querySelector(".hints").id = `hints-${name}-${position}`;
    pair.querySelectorAll("[data-number]").forEach((one) => { one.textContent = String(position + 1); });
    for (const button of pair.querySelectorAll("button")) {
      const [step] = button.value.split("-");
      button.value = `${step}-${position}`;
      button.disabled = { up: position === 0, down: position === pairs.length - 1, remove: pairs.length === 1 }[step];
    }
  });
  const add = field.querySelector('button[value="add"]');
  add.disabled = pairs.length >= Number(field.dataset.most || 50);
}

function emptyPair(field) {
  const pair = pairsOf(field)[0].cloneNode(true);
  // Labels find their input by the id that is copied, until all are numbered anew.
  for (const input of inputsOf(pair)) input.value = "";
  pair.querySelector(".hints").replaceChildren();
  return pair;
}

function changed(field, pair, words, part = "textarea") {
  renumber(field);
  const input = pair.querySelector(part);
  input.focus();
  input.dispatchEvent(new Event("input", { bubbles: true }));
  announce(words);
}

function add(field, after = null) {
  const pairs = pairsOf(field);
  if (pairs.length >= Number(field.dataset.most || 50)) return;
  const pair = emptyPair(field);
  (after ?? pairs.at(-1)).after(pair);
  changed(field, pair, gettext("Pair %(n)s added", { n: pairsOf(field).indexOf(pair) + 1 }));
}

function remove(field, pair) {
  const pairs = pairsOf(field);
  if (pairs.length === 1) return;
  const position = pairs.indexOf(pair);
  pair.remove();
  changed(field, pairsOf(field)[Math.max(0, position - 1)], gettext("Pair %(n)s removed", { n: position + 1 }));
}

function move(field, pair, by) {
  const pairs = pairsOf(field);
  const other = pairs[pairs.indexOf(pair) + by];
  if (!other) return;
  const part = document.activeElement?.matches?.("input") ? "input" : "textarea";
  if (by < 0) other.before(pair);
  else other.after(pair);
  changed(field, pair, gettext("Now pair %(n)s", { n: pairsOf(field).indexOf(pair) + 1 }), part);
}

/** Tab goes from a pair's answer to the next question: what lies between has keys, which are printed on it. */
export function preparePairs(form) {
  for (const button of form.querySelectorAll(".pair-actions button")) button.tabIndex = -1;
}

/** As many pairs as the kept words of this form have, before they are put back. */
export function makeRoom(form, answer) {
  for (const field of form.querySelectorAll("[data-pairs]")) {
    const wanted = answer.filter(([name]) => name === `${field.dataset.pairs}.question`).length;
    while (pairsOf(field).length < wanted) pairsOf(field).at(-1).after(emptyPair(field));
    while (wanted && pairsOf(field).length > wanted) pairsOf(field).at(-1).remove();
    renumber(field);
  }
}

/** mayChange(): whether the words on the page are the person's to change. */
export function watchPairs({ mayChange }) {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-pairs] button[value]");
    if (!button) return;
    event.preventDefault(); // It would post the form.
    if (!mayChange()) return;
    const field = fieldOf(button);
    const pair = button.closest("[data-pair]");
    const [step] = button.value.split("-");
    if (step === "add") add(field);
    else if (step === "remove") remove(field, pair);
    else move(field, pair, step === "up" ? -1 : 1);
  });

  document.addEventListener("keydown", (event) => {
    const pair = event.target.closest?.("[data-pair]");
    if (!pair || isComposing(event) || !event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const field = fieldOf(pair);
    const steps = {
      ArrowUp: () => move(field, pair, -1),
      ArrowDown: () => move(field, pair, 1),
      Delete: () => remove(field, pair),
      Enter: () => add(field, pair),
    };
    if (!Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    if (mayChange() && !event.repeat) steps[event.key]();
  });
}
