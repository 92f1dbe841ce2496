/** The rows of a table of cases, a line each; `|` separates the cells. */
export const rowsOf = (table: string) =>
  table
    .trim()
    .split("\n")
    .map((line) => line.split(/ \|(?= )/).map((cell) => cell.trim()));
