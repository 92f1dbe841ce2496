import { createHash } from "node:crypto";
import { defaultTuning, type MergeTuning } from "../../../src/merge/merge-options.ts";
import type { Merges } from "../../../src/tokenizer/merges.ts";
import type { WordTable } from "../../../src/words/word-table.ts";
import { pick, type Random } from "../../random.ts";
import { wordTableOf } from "../words/generators.ts";
import type { NaiveWords } from "./naive.ts";

/** Returns words, mostly of few letters, with runs, repeats and equal counts. */
export function makeWords(random: Random): Map<string, number> {
  const alphabetSize = pick(random, [2, 2, 3, 3, 4, 8, 256]);
  const firstByte = random(250);
  const letter = () => String.fromCharCode((firstByte + random(alphabetSize)) & 255);
  const lengthMax = pick(random, [4, 8, 20, 60]);
  const wordCount = 1 + random(pick(random, [2, 5, 30, 60]));
  const style = random(4);
  const hasHugeCounts = random(5) === 0;
  const words = new Map<string, number>();
  for (let w = 0; w < wordCount; w++) {
    const length = 1 + random(lengthMax);
    let word = "";
    const period = Array.from({ length: 1 + random(4) }, letter).join("");
    while (word.length < length) {
      if (style === 0) word += letter();
      else if (style === 1) word += period;
      else if (style === 2) word += letter().repeat(1 + random(6));
      else
        word += Array.from({ length: 1 + random(3) }, letter)
          .join("")
          .repeat(1 + random(5));
    }
    const count = 1 + random(random(10) < 7 ? 3 : 100);
    words.set(
      word.slice(0, style === 1 ? length : undefined),
      hasHugeCounts ? count * 3e9 + random(2) : count,
    );
  }
  return words;
}

/** Converts naive words into a table. A naive word is a string of code points 0-255, one for each byte. */
export const tableOf = (words: NaiveWords): WordTable =>
  wordTableOf([...words].map(([word, count]) => [Buffer.from(word, "latin1"), count]));

/** Returns random tuning. Its values make rare cases of the engine frequent. */
export function makeTuning(random: Random): MergeTuning {
  return {
    ...defaultTuning,
    sliceWork: pick(random, [1, 2, 7, 64, 1 << 18]),
    hashesFirstPairs: random(2) === 0,
    blockSize: 1 + random(9),
    wideCells: random(3) === 0,
    fewTokens: pick(random, [0xffff, 256, 260, 280]),
    threshold: pick<MergeTuning["threshold"]>(random, ["rising", "rising", 1, 1 + random(20), 1000]),
    thresholdFromMerge: random(70),
    thresholdExponent: pick(random, [1.7, 0.3]),
    arenaSlack: pick(random, [1, 1.1, 1.5]),
    cleanShare: pick(random, [0.5, 0]),
    prefixBytes: pick(random, [1, 2, 3, 64]),
    mergesPerSpecial: 1,
    sharedCellCount: 0,
    startsHelpers: false,
    sharedListLength: pick(random, [1, 3, 10, 2048]),
    memoryCountMin: pick(random, [1, 1, 2, 3, 5]),
  };
}

/**
 * Returns the number of merges, and a checksum of their halves and counts. The checksums that tests expect were
 * computed by an independent JavaScript engine.
 */
export function sumOf({ mergeCount, left, right, counts, replacedCounts }: Merges): string {
  const hash = createHash("sha256");
  for (const array of [left, right, counts, replacedCounts]) hash.update(array);
  return `${mergeCount} ${hash.digest("hex").slice(0, 16)}`;
}
