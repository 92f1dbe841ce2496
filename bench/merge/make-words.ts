/**
 * Makes word counts of any size. The same seed gives the same counts:
 *
 *   node scripts/bun.mjs bench/merge/make-words.ts text.txt words.tsv [--words 6000000] [--seed 1]
 *
 * A word is a space, the first three bytes of some word of the text, and bytes of an order-3 chain: each is one that
 * follows the previous three bytes somewhere in the text. The r-th distinct word has the count wordCount / r, rounded
 * down.
 */

import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { parseArgs } from "node:util";
import * as byteCharacters from "../../src/bytes/byte-characters.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { words: { type: "string", default: "6000000" }, seed: { type: "string", default: "1" } },
});
const textSizeMax = 20_000_000;
const wordLengthMax = 24;
const contextCount = 1 << 24;
const space = 32;

const text = readFileSync(positionals[0]!).subarray(0, textSizeMax);
for (let pos = 0; pos < text.length; pos++) if (text[pos]! < space) text[pos] = space;
const { starts, followers } = makeChain(text);
const wordStarts = findWordStarts(text);
writeWords(positionals[1]!, Number(values.words), Number(values.seed));

/** followers[starts[c] .. starts[c + 1]): every byte that follows the three bytes of context c in the text. */
function makeChain(text: Uint8Array): { starts: Int32Array; followers: Uint8Array } {
  const starts = new Int32Array(contextCount + 1);
  const followers = new Uint8Array(text.length);
  for (let pos = 3; pos < text.length; pos++) starts[contextAt(text, pos) + 1]!++;
  for (let context = 0; context < contextCount; context++) starts[context + 1]! += starts[context]!;
  const next = starts.slice();
  for (let pos = 3; pos < text.length; pos++) followers[next[contextAt(text, pos)]!++] = text[pos]!;
  return { starts, followers };
}

function contextAt(text: Uint8Array, pos: number): number {
  return (text[pos - 3]! << 16) | (text[pos - 2]! << 8) | text[pos - 1]!;
}

/** Returns the positions after a space at which three bytes without a space begin. */
function findWordStarts(text: Uint8Array): Int32Array {
  const found = new Int32Array(text.length >> 1);
  let count = 0;
  for (let pos = 1; pos + 3 < text.length; pos++) {
    if (
      text[pos - 1] === space &&
      text[pos] !== space &&
      text[pos + 1] !== space &&
      text[pos + 2] !== space
    ) {
      found[count++] = pos;
    }
  }
  return found.subarray(0, count);
}

function writeWords(path: string, wordCount: number, seed: number): void {
  let state = seed | 0 || 1;
  const random = (limit: number) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * limit);
  };
  // Words are compared by a hash of 53 bits. If two share a hash, the second may be omitted, which is harmless.
  const seenSize = 2 ** Math.ceil(Math.log2(wordCount * 2 + 2));
  const seen = new Float64Array(seenSize);
  const file = openSync(path, "w");
  let lines = "";
  for (let rank = 1; rank <= wordCount; ) {
    const start = wordStarts[random(wordStarts.length)]!;
    let context = contextAt(text, start + 3);
    let word = byteCharacters.characters[space]!;
    let low = 0x811c9dc5;
    let high = 0x9747b28c;
    const append = (byte: number) => {
      word += byteCharacters.characters[byte]!;
      low = Math.imul(low ^ byte, 0x01000193);
      high = Math.imul(high ^ byte, 0x5bd1e995) ^ (high >>> 15);
    };
    for (let k = 0; k < 3; k++) append(text[start + k]!);
    for (let length = 4; length < wordLengthMax; length++) {
      const choices = starts[context + 1]! - starts[context]!;
      const byte = choices === 0 ? space : followers[starts[context]! + random(choices)]!;
      if (byte === space) break;
      append(byte);
      context = ((context << 8) | byte) & (contextCount - 1);
    }
    const hash = (high >>> 0) * 2 ** 21 + (low >>> 11) + 1;
    let slot = (low >>> 0) & (seenSize - 1);
    while (seen[slot] !== 0 && seen[slot] !== hash) slot = (slot + 1) & (seenSize - 1);
    if (seen[slot] === hash) continue;
    seen[slot] = hash;
    lines += `${word}\t${Math.floor(wordCount / rank)}\n`;
    rank++;
    if (lines.length > 1 << 20) {
      writeSync(file, lines);
      lines = "";
    }
  }
  writeSync(file, lines);
  closeSync(file);
}
