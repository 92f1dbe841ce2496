import { expect, test } from "bun:test";
import { runToEnd } from "../../../src/runtime/slices.ts";
import { type RecordWords, WordCounter } from "../../../src/words/word-counter.ts";
import { randomNumbers } from "../../random.ts";

const idLimit = 256;
const [onLeft, onRight] = [1, 2];
/** The kernel lists at most this many pairs in one call (`listedBytes` in src/kernel/regions.ts). */
const listedPairsMax = 1 << 15;
const random = randomNumbers(7);

/** A word that contains every pair of ids, which is more pairs than one call lists. */
const allPairs = Array.from({ length: idLimit }, (_, a) =>
  Array.from({ length: idLimit }, (_, b) => [a, b]).flat(),
).flat();
const words = [allPairs, ...Array.from({ length: 500 }, (_, w) => [w % idLimit, w >> 8, ...shortWord()])];

function shortWord(): number[] {
  return Array.from({ length: 1 + random(20) }, () => random(idLimit));
}

/** Puts the words into a kernel as records. */
function recordsOfWords() {
  const counter = new WordCounter();
  for (const word of words) {
    const bytes = new Uint8Array(Uint16Array.from(word).buffer);
    counter.add({ bytes, view: new DataView(bytes.buffer) }, 0, bytes.length, 1);
  }
  return runToEnd(counter.convertToRecords(idLimit, 2))!;
}

/** Returns the pairs that the kernel lists, call by call, and the number of ids that it has read. */
function look({ kernel, flagsStart, positionBytes }: RecordWords, flags: Uint8Array, work: number) {
  const { exports, memory } = kernel;
  new Uint8Array(memory.buffer, flagsStart).set(flags);
  exports.beginLook(flagsStart);
  const calls: string[][] = [];
  while (exports.hasLooked() === 0) {
    const pairCount = exports.lookSome(work, positionBytes);
    const pairs = new Uint32Array(memory.buffer, exports.lookedPairsAddress() >>> 0, 2 * pairCount);
    calls.push(Array.from({ length: pairCount }, (_, i) => `${pairs[2 * i]} ${pairs[2 * i + 1]}`));
  }
  return { calls, idCount: exports.lookedIds() };
}

test("all selected pairs of ids are listed, in as many calls as their number needs", () => {
  const records = recordsOfWords();
  const someFlags = Uint8Array.from({ length: idLimit }, () => random(4));
  for (const flags of [new Uint8Array(idLimit).fill(onLeft | onRight), someFlags]) {
    const isSelected = (left: number, right: number) =>
      (flags[left]! & onLeft) !== 0 && (flags[right]! & onRight) !== 0;
    const selected = new Set(
      words.flatMap((word) =>
        word.flatMap((right, i) =>
          i > 0 && isSelected(word[i - 1]!, right) ? [`${word[i - 1]} ${right}`] : [],
        ),
      ),
    );
    for (const work of [1 << 21, 100]) {
      const { calls, idCount } = look(records, flags, work);
      expect(calls.every((pairs) => pairs.length <= listedPairsMax)).toBe(true);
      expect(new Set(calls.flat())).toEqual(selected);
      expect(idCount).toBe(words.reduce((sum, word) => sum + word.length, 0));
    }
  }
});
