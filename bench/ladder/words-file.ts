import { readFileSync, writeFileSync } from "node:fs";
import type { WordTable } from "../../src/words/word-table.ts";
import type { Learned } from "./strategy.ts";

/*
 * The files that the programs of the ladder (ladder.md) exchange. All numbers are little-endian.
 *
 *   words    uint32 wordCount, byteCount    uint32 starts[wordCount + 1]    float64 counts[wordCount]    the bytes
 *   merges   for each merge: int32 left, int32 right, float64 count
 *
 * If necessary, 4 bytes of padding after starts align counts to 8 bytes.
 */

export function writeWords(path: string, { wordCount, bytes, starts, counts }: WordTable): void {
  const byteCount = starts[wordCount]!;
  const file = new Uint8Array(bytesAt(wordCount) + byteCount);
  file.set(asBytes(Uint32Array.of(wordCount, byteCount)));
  file.set(asBytes(starts.subarray(0, wordCount + 1)), startsAt);
  file.set(asBytes(counts.subarray(0, wordCount)), countsAt(wordCount));
  file.set(bytes.subarray(0, byteCount), bytesAt(wordCount));
  writeFileSync(path, file);
}

export function readWordsFile(path: string): WordTable {
  const file = new Uint8Array(readFileSync(path)).buffer;
  const [wordCount, byteCount] = new Uint32Array(file, 0, 2) as unknown as [number, number];
  return {
    wordCount,
    starts: new Uint32Array(file, startsAt, wordCount + 1),
    counts: new Float64Array(file, countsAt(wordCount), wordCount),
    bytes: new Uint8Array(file, bytesAt(wordCount), byteCount),
  };
}

const startsAt = 8;
const countsAt = (wordCount: number) => Math.ceil((startsAt + 4 * (wordCount + 1)) / 8) * 8;
const bytesAt = (wordCount: number) => countsAt(wordCount) + 8 * wordCount;

/** The size of a merge in its file, in bytes. */
export const mergeSize = 16;

export function writeMerges(path: string, { left, right, counts }: Learned): void {
  const file = new DataView(new ArrayBuffer(mergeSize * left.length));
  for (let k = 0; k < left.length; k++) {
    file.setInt32(mergeSize * k, left[k]!, true);
    file.setInt32(mergeSize * k + 4, right[k]!, true);
    file.setFloat64(mergeSize * k + 8, counts[k]!, true);
  }
  writeFileSync(path, file);
}

export const readMerges = (path: string): Buffer => readFileSync(path);

const asBytes = (array: Uint32Array | Float64Array) =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
