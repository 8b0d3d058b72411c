// Words that the server has not acknowledged, kept for this tab: per person and assignment, gone once acknowledged.

const PREFIX = "goldpanel:answer:";
// Not the person's words: they belong to the page as it was sent.
const OF_THE_PAGE = new Set(["csrfmiddlewaretoken", "person", "client_key", "draft_version"]);

const keyOf = (person, token) => `${PREFIX}${person}:${token}`;

export function answerOf(form) {
  return [...new FormData(form)].filter(([name]) => !OF_THE_PAGE.has(name));
}

/** submitting: the person has pressed Submit, and nobody knows yet whether it arrived. */
export function keep(item, form, { submitting = false } = {}) {
  const kept = { answer: answerOf(form), clientKey: form.elements.client_key.value, url: form.action, submitting };
  try {
    sessionStorage.setItem(keyOf(item.dataset.person, item.dataset.token), JSON.stringify(kept));
  } catch (problem) {
    // Full or forbidden: the page itself still holds the words, and the state in the head stays honest.
    console.warn("The browser keeps nothing for this tab:", problem.name);
  }
}

export function kept(item) {
  return read(keyOf(item.dataset.person, item.dataset.token));
}

export function drop(person, token) {
  forget(keyOf(person, token));
}

/** Submissions of this person for other items that were never acknowledged: [{token, answer, clientKey, url}]. */
export function waiting(person, exceptToken) {
  const start = `${PREFIX}${person}:`;
  return names()
    .filter((name) => name.startsWith(start) && name !== `${start}${exceptToken}`)
    .map((name) => ({ token: name.slice(start.length), ...read(name) }))
    .filter((one) => one.submitting);
}

/** Puts kept words back into the form; tells whether that changed anything. */
export function restore(form, answer) {
  const before = JSON.stringify(answerOf(form));
  const values = Map.groupBy ? Map.groupBy(answer, ([name]) => name) : grouped(answer);
  for (const control of form.elements) {
    if (!control.name || OF_THE_PAGE.has(control.name)) continue;
    const given = (values.get(control.name) ?? []).map(([, value]) => value);
    if (control.type === "radio" || control.type === "checkbox") control.checked = given.includes(control.value);
    else if (given.length) [control.value] = given;
  }
  return JSON.stringify(answerOf(form)) !== before;
}

function grouped(pairs) {
  const map = new Map();
  for (const pair of pairs) map.set(pair[0], [...(map.get(pair[0]) ?? []), pair]);
  return map;
}

function names() {
  try {
    return Object.keys(sessionStorage);
  } catch {
    return [];
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
