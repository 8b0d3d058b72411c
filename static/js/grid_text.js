// Tables as text, the way spreadsheets copy them and annotate/answers/table_text.py reads them. Nothing of the page here.

/** Rows of cells out of text with tabs between them; a quoted cell may hold tabs, line breaks and doubled quotes. */
export function parseTsv(text) {
  const rows = [];
  let row = [];
  let cell = "";
  let isQuoted = false;
  const endCell = () => { row.push(cell); cell = ""; };
  const endRow = () => { endCell(); rows.push(row); row = []; };
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') { cell += sign; at += 1; } else isQuoted = false;
    } else if (sign === '"' && cell === "") isQuoted = true;
    else if (sign === "\t") endCell();
    else if (sign === "\n") endRow();
    else if (sign === "\r") { if (text[at + 1] !== "\n") endRow(); } else cell += sign;
  }
  if (cell !== "" || row.length) endRow();
  return rows;
}

/** The same rows as text. A single column is quoted where a comma or a bar would be taken for what separates columns. */
export function formatTsv(rows) {
  const isPlain = rows.every((row) => row.length > 1 || (row[0] !== "" && !/[,;|]/.test(row[0])));
  const quoted = (cell) => `"${cell.replaceAll('"', '""')}"`;
  return rows.map((row) => row.map((cell) => (isPlain && !/["\t\n\r]/.test(cell) ? cell : quoted(cell))).join("\t")).join("\n");
}

/** Two names with one key are one column, as `header_key` has it. */
export const headerKey = (name) => name.normalize("NFKC").toLowerCase().replace(/[\s_\u00ad-]+/g, "");

const NO_VALUE = /^(null|none|n\/a|nan)?$/i;
const LOOKS_LIKE = {
  number: /^[^\p{L}\p{Nd}]{0,3}\p{Nd}/u,
  date: /\p{Nd}/u,
  year: /^\D{0,3}\p{Nd}{1,4}(\s*(BCE?|CE|AD))?$/iu,
};

/** A cell that does not look like what its column holds. It is pointed out, and kept as it is. */
export function isOdd(cell, type) {
  return Object.hasOwn(LOOKS_LIKE, type) && !NO_VALUE.test(cell.trim()) && !LOOKS_LIKE[type].test(cell.trim());
}
