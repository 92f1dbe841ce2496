import type { WordTable } from "../../../src/words/word-table.ts";

/** Cells that the layout of these words takes: a boundary first, then each word with one behind it. */
export function countCells({ wordCount, starts }: WordTable): number {
  let cellCount = 1;
  for (let w = 0; w < wordCount; w++) {
    const length = starts[w + 1]! - starts[w]!;
    if (length > 1) cellCount += length + 1;
  }
  return cellCount;
}
