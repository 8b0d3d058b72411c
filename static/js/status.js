// What the page says about itself: the state in the head, a notice with something to do, and words for screen readers.

const byId = (id) => document.getElementById(id);

export function clock(date = new Date()) {
  return new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(date);
}

/** Read aloud when the screen reader is free; the same words twice are read twice. */
export function announce(text) {
  const announcer = byId("announcer");
  announcer.textContent = "";
  // A region that changes from x to x within one frame says nothing.
  requestAnimationFrame(() => { announcer.textContent = text; });
}

let shown = { text: "", mood: "" };

/** mood: "", "good", "bad" or "busy". act: what pressing the words does, for a state that asks for something. */
export function saveState(mood, text, act = null) {
  const pill = byId("save-state");
  if (!pill) return;
  pill.className = `pill save-state${mood ? ` is-${mood}` : ""}`;
  if (act) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", act);
    pill.replaceChildren(button);
  } else {
    pill.textContent = text;
  }
  // "Saved" every few seconds would drown the item: only trouble, and its end, is read aloud.
  if (mood === "bad" && shown.text !== text) announce(text);
  if (mood === "good" && shown.text && shown.mood !== "good" && shown.mood !== "busy") announce(text);
  shown = { text, mood };
}

/** Words above the item, until they are taken back. act: what "Try now" does, if there is something to try. */
export function notice(text, act = null) {
  const box = byId("notice");
  const button = box.querySelector("button");
  box.querySelector("p").textContent = text;
  button.hidden = !act;
  button.onclick = act;
  box.hidden = false;
}

export function clearNotice() {
  byId("notice").hidden = true;
}
