// "Copy" beside a table: its text with tabs, as spreadsheets take it.

import { gettext } from "./words.js";

export function asTsv(table) {
  return [...table.rows]
    .map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim()).join("\t"))
    .join("\n");
}

export function offerCopies(part = document) {
  for (const table of part.querySelectorAll("table[data-copyable]")) {
    const stack = table.closest(".table-scroll").parentElement;
    let slot = stack.querySelector("[data-copy-slot]");
    if (!slot) {
      slot = stack.appendChild(document.createElement("span"));
      slot.dataset.copySlot = ""; // Found again when htmx settles a fragment of the same page.
    }
    if (slot.querySelector("button")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button small";
    button.textContent = gettext("Copy as TSV");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(asTsv(table));
        button.textContent = gettext("Copied");
      } catch {
        getSelection().selectAllChildren(table); // Not allowed here: the table is selected, ready for Ctrl+C.
        button.textContent = gettext("Selected: press Ctrl+C");
      }
      setTimeout(() => { button.textContent = gettext("Copy as TSV"); }, 4000);
    });
    slot.append(button);
  }
}
