// Words that the server has not acknowledged, kept for this tab: per person and assignment, gone once acknowledged.

const PREFIX = "goldpanel:answer:";
// Not the person's words: they belong to the page as it was sent.
const OF_THE_PAGE = new Set(["csrfmiddlewaretoken", "person", "client_key", "draft_version"]);
// What the words were written for: sent along with them, but never put into a page that shows something newer.
const SEEN = new Set(["stage_version", "guideline_version", "pins.seen"]);
// What a decision was made on, and how its page stood: as for SEEN. Choices and reasons of that name are words.
const OF_A_DECISION = "decision-";
const MEASURED = new Set(["active_seconds", "attention"]);
const isWords = ([name]) => !MEASURED.has(name) && !SEEN.has(name);

const keyOf = (person, token) => `${PREFIX}${person}:${token}`;

export function answerOf(form) {
  return [...new FormData(form)].filter(([name]) => !OF_THE_PAGE.has(name));
}

/** submitting: the person has pressed Submit, and nobody knows yet whether it arrived. */
export function keep(item, form, { submitting = false } = {}) {
  const { client_key: clientKey, draft_version: draftVersion } = form.elements;
  const one = {
    answer: answerOf(form),
    clientKey: clientKey.value,
    draftVersion: Number(draftVersion.value),
    url: form.action,
    submitting,
  };
  write(keyOf(item.dataset.person, item.dataset.token), one);
}

export function kept(item) {
  return read(keyOf(item.dataset.person, item.dataset.token));
}

export function drop(person, token) {
  forget(keyOf(person, token));
}

/** The server has refused it for good: the words stay in the tab, but are not sent again by themselves. */
export function holdBack(person, token) {
  const name = keyOf(person, token);
  write(name, { ...read(name), submitting: false });
}

/** Submissions of this person for other items that were never acknowledged: [{token, answer, clientKey, url}]. */
export function waiting(person, exceptToken) {
  const start = `${PREFIX}${person}:`;
  return names()
    .filter((name) => name.startsWith(start) && name !== `${start}${exceptToken}`)
    .map((name) => ({ token: name.slice(start.length), ...read(name) }))
    .filter((one) => one.submitting);
}

/** Puts kept words and the time they took back into the form; tells whether that changed any word. */
export function restore(form, answer) {
  const words = () => JSON.stringify(answerOf(form).filter(isWords));
  const before = words();
  const turns = {}; // Several inputs of one name get its values one after another.
  for (const control of form.elements) {
    if (!control.name || control.type === "submit" || OF_THE_PAGE.has(control.name) || SEEN.has(control.name)) continue;
    if (control.type === "hidden" && control.name.startsWith(OF_A_DECISION)) continue;
    const given = answer.filter(([name]) => name === control.name).map(([, value]) => value);
    if (control.type === "radio" || control.type === "checkbox") control.checked = given.includes(control.value);
    else if (given.length) {
      const turn = turns[control.name] ?? 0;
      control.value = given[Math.min(turn, given.length - 1)];
      turns[control.name] = turn + 1;
    }
  }
  return words() !== before;
}

function names() {
  try {
    return Object.keys(sessionStorage);
  } catch {
    return [];
  }
}

function write(name, one) {
  try {
    sessionStorage.setItem(name, JSON.stringify(one));
  } catch (problem) {
    // Full or forbidden: the page itself still holds the words, and the state in the head stays honest.
    console.warn("The browser keeps nothing for this tab:", problem.name);
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
