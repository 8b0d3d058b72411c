// A file can be dropped anywhere on the marked area, not only on its small button.

export function acceptDrops(part = document) {
  for (const area of part.querySelectorAll(".drop")) {
    const input = area.querySelector("input[type=file]");
    area.addEventListener("dragover", (event) => {
      event.preventDefault();
      area.classList.add("is-over");
    });
    area.addEventListener("dragleave", () => area.classList.remove("is-over"));
    area.addEventListener("drop", (event) => {
      event.preventDefault();
      area.classList.remove("is-over");
      if (!event.dataTransfer.files.length) return;
      input.files = event.dataTransfer.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    });
  }
}
