import type { WordTable } from "../../src/words/word-table.ts";

const syllables =
  "th e an in er on re at en or ti es is st ar al ing ed nt to it ou ha io le ve co me de hi".split(" ");

/** Makes up English in which the frequency of a word is proportional to 1 / rank. The same seed gives the same text. */
export function makeEnglish(sizeBytes: number, seed: number): Uint8Array {
  const random = xorshift(seed);
  const makeWord = (): string => {
    let word = "";
    for (let left = 1 + random(2) + random(3); left > 0; left--) word += syllables[random(syllables.length)];
    return word;
  };
  const vocabulary = Array.from({ length: 40_000 }, makeWord);
  const bytes = new Uint8Array(sizeBytes);
  const encoder = new TextEncoder();
  for (let pos = 0; pos < sizeBytes; ) {
    // The exponential of a uniform random number has the density 1 / rank.
    const rank = Math.floor(vocabulary.length ** (random(1 << 20) / (1 << 20)));
    let piece = random(300) === 0 ? makeWord() + makeWord() : (vocabulary[rank - 1] ?? vocabulary[0]!);
    const kind = random(100);
    if (kind < 2) piece = `${random(2100)}`;
    piece = kind < 10 ? `${piece},` : kind < 15 ? `${piece}.` : kind < 16 ? `${piece}.\n` : piece;
    pos += encoder.encodeInto(` ${piece}`, bytes.subarray(pos)).written;
    // The last bytes, fewer than 64, are spaces, so that no word is cut.
    if (sizeBytes - pos < 64) {
      bytes.fill(32, pos);
      break;
    }
  }
  return bytes;
}

/** Makes words, most of them distinct. Each count is `wordCount` divided by a random rank, rounded up. */
export function makeWords(wordCount: number, seed: number): WordTable {
  const random = xorshift(seed);
  const encodedSyllables = syllables.map((syllable) => new TextEncoder().encode(syllable));
  const bytes = new Uint8Array(wordCount * 20);
  const starts = new Uint32Array(wordCount + 1);
  const counts = new Float64Array(wordCount);
  let pos = 0;
  for (let word = 0; word < wordCount; word++) {
    bytes[pos++] = 32;
    for (let left = 4 + random(3); left > 0; left--) {
      const syllable = encodedSyllables[random(encodedSyllables.length)]!;
      bytes.set(syllable, pos);
      pos += syllable.length;
    }
    starts[word + 1] = pos;
    counts[word] = Math.ceil(wordCount / (1 + random(wordCount)));
  }
  return { wordCount, bytes: bytes.subarray(0, pos), starts, counts };
}

function xorshift(seed: number): (bound: number) => number {
  let state = (seed * 0x9e3779b1) | 1;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % bound;
  };
}
