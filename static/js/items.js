// Side by side: j to the next item, k to the one before. The links are printed with their keys.

import { isTyping, keyOf, openDialog } from "./keys.js";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.isComposing || isTyping() || openDialog()) return;
  const key = keyOf(event);
  if (key === "j" || key === "k") document.querySelector(`a[data-key="${key}"]`)?.click();
});
