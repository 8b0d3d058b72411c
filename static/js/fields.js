// What fields become where scripts run: a grid, lines. The named control of each field stays and holds its value.

import { Grid } from "./grid.js";
import { Lines } from "./lines.js";

const parts = new WeakMap(); // field -> its Grid or Lines

export function enhance(form) {
  for (const field of form.querySelectorAll("[data-grid]")) parts.set(field, new Grid(field));
  for (const field of form.querySelectorAll("[data-lines]")) parts.set(field, new Lines(field));
}

/** What takes the focus for a control that is hidden behind something better. */
export function focusTarget(control) {
  return parts.get(control?.closest(".field"))?.target ?? control;
}

/** How the server reads what was typed, beside the fields: { name: words }. */
export function showReadings(form, readings = {}) {
  for (const place of form.querySelectorAll("[data-reading]")) place.textContent = readings[place.dataset.reading] ?? "";
}

/** Everything that was typed stands in the form's values. */
function settle() {
  for (const field of document.querySelectorAll("#answer-form [data-grid]")) parts.get(field)?.settle();
}

// Before anybody else looks at the values.
document.addEventListener("submit", settle, { capture: true });
document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") settle(); }, { capture: true });
window.addEventListener("pagehide", settle, { capture: true });
window.addEventListener("beforeunload", settle, { capture: true });
