// A table that is filled in like a spreadsheet. The textarea of the field stays the form's value: what is typed here is
// written into it as text, so that drafts, sending and a page without scripts know nothing of a grid.

import { isComposing } from "./keys.js";
import { formatTsv, headerKey, isOdd, parseTsv } from "./grid_text.js";
import { Table } from "./grid_table.js";
import { announce } from "./status.js";
import { gettext, ngettext } from "./words.js";

// Rows above and below the visible ones. All others are no part of the page: 900 rows cost as much as 30.
const MARGIN = 6;
const PAUSE = 300; // milliseconds until what was typed is written into the textarea
const WIDTHS = { least: 6, most: 26 }; // of columns, in characters
const SAMPLE = 200;
const KEYS = [
  [gettext("Arrows, Tab, Enter"), gettext("move; with Shift arrows select, Tab and Enter go back")],
  [gettext("Typing, F2, double click"), gettext("write into a cell; Enter or Tab keeps it, Escape does not")],
  ["Alt+Enter", gettext("a new line inside the cell; outside of one, a row below")],
  ["Delete", gettext("empty what is selected")],
  ["Ctrl+C, Ctrl+X, Ctrl+V", gettext("copy, cut and paste, also from and to a spreadsheet")],
  ["Ctrl+Z, Ctrl+Y", gettext("undo, redo")],
  ["Ctrl+D, Ctrl+Delete", gettext("duplicate, remove the selected rows")],
  ["Alt+↑, Alt+↓", gettext("move the selected rows")],
  ["Ctrl+Home, Ctrl+End", gettext("the first cell, the last one")],
  [gettext("Escape, then Tab"), gettext("leave the table")],
];

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export class Grid {
  #field;
  #textarea;
  #columns;
  #types;
  #isNamed; // The columns are declared; else the first row names them.
  #table = null;
  #scroller;
  #body;
  #state;
  #buttons = {};
  #noRow;
  #drawn = new Map(); // row number -> its element, with what it shows in .row
  #editor = null;
  #active = { row: 0, column: 0 };
  #anchor = { row: 0, column: 0 };
  #enterColumn = 0; // Where Enter goes back to after Tab.
  #mayLeave = false;
  #timer = null;
  #frame = null;
  #box;
  #asText;
  #said = ""; // What the last paste left out; it stands there until something else changes.

  constructor(field) {
    this.#field = field;
    this.#textarea = field.querySelector("textarea");
    this.#columns = JSON.parse(field.dataset.columns);
    this.#types = JSON.parse(field.dataset.types);
    this.#isNamed = this.#columns.length > 0;
    this.#build();
    this.#open();
  }

  get hasFocus() { return this.#scroller.contains(document.activeElement); }
  get isOpen() { return !this.#box.hidden; }
  /** What takes the focus when the field is asked to. */
  get target() { return this.isOpen ? this.#cell(this.#active) : this.#textarea; }

  /** Writes what stands in the grid into the textarea now. */
  flush() {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#textarea.value = this.#text();
    this.#textarea.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** A cell that is being written is kept, as if Enter had been pressed. */
  settle() {
    if (this.#editor) this.#endEdit(true);
    this.flush();
  }

  // From text to rows and back

  /** Shows the textarea's text as a grid; false if a grid could not show all of it. */
  #open() {
    const rows = this.#rowsOf(this.#textarea.value);
    this.#box.hidden = !rows;
    this.#textarea.hidden = Boolean(rows);
    this.#asText.textContent = rows ? gettext("As text") : gettext("As a grid");
    for (const control of this.#field.querySelectorAll("[data-of-grid]")) control.hidden = !rows;
    if (!rows) {
      this.#state.textContent = gettext("This text is more than rows of these columns. It is kept as it is, and can be changed here.");
      return false;
    }
    this.#table = new Table(this.#columns.length, rows.body);
    this.#noRow.checked = rows.isNamed && this.#table.isEmpty;
    this.#active = { row: 0, column: 0 };
    this.#anchor = this.#active;
    this.#drawHead();
    this.#draw();
    return true;
  }

  #rowsOf(text) {
    let rows = parseTsv(text);
    if (text.trim() === "") rows = [];
    if (!this.#isNamed) {
      const width = Math.max(3, ...rows.map((row) => row.length));
      this.#columns = Array.from({ length: width }, (_, n) => String.fromCodePoint(65 + (n % 26)).repeat(1 + Math.floor(n / 26)));
    } else if (rows.length && this.#columns.length > 1 && !text.includes("\t")) {
      return null; // Commas, Markdown, JSON: the server reads them, too.
    }
    const names = rows[0] ?? [];
    const places = this.#isNamed && rows.length ? this.#placesOf(names) : null;
    const body = places ? rows.slice(1) : rows;
    if (body.some((row) => row.length > (places ? names.length : this.#columns.length))) return null;
    return {
      isNamed: Boolean(places),
      body: body.map((row) => this.#columns.map((_, column) => row[places ? places.indexOf(column) : column] ?? "")),
    };
  }

  /** Which column each of these names is, if all of them are columns and none comes twice; else null. */
  #placesOf(names) {
    const known = this.#columns.map(headerKey);
    const places = names.map((name) => known.indexOf(headerKey(name)));
    return names.length && !places.includes(-1) && new Set(places).size === places.length ? places : null;
  }

  #text() {
    let rows = this.#table.filled;
    if (this.#editor) {
      const { row, column } = this.#active;
      const written = this.#table.rows.with(row, this.#table.rows[row].with(column, this.#editor.value));
      rows = written.filter((cells) => cells.some((cell) => cell.trim()));
    }
    if (this.#isNamed) return rows.length || this.#noRow.checked ? formatTsv([this.#columns, ...rows]) : "";
    const width = Math.max(1, ...rows.map((row) => row.findLastIndex((cell) => cell.trim()) + 1));
    return rows.length ? formatTsv(rows.map((row) => row.slice(0, width))) : "";
  }

  #changed(said = "") {
    this.#said = said;
    if (!this.#table.isEmpty) this.#noRow.checked = false;
    this.#schedule();
    this.#draw();
  }

  #schedule() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), PAUSE);
  }

  get #isFrozen() { return Boolean(this.#field.closest("[data-frozen]")); }

  // What is on the page

  #build() {
    const { id } = this.#textarea;
    const label = this.#field.querySelector(`label[for="${id}"]`);
    const caption = label.querySelector("[data-caption]") ?? label;
    caption.id ||= `${id}-caption`;
    const hint = `${id}-hint`;
    const button = (name, words, keys, act) => {
      const made = element("button", { type: "button", class: "button small", "data-of-grid": "" }, words);
      if (keys) made.setAttribute("aria-keyshortcuts", keys);
      made.addEventListener("click", () => {
        if (this.#isFrozen) return;
        if (this.#editor) this.#endEdit(true);
        act();
      });
      this.#buttons[name] = made;
      return made;
    };
    this.#noRow = element("input", { type: "checkbox" });
    this.#noRow.addEventListener("change", () => {
      if (this.#noRow.checked && !this.#table.isEmpty) this.#table.empty();
      this.#active = this.#anchor = { row: 0, column: 0 };
      this.#changed();
    });
    this.#noRow.addEventListener("input", (event) => event.stopPropagation());
    const noRow = element("label", { class: "button small toggle", "data-of-grid": "" }, this.#noRow, gettext("No row fits"));
    this.#asText = element("button", { type: "button", class: "button small quiet" }, gettext("As text"));
    this.#asText.addEventListener("click", () => {
      if (this.isOpen) this.#close();
      else if (this.#open()) this.#focus();
    });
    const tools = element("div", { class: "grid-tools", role: "group", "aria-label": gettext("%(caption)s: rows", { caption: caption.textContent.trim() }) },
      button("add", gettext("Add row"), "Alt+Enter", () => this.#addRow()),
      button("duplicate", gettext("Duplicate"), "Control+D", () => this.#duplicate()),
      button("up", gettext("Up"), "Alt+ArrowUp", () => this.#move(-1)),
      button("down", gettext("Down"), "Alt+ArrowDown", () => this.#move(1)),
      button("remove", gettext("Remove"), "Control+Delete", () => this.#remove()),
      button("undo", gettext("Undo"), "Control+Z", () => this.#step("undo")),
      button("redo", gettext("Redo"), "Control+Y", () => this.#step("redo")),
      ...(this.#isNamed ? [noRow] : [button("column", gettext("Add column"), "", () => this.#addColumn())]),
      this.#asText);
    this.#scroller = element("div", { class: "grid-scroll", role: "grid", "aria-multiselectable": "true",
      "aria-labelledby": caption.id, "aria-describedby": `${hint} ${this.#textarea.getAttribute("aria-describedby") ?? ""}`.trim() });
    if (this.#textarea.getAttribute("aria-invalid") === "true") this.#field.classList.add("is-refused");
    this.#body = element("div", { class: "grid-body", role: "rowgroup" });
    this.#state = element("p", { class: "help grid-state" });
    this.#box = element("div", { class: "grid-box" }, this.#scroller);
    const keys = element("dl", { class: "grid-keys-list" });
    for (const [key, means] of KEYS) keys.append(element("dt", {}, key), element("dd", {}, means));
    const help = element("details", { class: "grid-keys", "data-of-grid": "" }, element("summary", {}, gettext("Keys of the table")), keys);
    const words = element("p", { id: hint, class: "visually-hidden" },
      gettext("Arrow keys move between cells, typing or F2 writes into one. Escape, then Tab, leaves the table."));
    this.#textarea.before(words, tools, this.#box);
    this.#textarea.after(this.#state, help);
    label.addEventListener("click", () => { if (this.isOpen) this.#focus(); });
    this.#listen();
  }

  #close() {
    this.settle();
    this.#box.hidden = true;
    this.#textarea.hidden = false;
    this.#asText.textContent = gettext("As a grid");
    for (const control of this.#field.querySelectorAll("[data-of-grid]")) control.hidden = true;
    this.#state.textContent = "";
    this.#textarea.focus();
  }

  /** Each column as wide as what it holds, within bounds; measured when a text or a block comes in, not with each key. */
  #fitColumns() {
    const sample = this.#table.rows.slice(0, SAMPLE);
    const tracks = this.#columns.map((name, column) => {
      const widest = Math.max(name.length + 3, ...sample.map((row) => row[column].length));
      return `minmax(${(Math.min(WIDTHS.most, Math.max(WIDTHS.least, widest)) * 0.55 + 1.5).toFixed(2)}rem, 1fr)`;
    });
    // Through the object model: a style attribute in markup is what the page's policy refuses.
    this.#scroller.style.setProperty("--grid-tracks", `3rem ${tracks.join(" ")}`);
  }

  #drawHead() {
    this.#fitColumns();
    this.#scroller.setAttribute("aria-colcount", this.#columns.length + 1);
    const corner = element("div", { role: "columnheader", class: "grid-corner", "aria-colindex": 1 },
      element("span", { class: "visually-hidden" }, gettext("Row")));
    const head = element("div", { role: "row", class: "grid-row grid-head", "aria-rowindex": 1 }, corner);
    this.#columns.forEach((name, column) => {
      const type = this.#isNamed ? this.#types[column] : "";
      const cell = element("div", { role: "columnheader", "aria-colindex": column + 2, "data-column": column },
        element("bdi", {}, name));
      if (type && type !== "text") cell.append(" ", element("span", { class: "unit" }, type));
      head.append(cell);
    });
    this.#drawn.clear();
    this.#body.replaceChildren();
    this.#scroller.replaceChildren(element("div", { class: "grid-inner", role: "presentation" },
      element("div", { role: "rowgroup", class: "grid-top" }, head), this.#body));
  }

  get #rowHeight() { return this.#drawn.get(this.#active.row)?.offsetHeight || 36; }

  #draw() {
    const { rows } = this.#table;
    this.#active = this.#within(this.#active);
    this.#anchor = this.#within(this.#anchor);
    if (!this.#drawn.has(this.#active.row)) this.#drawRow(this.#active.row);
    const height = this.#rowHeight;
    this.#body.style.blockSize = `${rows.length * height}px`;
    const first = Math.max(0, Math.floor(this.#scroller.scrollTop / height) - MARGIN);
    const last = Math.min(rows.length - 1, Math.ceil((this.#scroller.scrollTop + this.#scroller.clientHeight) / height) + MARGIN);
    for (const [at, made] of this.#drawn) {
      if (at >= rows.length || ((at < first || at > last) && at !== this.#active.row)) {
        made.remove();
        this.#drawn.delete(at);
      }
    }
    for (let at = first; at <= last; at += 1) this.#drawRow(at);
    this.#drawRow(this.#active.row);
    for (const [at, made] of this.#drawn) made.style.insetBlockStart = `${at * height}px`;
    this.#scroller.setAttribute("aria-rowcount", rows.length + 1);
    this.#mark();
    this.#tell();
  }

  #drawRow(at) {
    const cells = this.#table.rows[at];
    let made = this.#drawn.get(at);
    if (!made) {
      made = element("div", { role: "row", class: "grid-row", "aria-rowindex": at + 2, "data-row": at });
      made.append(element("div", { role: "rowheader", class: "grid-number", "aria-colindex": 1 }, String(at + 1)));
      cells.forEach((_, column) => {
        made.append(element("div", { role: "gridcell", dir: "auto", tabindex: -1, "aria-colindex": column + 2, "data-column": column }));
      });
      this.#drawn.set(at, made);
      // In the order of the rows: a screen reader reads them so.
      const next = [...this.#drawn.keys()].filter((other) => other > at);
      this.#body.insertBefore(made, next.length ? this.#drawn.get(Math.min(...next)) : null);
    }
    if (made.row === cells) return;
    cells.forEach((text, column) => {
      const cell = made.children[column + 1];
      if (made.row?.[column] === text || cell.contains(this.#editor)) return;
      cell.textContent = text;
      const odd = this.#isNamed && isOdd(text, this.#types[column]);
      cell.classList.toggle("is-odd", odd);
      if (odd) cell.title = gettext("This column holds values like %(type)s; it is kept as it is.", { type: this.#types[column] });
      else cell.removeAttribute("title");
    });
    made.row = cells;
  }

  /** Selection and focus, on the rows that are drawn. */
  #mark() {
    const { top, bottom, left, right } = this.#area;
    const isOne = top === bottom && left === right;
    for (const [at, made] of this.#drawn) {
      for (let column = 0; column < this.#columns.length; column += 1) {
        const cell = made.children[column + 1];
        const isIn = at >= top && at <= bottom && column >= left && column <= right;
        const isActive = at === this.#active.row && column === this.#active.column;
        if (cell.ariaSelected !== String(isIn)) cell.ariaSelected = String(isIn);
        cell.classList.toggle("is-selected", isIn && !isOne);
        if ((cell.tabIndex === 0) !== isActive && !cell.contains(this.#editor)) cell.tabIndex = isActive ? 0 : -1;
      }
    }
  }

  #tell() {
    const n = this.#table.filled.length - (this.#isNamed ? 0 : 1);
    const rows = ngettext("1 row.", "%(n)s rows.", n, { n: Math.max(0, n).toLocaleString("en") });
    let nOdd = 0;
    let where = "";
    if (this.#isNamed && this.#types.some((type) => type && type !== "text")) {
      this.#table.rows.forEach((row, at) => row.forEach((cell, column) => {
        if (!isOdd(cell, this.#types[column])) return;
        nOdd += 1;
        where ||= gettext("Row %(n)s, %(column)s: “%(cell)s” looks like no %(type)s", {
          n: at + 1, column: this.#columns[column], cell: cell.slice(0, 30), type: this.#types[column],
        });
      }));
    }
    const odd = nOdd > 1
      ? gettext("%(where)s; %(n)s more like it. It may stay so.", { where, n: nOdd - 1 })
      : nOdd ? gettext("%(where)s. It may stay so.", { where }) : "";
    const names = this.#isNamed ? "" : gettext("The first row names the columns.");
    this.#state.textContent = this.#noRow.checked
      ? gettext("The answer is: no row fits.")
      : [this.#said, rows, names, odd].filter(Boolean).join(" ");
    this.#buttons.undo.disabled = !this.#table.canUndo;
    this.#buttons.redo.disabled = !this.#table.canRedo;
  }

  // Where one is

  #cell({ row, column }) { return this.#drawn.get(row)?.children[column + 1]; }

  #within({ row, column }) {
    return {
      row: Math.min(Math.max(row, 0), this.#table.rows.length - 1),
      column: Math.min(Math.max(column, 0), this.#columns.length - 1),
    };
  }

  get #area() {
    const [top, bottom] = [this.#anchor.row, this.#active.row].sort((a, b) => a - b);
    const [left, right] = [this.#anchor.column, this.#active.column].sort((a, b) => a - b);
    return { top, bottom, left, right };
  }

  #go(place, { extend = false, tabbing = false } = {}) {
    const before = this.#active;
    this.#active = this.#within(place);
    if (!extend) this.#anchor = this.#active;
    if (!tabbing) this.#enterColumn = this.#active.column;
    this.#drawRow(this.#active.row);
    this.#drawn.get(this.#active.row).style.insetBlockStart = `${this.#active.row * this.#rowHeight}px`;
    if (Math.abs(before.row - this.#active.row) > 1) this.#draw();
    else this.#mark();
    this.#focus();
  }

  #focus() {
    const cell = this.#cell(this.#active);
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // What is done to rows

  #addRow() {
    const at = this.#area.bottom + 1;
    this.#table.insert(at);
    this.#changed();
    this.#go({ row: at, column: 0 });
    announce(gettext("Row %(n)s added.", { n: at + 1 }));
  }

  #addColumn() {
    const rows = parseTsv(this.#text());
    const width = this.#columns.length + 1;
    this.#columns.push(String.fromCodePoint(65 + ((width - 1) % 26)).repeat(1 + Math.floor((width - 1) / 26)));
    this.#table = new Table(width, rows.map((row) => this.#columns.map((_, column) => row[column] ?? "")));
    this.#drawHead();
    this.#changed();
    this.#go({ row: 0, column: width - 1 });
  }

  #duplicate() {
    const { top, bottom } = this.#area;
    this.#table.duplicate(top, bottom);
    this.#changed();
    this.#go({ row: bottom + 1, column: this.#active.column });
    announce(top === bottom
      ? gettext("Row %(n)s duplicated.", { n: top + 1 })
      : gettext("Rows %(first)s to %(last)s duplicated.", { first: top + 1, last: bottom + 1 }));
  }

  #remove() {
    const { top, bottom } = this.#area;
    this.#table.remove(top, bottom);
    this.#changed();
    this.#go({ row: top, column: this.#active.column });
    announce(top === bottom
      ? gettext("Row %(n)s removed.", { n: top + 1 })
      : gettext("Rows %(first)s to %(last)s removed.", { first: top + 1, last: bottom + 1 }));
  }

  #move(by) {
    const { top, bottom } = this.#area;
    if (!this.#table.move(top, bottom, by)) return;
    this.#changed();
    this.#anchor = { ...this.#anchor, row: this.#anchor.row + by };
    this.#go({ ...this.#active, row: this.#active.row + by }, { extend: true });
    announce(gettext("Moved to row %(n)s.", { n: this.#area.top + 1 }));
  }

  #step(name) {
    if (!this.#table[name]()) return;
    this.#changed();
    this.#go(this.#active);
    announce(name === "undo" ? gettext("Undone.") : gettext("Done again."));
  }

  #clear() {
    this.#table.clear(this.#area);
    this.#changed();
  }

  // Writing into a cell

  #edit({ fresh = false } = {}) {
    if (this.#isFrozen || this.#editor) return;
    const { row, column } = this.#active;
    const cell = this.#cell(this.#active);
    const editor = element("textarea", { class: "grid-editor", rows: 1, dir: "auto", autocomplete: "off", spellcheck: "false",
      "aria-label": gettext("%(column)s, row %(n)s", { column: this.#columns[column], n: row + 1 }) });
    const language = this.#textarea.getAttribute("lang");
    if (language) editor.lang = language;
    editor.value = fresh ? "" : this.#table.rows[row][column];
    this.#editor = editor;
    this.#noRow.checked = false;
    cell.classList.add("is-edited");
    cell.removeAttribute("tabindex"); // The editor in it has the focus instead.
    cell.replaceChildren(editor);
    editor.focus({ preventScroll: true });
    editor.setSelectionRange(editor.value.length, editor.value.length);
    // The draft hears of it after a pause, not with each key: the whole table is written then.
    editor.addEventListener("input", (event) => { event.stopPropagation(); this.#schedule(); });
    editor.addEventListener("blur", () => { if (this.#editor === editor) this.#endEdit(true); });
    editor.addEventListener("paste", (event) => event.stopPropagation());
    editor.addEventListener("copy", (event) => event.stopPropagation());
    editor.addEventListener("cut", (event) => event.stopPropagation());
  }

  #endEdit(keeps) {
    const editor = this.#editor;
    const { row, column } = this.#active;
    const cell = this.#cell(this.#active);
    this.#editor = null;
    cell.classList.remove("is-edited");
    cell.tabIndex = 0;
    cell.textContent = this.#table.rows[row][column];
    if (keeps && editor.value !== this.#table.rows[row][column]) {
      this.#table.write(row, column, editor.value);
      this.#changed();
    } else {
      this.#schedule();
      this.#tell();
    }
  }

  // Keys, pointers and the clipboard

  #listen() {
    const scroller = this.#scroller;
    scroller.addEventListener("keydown", (event) => (this.#editor ? this.#editKey(event) : this.#key(event)));
    scroller.addEventListener("scroll", () => {
      this.#frame ??= requestAnimationFrame(() => { this.#frame = null; this.#draw(); });
    }, { passive: true });
    // A first look may come before the grid has a size.
    new ResizeObserver(() => { if (this.isOpen) this.#draw(); }).observe(scroller);
    scroller.addEventListener("pointerdown", (event) => this.#press(event));
    scroller.addEventListener("pointermove", (event) => {
      const place = event.pointerType === "mouse" && event.buttons === 1 && !this.#editor ? placeOf(event.target) : null;
      if (place && (place.row !== this.#active.row || place.column !== this.#active.column)) this.#go(place, { extend: true });
    });
    scroller.addEventListener("dblclick", (event) => { if (placeOf(event.target)) this.#edit(); });
    scroller.addEventListener("copy", (event) => this.#copy(event));
    scroller.addEventListener("cut", (event) => { if (this.#copy(event) && !this.#isFrozen) this.#clear(); });
    scroller.addEventListener("paste", (event) => this.#paste(event));
  }

  #press(event) {
    if (event.target === this.#editor || event.button !== 0) return;
    const number = event.target.closest(".grid-number");
    const head = event.target.closest(".grid-head [data-column]");
    const place = placeOf(event.target);
    if (number) {
      const row = Number(number.parentElement.dataset.row);
      this.#settleEdit();
      this.#go({ row, column: 0 });
      this.#anchor = { row, column: this.#columns.length - 1 };
      this.#mark();
    } else if (head) {
      const column = Number(head.dataset.column);
      this.#settleEdit();
      this.#go({ row: 0, column });
      this.#anchor = { row: this.#table.rows.length - 1, column };
      this.#mark();
    } else if (place) {
      const isAgain = place.row === this.#active.row && place.column === this.#active.column && this.hasFocus;
      this.#settleEdit();
      if (event.pointerType !== "mouse" && !isAgain) return this.#tap(event.target);
      this.#go(place, { extend: event.shiftKey });
      // A second tap writes: a finger has no double click that a page may count on.
      if (event.pointerType !== "mouse" && isAgain) event.target.addEventListener("click", () => this.#edit(), { once: true });
    } else return;
    event.preventDefault();
  }

  /** A finger that comes down may be about to scroll: only when it has stayed is the cell chosen. */
  #tap(target) {
    target.addEventListener("click", () => { const place = placeOf(target); if (place) this.#go(place); }, { once: true });
  }

  #settleEdit() { if (this.#editor) this.#endEdit(true); }

  #editKey(event) {
    if (isComposing(event)) return; // Enter and Tab choose words in an input method.
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && isCommand) {
      this.settle(); // And the answer is sent: keys.js has this one.
      this.#focus();
      return;
    }
    if (event.key === "Enter" && event.altKey) {
      this.#editor.setRangeText("\n", this.#editor.selectionStart, this.#editor.selectionEnd, "end");
      this.#schedule();
    } else if (event.key === "Enter") {
      this.#endEdit(true);
      this.#enter(event.shiftKey);
    } else if (event.key === "Tab") {
      this.#endEdit(true);
      if (!this.#tab(event.shiftKey)) { this.#focus(); return; }
    } else if (event.key === "Escape") {
      this.#endEdit(false);
      this.#focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #key(event) {
    if (event.key === "Tab" && this.#mayLeave) return;
    if (["Shift", "Control", "Alt", "Meta", "CapsLock"].includes(event.key)) return;
    this.#mayLeave = event.key === "Escape";
    if (this.#isFrozen) return;
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === "Escape") {
      this.#anchor = this.#active;
      this.#mark();
      announce(gettext("Tab leaves the table."));
    } else if (isCommand && event.key === "Enter") return;
    else if (!(isCommand ? this.#commandKey(event) : event.altKey && !event.getModifierState("AltGraph") ? this.#altKey(event) : this.#plainKey(event))) return;
    event.preventDefault();
    event.stopPropagation();
  }

  #commandKey(event) {
    const { row, column } = this.#active;
    const extend = event.shiftKey;
    const lastRow = this.#table.rows.length - 1;
    const lastColumn = this.#columns.length - 1;
    switch (event.key.length === 1 ? event.key.toLowerCase() : event.key) {
      case "Home": this.#go({ row: 0, column: 0 }, { extend }); return true;
      case "End": this.#go({ row: lastRow, column: lastColumn }, { extend }); return true;
      case "ArrowUp": this.#go({ row: 0, column }, { extend }); return true;
      case "ArrowDown": this.#go({ row: lastRow, column }, { extend }); return true;
      case "ArrowLeft": this.#go({ row, column: this.#isMirrored ? lastColumn : 0 }, { extend }); return true;
      case "ArrowRight": this.#go({ row, column: this.#isMirrored ? 0 : lastColumn }, { extend }); return true;
      case "a":
        this.#anchor = { row: 0, column: 0 };
        this.#go({ row: lastRow, column: lastColumn }, { extend: true });
        return true;
      case "z": this.#step(event.shiftKey ? "redo" : "undo"); return true;
      case "y": this.#step("redo"); return true;
      case "d": this.#duplicate(); return true;
      case "Delete": case "Backspace": this.#remove(); return true;
      default: return false;
    }
  }

  #altKey(event) {
    if (event.key === "ArrowUp" || event.key === "ArrowDown") this.#move(event.key === "ArrowUp" ? -1 : 1);
    else if (event.key === "Enter") this.#addRow();
    else return false;
    return true;
  }

  #plainKey(event) {
    const { row, column } = this.#active;
    const extend = event.shiftKey;
    const page = Math.max(1, Math.floor(this.#scroller.clientHeight / this.#rowHeight) - 2);
    const side = this.#isMirrored ? -1 : 1;
    switch (event.key) {
      case "ArrowUp": this.#go({ row: row - 1, column }, { extend }); return true;
      case "ArrowDown": this.#go({ row: row + 1, column }, { extend }); return true;
      case "ArrowLeft": this.#go({ row, column: column - side }, { extend }); return true;
      case "ArrowRight": this.#go({ row, column: column + side }, { extend }); return true;
      case "Home": this.#go({ row, column: 0 }, { extend }); return true;
      case "End": this.#go({ row, column: this.#columns.length - 1 }, { extend }); return true;
      case "PageUp": this.#go({ row: row - page, column }, { extend }); return true;
      case "PageDown": this.#go({ row: row + page, column }, { extend }); return true;
      case "Enter": this.#enter(event.shiftKey); return true;
      case "Tab": return this.#tab(event.shiftKey);
      case "F2": this.#edit(); return true;
      case "Delete": case "Backspace": this.#clear(); return true;
      default:
        // The key itself, or what an input method makes of it, goes into the editor that has the focus by then.
        if ([...event.key].length === 1 || event.key === "Process" || event.key === "Dead") this.#edit({ fresh: true });
        return false;
    }
  }

  get #isMirrored() { return getComputedStyle(this.#scroller).direction === "rtl"; }

  /** Below, in the column where Tab began; under a last row that says something a new one is made. */
  #enter(isBack) {
    const { row } = this.#active;
    const isLast = row === this.#table.rows.length - 1;
    if (!isBack && isLast && this.#table.rows[row].some((cell) => cell.trim())) {
      this.#table.insert(row + 1);
      this.#changed();
    }
    this.#go({ row: row + (isBack ? -1 : 1), column: this.#enterColumn });
  }

  /** The next cell, over the end of a row; false at the very last or first: there Tab leaves the grid. */
  #tab(isBack) {
    const n = this.#columns.length;
    const at = this.#active.row * n + this.#active.column + (isBack ? -1 : 1);
    if (at < 0 || at >= n * this.#table.rows.length) return false;
    const row = Math.floor(at / n);
    this.#go({ row, column: at % n }, { tabbing: row === this.#active.row });
    return true;
  }

  #copy(event) {
    if (this.#editor) return false;
    const { top, bottom, left, right } = this.#area;
    const block = this.#table.rows.slice(top, bottom + 1).map((row) => row.slice(left, right + 1));
    event.clipboardData.setData("text/plain", formatTsv(block));
    event.preventDefault();
    announce(gettext("%(n)s cells copied.", { n: block.length * block[0].length }));
    return true;
  }

  #paste(event) {
    if (this.#editor || this.#isFrozen) return;
    event.preventDefault();
    const text = event.clipboardData.getData("text/plain");
    let block = parseTsv(text);
    if (!block.length) return;
    const { top, bottom, left, right } = this.#area;
    let start = left;
    const said = [];
    const places = this.#isNamed && block.length > 1 && (block[0].length > 1 || this.#columns.length === 1) ? this.#placesOf(block[0]) : null;
    if (places) {
      // A block with its own head: cells go under their names, wherever those stand.
      const width = this.#columns.length;
      const above = this.#table.rows;
      block = block.slice(1).map((row, n) => Array.from({ length: width }, (_, column) => row[places.indexOf(column)] ?? above[top + n]?.[column] ?? ""));
      start = 0;
      said.push(gettext("The first line named the columns."));
    } else if (block.length === 1 && block[0].length === 1 && (top !== bottom || left !== right)) {
      block = Array.from({ length: bottom - top + 1 }, () => Array(right - left + 1).fill(block[0][0]));
    }
    const widest = Math.max(...block.map((row) => row.length));
    const nOver = widest - (this.#columns.length - start);
    if (nOver > 0) said.push(ngettext(
      "1 column beyond the last one left out; Undo takes the paste back.",
      "%(n)s columns beyond the last one left out; Undo takes the paste back.",
      nOver,
    ));
    this.#table.paste(block, top, start);
    this.#fitColumns();
    this.#anchor = { row: top, column: start };
    const words = [ngettext("1 row pasted.", "%(n)s rows pasted.", block.length), ...said].join(" ");
    this.#changed(said.length ? words : "");
    this.#go({ row: top + block.length - 1, column: start + widest - 1 }, { extend: true });
    announce(words);
  }
}

function placeOf(target) {
  const cell = target.closest?.("[role=gridcell]");
  return cell ? { row: Number(cell.parentElement.dataset.row), column: Number(cell.dataset.column) } : null;
}
