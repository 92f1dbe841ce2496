/** Splits a table of cases into rows, one for each line, and each row into cells, which are separated by ` | `. */
export const rowsOf = (table: string) =>
  table
    .trim()
    .split("\n")
    .map((line) => line.split(/ \|(?= )/).map((cell) => cell.trim()));
