// The fields of a stage's form: added, and moved by buttons where without scripts a number says the place.

const editors = document.querySelector("[data-field-editors]");
const empty = document.querySelector("template[data-empty-field]");

if (editors && empty) {
  const form = editors.closest("form");
  const total = form.querySelector("[name$='-TOTAL_FORMS']");
  const most = Number(form.querySelector("[name$='-MAX_NUM_FORMS']").value);

  const told = () => editors.dispatchEvent(new Event("change", { bubbles: true }));
  // A field that nobody has begun to fill in keeps no place: it would count as changed.
  const isBegun = (one) => Boolean(one.querySelector("[name$='-name']").value || one.querySelector("[name$='-caption']").value);

  const number = () => {
    const all = [...editors.children];
    let place = 0;
    for (const [n, one] of all.entries()) {
      const order = one.querySelector("[name$='-ORDER']");
      order.value = isBegun(one) ? String((place += 1)) : "";
      one.querySelector("[data-move=up]").disabled = n === 0;
      one.querySelector("[data-move=down]").disabled = n === all.length - 1;
    }
  };

  const offer = (one) => {
    one.querySelector(".field-place").hidden = true;
    for (const button of one.querySelectorAll("[data-move]")) {
      button.hidden = false;
      button.addEventListener("click", () => {
        const other = button.dataset.move === "up" ? one.previousElementSibling : one.nextElementSibling;
        if (!other) return;
        if (button.dataset.move === "up") other.before(one);
        else other.after(one);
        number();
        // At an end the button that was pressed does nothing more.
        (button.disabled ? one.querySelector("[data-move]:not(:disabled)") : button)?.focus();
        told();
      });
    }
  };

  /** Of the settings only those that the chosen type has; one that was refused stays in sight. */
  const fit = (one) => {
    const type = one.querySelector("[name$='-type']");
    const ofTypes = JSON.parse(type.dataset.settings);
    for (const setting of new Set(Object.values(ofTypes).flat())) {
      const part = one.querySelector(`[name$='-${setting}']`).closest("div");
      part.hidden = !ofTypes[type.value].includes(setting) && !part.querySelector(".field-error");
    }
  };

  for (const one of editors.children) {
    offer(one);
    fit(one);
  }
  form.addEventListener("input", number);
  form.addEventListener("change", ({ target }) => { if (target.dataset.settings) fit(target.closest("details")); });
  number();

  const add = document.createElement("button");
  add.type = "button";
  add.className = "button";
  add.textContent = editors.lastElementChild.querySelector("summary").textContent.trim();
  add.addEventListener("click", () => {
    const n = Number(total.value);
    const made = document.createElement("div");
    made.innerHTML = empty.innerHTML.replaceAll("__prefix__", String(n));
    const one = made.firstElementChild;
    one.open = true;
    editors.append(one);
    total.value = String(n + 1);
    add.hidden = n + 1 >= most;
    offer(one);
    fit(one);
    number();
    one.querySelector("input").focus();
  });
  editors.after(add);
  // One blank field stands there for browsers without scripts; here the button makes as many as are wanted.
  const last = editors.lastElementChild;
  if (editors.children.length > 1 && !last.open && !isBegun(last)) {
    last.remove();
    total.value = String(Number(total.value) - 1);
  }
  number();
}

// On a phone the preview would stand before or after everything else: it is folded until somebody wants to look.
const preview = document.querySelector("[data-folds-on-phones]");
if (preview && matchMedia("(width < 46rem)").matches) preview.open = false;
