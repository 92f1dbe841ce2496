import { readFileSync } from "node:fs";
import * as byteCharacters from "../../src/bytes/byte-characters.ts";
import { isTsvHead } from "../../src/words/tsv.ts";
import type { WordTable } from "../../src/words/word-table.ts";

/** Returns the lines with words of a counts file in text form. */
export function readWordLines(path: string): Uint8Array {
  const text = readFileSync(path);
  return isTsvHead(text.toString("latin1", 0, 20)) ? text.subarray(text.indexOf(10) + 1) : text;
}

/**
 * Reads words and counts from a `word<TAB>count` file in byte-to-character form. Parses bytes without creating strings,
 * because such files may have hundreds of MB.
 */
export function readWords(path: string, wordCountMax = Number.POSITIVE_INFINITY): WordTable {
  const text = readWordLines(path);
  const byteOf = new Int16Array(0x800).fill(-1);
  byteCharacters.characters.forEach((character, byte) => {
    byteOf[character.charCodeAt(0)] = byte;
  });
  let wordCount = 0;
  for (let pos = 0; pos < text.length && wordCount < wordCountMax; pos++) if (text[pos] === 10) wordCount++;
  const bytes = new Uint8Array(text.length);
  const starts = new Uint32Array(wordCount + 1);
  const counts = new Float64Array(wordCount);
  let byteCount = 0;
  let pos = 0;
  for (let w = 0; w < wordCount; w++) {
    for (let first = text[pos++]!; first !== 9; first = text[pos++]!) {
      bytes[byteCount++] = byteOf[first < 0x80 ? first : ((first & 31) << 6) | (text[pos++]! & 63)]!;
    }
    starts[w + 1] = byteCount;
    let count = 0;
    for (let digit = text[pos++]!; digit !== 10; digit = text[pos++]!) count = count * 10 + (digit - 48);
    counts[w] = count;
  }
  return { wordCount, bytes: bytes.slice(0, byteCount), starts, counts };
}
