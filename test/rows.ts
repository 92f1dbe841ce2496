/** Splits a table of cases into rows, one a line, and these into cells, separated by `|`. */
export const rowsOf = (table: string) =>
  table
    .trim()
    .split("\n")
    .map((line) => line.split(/ \|(?= )/).map((cell) => cell.trim()));
