// A list as lines that are added, removed and, where their order counts, moved. The textarea stays the form's value.

import { isComposing } from "./keys.js";
import { announce } from "./status.js";
import { gettext } from "./words.js";

export class Lines {
  #field;
  #textarea;
  #list;
  #caption;
  #isOrdered;

  constructor(field) {
    this.#field = field;
    this.#textarea = field.querySelector("textarea");
    this.#isOrdered = field.hasAttribute("data-ordered");
    this.#caption = field.querySelector("[data-caption]").textContent.trim();
    this.#list = document.createElement("ol");
    this.#list.className = `lines${this.#isOrdered ? " is-ordered" : ""}`;
    const add = this.#button(gettext("Add a line"), () => this.#add(this.#list.children.length));
    this.#textarea.hidden = true;
    this.#textarea.before(this.#list);
    this.#textarea.after(add);
    const lines = this.#textarea.value.split("\n").filter((line) => line.trim());
    for (const line of lines.length ? lines : [""]) this.#list.append(this.#line(line));
    this.#number();
    field.querySelector(`label[for="${this.#textarea.id}"]`).addEventListener("click", () => this.target.focus());
    this.#list.addEventListener("input", () => this.#write());
    this.#list.addEventListener("keydown", (event) => this.#key(event));
    this.#list.addEventListener("paste", (event) => this.#paste(event));
  }

  get target() { return this.#list.querySelector("input"); }

  get #isFrozen() { return Boolean(this.#field.closest("[data-frozen]")); }

  /** The list's own "input" events go on to the form, so that a draft hears of each change. */
  #write() {
    this.#textarea.value = [...this.#list.querySelectorAll("input")].map((one) => one.value).filter((one) => one.trim()).join("\n");
  }

  #changed() {
    this.#number();
    this.#write();
    this.#textarea.dispatchEvent(new Event("input", { bubbles: true }));
  }

  #button(words, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "button small";
    made.textContent = words;
    made.addEventListener("click", () => { if (!this.#isFrozen) act(); });
    return made;
  }

  #line(text) {
    const line = document.createElement("li");
    const input = document.createElement("input");
    input.className = "input";
    input.dir = "auto";
    input.autocomplete = "off";
    input.value = text;
    const { lang } = this.#textarea;
    if (lang) input.lang = lang;
    for (const name of ["aria-invalid", "aria-describedby"]) {
      if (this.#textarea.hasAttribute(name)) input.setAttribute(name, this.#textarea.getAttribute(name));
    }
    line.append(input);
    if (this.#isOrdered) line.append(this.#button(gettext("Up"), () => this.#move(line, -1)), this.#button(gettext("Down"), () => this.#move(line, 1)));
    line.append(this.#button(gettext("Remove"), () => this.#remove(line)));
    return line;
  }

  #number() {
    [...this.#list.children].forEach((line, at) => {
      line.querySelector("input").setAttribute("aria-label", gettext("%(caption)s, line %(n)s", { caption: this.#caption, n: at + 1 }));
      for (const button of line.querySelectorAll("button")) button.setAttribute("aria-label", gettext("%(act)s line %(n)s", { act: button.textContent, n: at + 1 }));
    });
  }

  #add(at, texts = [""]) {
    const made = texts.map((text) => this.#line(text));
    const next = this.#list.children[at];
    if (next) next.before(...made);
    else this.#list.append(...made);
    this.#changed();
    made.at(-1).querySelector("input").focus();
  }

  #remove(line) {
    const near = line.previousElementSibling ?? line.nextElementSibling;
    if (near) line.remove();
    else line.querySelector("input").value = "";
    this.#changed();
    (near ?? line).querySelector("input").focus();
    announce(gettext("Line removed."));
  }

  #move(line, by) {
    const other = by < 0 ? line.previousElementSibling : line.nextElementSibling;
    if (!other) return;
    if (by < 0) other.before(line);
    else other.after(line);
    this.#changed();
    line.querySelector("input").focus();
    announce(gettext("Moved to line %(n)s.", { n: [...this.#list.children].indexOf(line) + 1 }));
  }

  #key(event) {
    const line = event.target.closest("li");
    if (!event.target.matches("input") || isComposing(event) || event.ctrlKey || event.metaKey || this.#isFrozen) return;
    if (event.key === "Enter" && !event.altKey) this.#add([...this.#list.children].indexOf(line) + 1);
    else if (event.key === "Backspace" && event.target.value === "" && this.#list.children.length > 1) this.#remove(line);
    else if (event.altKey && this.#isOrdered && event.key === "ArrowUp") this.#move(line, -1);
    else if (event.altKey && this.#isOrdered && event.key === "ArrowDown") this.#move(line, 1);
    else return;
    event.preventDefault();
  }

  /** Lines that are pasted become lines. */
  #paste(event) {
    const [first, ...more] = event.clipboardData.getData("text/plain").split(/\r?\n/).filter((text) => text.trim());
    if (!more.length || this.#isFrozen) return;
    event.preventDefault();
    const { target } = event;
    target.setRangeText(first, target.selectionStart, target.selectionEnd, "end");
    this.#add([...this.#list.children].indexOf(target.closest("li")) + 1, more);
  }
}
