import { expect, test } from "bun:test";
import { usageError } from "../../../src/runtime/errors.ts";
import { settleCutting } from "../../../src/training/training.ts";
import type { CountsOptions } from "../../../src/words/counts-format.ts";
import { type CutSettings, countsOptionsOf } from "../../../src/words/cut-settings.ts";
import { openAndSettle } from "../../../src/words/open-counts.ts";
import { tsvHead } from "../../../src/words/tsv.ts";
import { put, scratch } from "../../binary.ts";

const home = scratch();

/**
 * Writes a counts file with these patterns, and settles the options of a training that reads it. Returns the settled
 * patterns, or the message of the error.
 */
async function settled(patterns: readonly string[], settle: (made?: CountsOptions) => CutSettings) {
  const options = { ...countsOptionsOf(settleCutting({}, {})), patterns };
  const path = put(home, "made.tsv", `${Buffer.from(tsvHead(options))}ab\t2\n`);
  try {
    return (await openAndSettle({ counts: [path] }, {}, settle)).settled.pattern.sources;
  } catch (error) {
    return (error as Error).message.replace(path, "made.tsv");
  }
}

test("an error names the counts file only if its options are the mistake", async () => {
  const refusing = (): never => {
    throw usageError("--vocab-size 10 is too small");
  };
  const settle = (made?: CountsOptions) => settleCutting({}, { made });
  expect(await settled(["\\S+|\\s+"], settle)).toEqual(["\\S+|\\s+"]);
  expect(await settled(["("], settle)).toStartWith('with the settings of --counts "made.tsv", ');
  expect(await settled(["\\S+|\\s+"], refusing)).toBe("--vocab-size 10 is too small");
  // Without the options of the file, nothing is refused.
  expect(await settled(["\\S+|\\s+"], (made) => (made === undefined ? settle() : refusing()))).toBe(
    'with the settings of --counts "made.tsv", --vocab-size 10 is too small',
  );
});
