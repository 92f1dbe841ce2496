import { UserError } from "../errors.ts";
import type { WordTable } from "../words/word-table.ts";

/** Positions are below 2^31, and the last weight step must end beyond every cell. */
const cellCountMax = 2 ** 31 - 2;

/** Cells that the layout of words [first, end) takes: a boundary first, then each word with one behind it. */
export function countCells({ wordCount, starts }: WordTable, first = 0, end = wordCount): number {
  let cellCount = 1;
  for (let w = first; w < end; w++) {
    const length = starts[w + 1]! - starts[w]!;
    if (length > 1) cellCount += length + 1;
  }
  return cellCount;
}

export function checkCellCount(cellCount: number): void {
  if (cellCount <= cellCountMax) return;
  throw new UserError(
    `the distinct words hold ${cellCount.toLocaleString("en-US")} positions; at most ${cellCountMax.toLocaleString("en-US")} can be merged`,
    { hint: "use a --pattern that cuts the text into shorter words, or train from a part of the input" },
  );
}
