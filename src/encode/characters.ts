import { findPair, noRank, type PairTable } from "./pairs.ts";

/**
 * Characters that are merged whatever stands around them. Merging a word of Chinese or Korean may then begin with them
 * instead of with bytes.
 *
 * Let the bytes of a character of three, merged alone, become one token, and let R be the rank of the last merge. If no
 * pair of a rank below R has the first byte, or what that has become by then, as its right half, nor the last byte, or
 * what that has become, as its left half, then no merge before R reaches into the character: its own two merges are made
 * in any text. And where ranks only rise, no pair with the character's token has a rank below R: so it makes no
 * difference to all others that the token is there from the start.
 *
 *   ARRAY       TYPE         LENGTH   MEANING
 *   characters  Int32Array   65536    id + 1 of the character with that code point; 0: it has to be merged from its bytes
 */
export function findWholeCharacters(
  byteIds: Int32Array,
  mergedIds: Int32Array,
  pairs: PairTable,
  idMax: number,
): Int32Array {
  const characters = new Int32Array(1 << 16);
  const { halves } = pairs;
  const lowestAsLeft = new Int32Array(idMax + 1).fill(noRank);
  const lowestAsRight = new Int32Array(idMax + 1).fill(noRank);
  const byteOf = new Int16Array(idMax + 1).fill(-1);
  for (let byte = 0; byte < 256; byte++) byteOf[byteIds[byte]!] = byte;
  /** The bytes of a token of two, first << 8 | second, or -1. */
  const twoOf = new Int32Array(idMax + 1).fill(-1);
  for (let rank = 0; rank < mergedIds.length; rank++) {
    const left = halves[2 * rank]!;
    const right = halves[2 * rank + 1]!;
    if (rank < lowestAsLeft[left]!) lowestAsLeft[left] = rank;
    if (rank < lowestAsRight[right]!) lowestAsRight[right] = rank;
    const firstByte = byteOf[left]!;
    const lastByte = byteOf[right]!;
    if (firstByte >= 0x80 && lastByte >= 0x80) twoOf[mergedIds[rank]!] = (firstByte << 8) | lastByte;
  }
  for (let rank = 0; rank < mergedIds.length; rank++) {
    const left = halves[2 * rank]!;
    const right = halves[2 * rank + 1]!;
    let bytes = -1;
    if (twoOf[left]! >= 0 && byteOf[right]! >= 0) bytes = (twoOf[left]! << 8) | byteOf[right]!;
    else if (byteOf[left]! >= 0 && twoOf[right]! >= 0) bytes = (byteOf[left]! << 16) | twoOf[right]!;
    // 1110xxxx 10xxxxxx 10xxxxxx
    if (bytes < 0 || (bytes & 0xf0c0c0) !== 0xe08080) continue;
    const first = byteIds[bytes >> 16]!;
    const second = byteIds[(bytes >> 8) & 255]!;
    const third = byteIds[bytes & 255]!;
    const rankFront = findPair(pairs, first, second);
    const rankBack = findPair(pairs, second, third);
    const isFrontFirst = rankFront < rankBack;
    const lower = isFrontFirst ? rankFront : rankBack;
    if (lower === noRank) continue;
    const middle = mergedIds[lower]!;
    const lastRank = isFrontFirst ? findPair(pairs, middle, third) : findPair(pairs, first, middle);
    if (lastRank !== rank) continue;
    const leftEdge = Math.min(lowestAsRight[first]!, isFrontFirst ? lowestAsRight[middle]! : noRank);
    const rightEdge = Math.min(lowestAsLeft[third]!, isFrontFirst ? noRank : lowestAsLeft[middle]!);
    if (leftEdge < rank || rightEdge < rank) continue;
    characters[((bytes >> 4) & 0xf000) | ((bytes >> 2) & 0xfc0) | (bytes & 63)] = mergedIds[rank]! + 1;
  }
  return characters;
}
