import { scaled } from "#runtime";
import { listWords, type Parts } from "./parts.ts";
import type * as wordTables from "./word-table.ts";
import type { WordTable } from "./word-table.ts";

/**
 * Adds up the words of `parts` into a table. If some words are in files, `check` receives upper bounds of the totals
 * before the table is allocated, and may throw.
 */
export function* addUp(
  parts: Parts,
  check: (totals: wordTables.CountsTotals) => void = () => {},
): Generator<undefined, WordTable> {
  const { words: counter } = parts.counter;
  if (parts.sources.length === 0) {
    const table = yield* listWords(parts);
    // Small tables are left to the garbage collector, because the first system call that releases memory takes 2 ms.
    if (counter.memoryBytes >= worthClearingBytes) counter.clear();
    return table;
  }
  const { addUpSources } = require("./sum-of-parts.ts") as typeof import("./sum-of-parts.ts");
  return yield* addUpSources(parts, check);
}

const worthClearingBytes = scaled(16e6, 100);
