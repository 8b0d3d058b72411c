// The rows of a grid and what can be done to them. Rows are never changed in place: a step back is the former array.

const MAX_STEPS = 200;
const blank = (n) => Array(n).fill("");
export const isBlank = (row) => row.every((cell) => cell.trim() === "");

export class Table {
  #undo = [];
  #redo = [];

  constructor(nColumns, rows) {
    this.nColumns = nColumns;
    this.rows = rows.length ? rows : [blank(nColumns)];
  }

  get isEmpty() { return this.rows.every(isBlank); }
  get canUndo() { return this.#undo.length > 0; }
  get canRedo() { return this.#redo.length > 0; }

  /** Rows that say something: an empty line of the grid is no row of the answer. */
  get filled() { return this.rows.filter((row) => !isBlank(row)); }

  write(at, column, text) {
    if (this.rows[at][column] !== text) this.#become(this.rows.with(at, this.rows[at].with(column, text)));
  }

  /** area: { top, bottom, left, right }, all of them inside it. */
  clear({ top, bottom, left, right }) {
    this.#become(this.rows.map((row, at) => (at < top || at > bottom ? row
      : row.map((cell, column) => (column < left || column > right ? cell : "")))));
  }

  /** Puts a block at a place; rows are added below where it needs them. Cells beyond the last column are left out. */
  paste(block, top, left) {
    const rows = this.rows.slice();
    block.forEach((cells, n) => {
      const row = (rows[top + n] ?? blank(this.nColumns)).slice();
      cells.slice(0, this.nColumns - left).forEach((cell, column) => { row[left + column] = cell; });
      rows[top + n] = row;
    });
    this.#become(rows);
  }

  insert(at, rows = [blank(this.nColumns)]) { this.#become(this.rows.toSpliced(at, 0, ...rows)); }

  duplicate(top, bottom) { this.insert(bottom + 1, this.rows.slice(top, bottom + 1)); }

  remove(top, bottom) {
    const rest = this.rows.toSpliced(top, bottom - top + 1);
    this.#become(rest.length ? rest : [blank(this.nColumns)]);
  }

  /** Whether there was room to move. by: 1 down, -1 up. */
  move(top, bottom, by) {
    if (top + by < 0 || bottom + by >= this.rows.length) return false;
    const moved = this.rows.slice(top, bottom + 1);
    this.#become(this.rows.toSpliced(top, moved.length).toSpliced(top + by, 0, ...moved));
    return true;
  }

  empty() { this.#become([blank(this.nColumns)]); }

  undo() { return this.#step(this.#undo, this.#redo); }
  redo() { return this.#step(this.#redo, this.#undo); }

  #become(rows) {
    this.#undo.push(this.rows);
    if (this.#undo.length > MAX_STEPS) this.#undo.shift();
    this.#redo = [];
    this.rows = rows;
  }

  #step(from, to) {
    if (!from.length) return false;
    to.push(this.rows);
    this.rows = from.pop();
    return true;
  }
}
