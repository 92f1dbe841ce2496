/** Splits a table of cases into lines, and each line into cells, which ` | ` separates. */
export const rowsOf = (table: string) =>
  table
    .trim()
    .split("\n")
    .map((line) => line.split(/ \|(?= )/).map((cell) => cell.trim()));
