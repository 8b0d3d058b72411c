// "Copy selected lines into the answer": a long text that is given, line by line, exactly as it stands.

import { announce } from "./status.js";
import { gettext, ngettext } from "./words.js";

const LONG = { lines: 4, characters: 200 };

/** Offers it beside each long text of the item, if the form has a field that a text can go into. */
export function offerLines(item, form) {
  const fields = [...form.querySelectorAll("[data-takes-lines]")];
  if (!fields.length) return;
  let [target] = fields;
  form.addEventListener("focusin", (event) => {
    if (fields.includes(event.target)) ({ target } = event);
  });
  for (const block of item.querySelectorAll(".given :is(.content-text, .content-mono)")) {
    const lines = block.textContent.split("\n");
    if (lines.length >= LONG.lines && block.textContent.length >= LONG.characters) new LineChooser(block, lines, () => target);
  }
}

class LineChooser {
  #block;
  #lines;
  #target;
  #spans;
  #chosen = new Set();
  #at = 0;
  #from = 0;
  #choose;
  #copy;

  constructor(block, lines, target) {
    this.#block = block;
    this.#lines = lines;
    this.#target = target;
    this.#spans = lines.map((line, at) => {
      const span = document.createElement("span");
      span.className = "text-line";
      span.dataset.line = at;
      span.id = `${block.id || "text"}-${performance.now().toString(36).replace(".", "")}-${at}`;
      span.textContent = at < lines.length - 1 ? `${line}\n` : line;
      return span;
    });
    block.replaceChildren(...this.#spans);
    block.classList.add("has-lines");
    this.#choose = this.#button(gettext("Choose lines"), () => this.#toggle());
    this.#choose.setAttribute("aria-pressed", "false");
    this.#copy = this.#button(gettext("Copy selected lines into the answer"), () => this.#give());
    // The selection of the mouse must outlive the press of the button.
    this.#copy.addEventListener("mousedown", (event) => event.preventDefault());
    const tools = document.createElement("div");
    tools.className = "line-tools";
    tools.append(this.#choose, this.#copy);
    block.before(tools);
    // Shift stretches the browser's own selection, unless lines are what is selected here.
    block.addEventListener("mousedown", (event) => { if (event.shiftKey && this.#isChoosing) event.preventDefault(); });
    block.addEventListener("click", (event) => this.#click(event));
    block.addEventListener("keydown", (event) => this.#key(event));
  }

  get #isChoosing() { return this.#choose.getAttribute("aria-pressed") === "true"; }

  #button(words, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "button small";
    made.textContent = words;
    made.addEventListener("click", act);
    return made;
  }

  /** Lines to choose from instead of a text to read: said to screen readers only while it is so. */
  #toggle({ isOn = !this.#isChoosing, takesFocus = true } = {}) {
    this.#choose.setAttribute("aria-pressed", String(isOn));
    this.#block.classList.toggle("is-choosing", isOn);
    if (isOn) {
      this.#block.dataset.role = this.#block.getAttribute("role") ?? "";
      this.#block.setAttribute("role", "listbox");
      this.#block.setAttribute("aria-multiselectable", "true");
      if (!this.#block.hasAttribute("aria-label")) this.#block.setAttribute("aria-label", gettext("Lines of the text"));
      this.#block.tabIndex = 0;
      for (const span of this.#spans) span.setAttribute("role", "option");
      this.#mark();
      if (takesFocus) this.#block.focus({ preventScroll: true });
    } else {
      this.#chosen.clear();
      this.#mark();
      if (this.#block.dataset.role) this.#block.setAttribute("role", this.#block.dataset.role);
      else this.#block.removeAttribute("role");
      for (const name of ["aria-multiselectable", "aria-activedescendant"]) this.#block.removeAttribute(name);
      if (!this.#block.matches(".content-mono")) for (const name of ["tabindex", "aria-label"]) this.#block.removeAttribute(name);
      for (const span of this.#spans) for (const name of ["role", "aria-selected"]) span.removeAttribute(name);
    }
  }

  #click(event) {
    const span = event.target.closest("[data-line]");
    // Text that was selected with the mouse is no click on a line.
    if (!span || !getSelection().isCollapsed) return;
    const at = Number(span.dataset.line);
    if (!this.#isChoosing) this.#toggle({ isOn: true, takesFocus: false });
    if (event.shiftKey) this.#extend(at);
    else {
      this.#turn(at);
      this.#from = at;
    }
    this.#at = at;
    this.#mark();
  }

  #key(event) {
    if (!this.#isChoosing || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.#lines.length - 1;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -last, End: last };
    if (Object.hasOwn(steps, event.key)) {
      this.#at = Math.min(last, Math.max(0, this.#at + steps[event.key]));
      if (event.shiftKey) this.#extend(this.#at);
      else this.#from = this.#at;
      this.#mark();
      this.#spans[this.#at].scrollIntoView({ block: "nearest" });
    } else if (event.key === " ") {
      this.#turn(this.#at);
      this.#from = this.#at;
      this.#mark();
    } else if (event.key === "Enter") this.#give();
    else if (event.key === "Escape") {
      this.#toggle({ isOn: false });
      this.#choose.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #turn(at) {
    if (!this.#chosen.delete(at)) this.#chosen.add(at);
  }

  #extend(to) {
    const [first, last] = [this.#from, to].sort((a, b) => a - b);
    for (let at = first; at <= last; at += 1) this.#chosen.add(at);
  }

  #mark() {
    this.#spans.forEach((span, at) => {
      const isChosen = this.#chosen.has(at);
      span.classList.toggle("is-chosen", isChosen);
      if (this.#isChoosing) span.ariaSelected = String(isChosen);
    });
    this.#spans.forEach((span, at) => span.classList.toggle("is-at", this.#isChoosing && at === this.#at));
    if (this.#isChoosing) this.#block.setAttribute("aria-activedescendant", this.#spans[this.#at].id);
    const n = this.#chosen.size;
    this.#copy.textContent = n
      ? ngettext("Copy 1 selected line into the answer", "Copy %(n)s selected lines into the answer", n)
      : gettext("Copy selected lines into the answer");
  }

  /** Every line that the mouse's selection touches. */
  #touched() {
    const selection = getSelection();
    if (selection.isCollapsed || !selection.rangeCount) return [];
    const range = selection.getRangeAt(0);
    return this.#spans.flatMap((span, at) => (range.intersectsNode(span) && isTouched(range, span) ? [at] : []));
  }

  #give() {
    const field = this.#target();
    if (field.readOnly) return;
    const places = this.#chosen.size ? [...this.#chosen].sort((a, b) => a - b) : this.#touched();
    if (!places.length) {
      announce(gettext("No line is selected."));
      if (!this.#isChoosing) this.#toggle();
      return;
    }
    const isLong = field.matches("textarea");
    const given = places.map((at) => this.#lines[at]).join(isLong ? "\n" : " ");
    const before = field.value && isLong && !field.value.endsWith("\n") ? `${field.value}\n` : field.value && !isLong ? `${field.value} ` : field.value;
    field.value = before + given;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    this.#chosen.clear();
    this.#mark();
    announce(ngettext("1 line copied into the answer.", "%(n)s lines copied into the answer.", places.length));
  }
}

/** A range that ends where a line begins has nothing of it. */
function isTouched(range, span) {
  const line = document.createRange();
  line.selectNodeContents(span);
  return range.compareBoundaryPoints(Range.END_TO_START, line) < 0 && range.compareBoundaryPoints(Range.START_TO_END, line) > 0;
}
