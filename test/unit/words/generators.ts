import * as textBuffers from "../../../src/bytes/text.ts";
import { paddingBytes, type Text } from "../../../src/bytes/text.ts";
import type { WordCounter } from "../../../src/words/word-counter.ts";
import type { TokenWords, WordTable } from "../../../src/words/word-table.ts";

type Pretokens = { text: Text; ends: Int32Array; endCount: number };

/** Concatenates pretokens in a text that begins at `startPos`. Its padding is not zero. */
export function pretokensOf(words: readonly Uint8Array[], startPos = 0): Pretokens {
  const byteCount = words.reduce((sum, word) => sum + word.length, startPos);
  const text = textBuffers.allocate(byteCount);
  text.bytes.fill(0xa5);
  const ends = new Int32Array(words.length + 1);
  ends[0] = startPos;
  words.forEach((word, i) => {
    text.bytes.set(word, ends[i]!);
    ends[i + 1] = ends[i]! + word.length;
  });
  return { text, ends, endCount: ends.length };
}

/** Counts pretokens, after copying their text into the counter's kernel. */
export function countPretokens(counter: WordCounter, { text, ends, endCount }: Pretokens): WordCounter {
  counter.text(text.bytes.length - paddingBytes).bytes.set(text.bytes);
  counter.take(ends, endCount);
  return counter;
}

/** The naive twin of the counter: a Map of words, each a string with one character for each byte. */
export class NaiveCounter {
  readonly counts = new Map<string, number>();

  count(words: readonly Uint8Array[]): void {
    for (const word of words) this.add(word, 1);
  }

  add(word: Uint8Array, count: number): void {
    const key = keyOf(word);
    this.counts.set(key, (this.counts.get(key) ?? 0) + count);
  }

  sorted(): [string, number][] {
    return [...this.counts].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  }
}

export function keyOf(word: Uint8Array): string {
  let key = "";
  for (let pos = 0; pos < word.length; pos += 4096)
    key += String.fromCharCode(...word.subarray(pos, pos + 4096));
  return key;
}

/** Returns the words of a table in the form of the naive twin, sorted. */
export function entriesOf(table: WordTable): [string, number][] {
  const entries: [string, number][] = [];
  for (let w = 0; w < table.wordCount; w++) {
    entries.push([keyOf(table.bytes.subarray(table.starts[w]!, table.starts[w + 1]!)), table.counts[w]!]);
  }
  return entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Returns a table of these words, in their order. */
export function wordTableOf(
  entries: Iterable<readonly [word: string | Uint8Array, count: number]>,
): WordTable {
  const encoder = new TextEncoder();
  const words: Uint8Array[] = [];
  const counts: number[] = [];
  for (const [word, count] of entries) {
    words.push(typeof word === "string" ? encoder.encode(word) : word);
    counts.push(count);
  }
  const starts = new Uint32Array(words.length + 1);
  words.forEach((word, w) => {
    starts[w + 1] = starts[w]! + word.length;
  });
  const bytes = new Uint8Array(starts[words.length]!);
  words.forEach((word, w) => {
    bytes.set(word, starts[w]!);
  });
  return { wordCount: words.length, bytes, starts, counts: Float64Array.from(counts) };
}

/** Returns token words of these sequences, in their order. `idCount` determines the width of ids. */
export function tokenWordsOf(
  entries: Iterable<readonly [word: ArrayLike<number>, count: number]>,
  idCount: number,
): TokenWords {
  const words = [...entries];
  const starts = new Uint32Array(words.length + 1);
  words.forEach(([word], w) => {
    starts[w + 1] = starts[w]! + word.length;
  });
  const positionCount = starts[words.length]!;
  const tokens = idCount > 0x10000 ? new Uint32Array(positionCount) : new Uint16Array(positionCount);
  words.forEach(([word], w) => {
    tokens.set(word, starts[w]!);
  });
  return { wordCount: words.length, tokens, starts, counts: Float64Array.from(words, ([, count]) => count) };
}
