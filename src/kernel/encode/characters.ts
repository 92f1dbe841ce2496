import { EncodingModel } from "./model-layout";
import { findPair, noRank, noRankByte } from "./pair-ranks";

/**
 * Characters that are merged in any context. Merging a word of Chinese or Korean may begin with them instead of with bytes.
 *
 * Take a character of three bytes that, merged alone, becomes one token, and let R be the rank of its second merge. Suppose
 * that no pair of a rank below R has the character's first byte, or the token of its first two, as its right half; nor its
 * last byte, or the token of its last two, as its left half. Then no merge before R crosses the character's edges, so its
 * own two merges are made in any text. If ranks only rise, no pair with the character's token has a rank below R. So no
 * other merge changes if the token is there from the start. Late merges are made behind all others (late-merges.ts): a
 * character that one of them makes is not there before.
 *
 *   ARRAY           TYPE   LENGTH    MEANING
 *   characters      i32    65536     id + 1 of the character with that code point; 0: it has to be merged from its bytes
 *
 * While the characters are looked for:
 *
 *   lowestAsLeft    i32    idLimit   the lowest rank of a pair with that left half, or `noRank`
 *   lowestAsRight   i32    idLimit   the same for the right half
 *   twoOf           i32    idLimit   the bytes of a token of two, first << 8 | second, or -1; none is ASCII
 */
export function findCharacters(model: EncodingModel, byteOf: usize, scratch: usize): void {
  const idsBytes = <usize>4 * model.idLimit;
  const lowestAsLeft = scratch;
  const lowestAsRight = lowestAsLeft + idsBytes;
  const twoOf = lowestAsRight + idsBytes;
  memory.fill(lowestAsLeft, noRankByte, idsBytes);
  memory.fill(lowestAsRight, noRankByte, idsBytes);
  memory.fill(twoOf, 255, idsBytes);
  for (let rank: i32 = 0; rank < <i32>model.mergeCount; rank++) {
    const left = leftOf(model, rank);
    const right = rightOf(model, rank);
    if (rank < load<i32>(lowestAsLeft + (left << 2))) store<i32>(lowestAsLeft + (left << 2), rank);
    if (rank < load<i32>(lowestAsRight + (right << 2))) store<i32>(lowestAsRight + (right << 2), rank);
    const firstByte = load<i32>(byteOf + (left << 2));
    const lastByte = load<i32>(byteOf + (right << 2));
    if (firstByte >= 0x80 && lastByte >= 0x80) {
      store<i32>(twoOf + (mergedOf(model, rank) << 2), (firstByte << 8) | lastByte);
    }
  }
  for (let rank: i32 = 0; rank < <i32>model.lateRank; rank++) {
    const left = leftOf(model, rank);
    const right = rightOf(model, rank);
    let bytes: i32 = -1;
    if (load<i32>(twoOf + (left << 2)) >= 0 && load<i32>(byteOf + (right << 2)) >= 0) {
      bytes = (load<i32>(twoOf + (left << 2)) << 8) | load<i32>(byteOf + (right << 2));
    } else if (load<i32>(byteOf + (left << 2)) >= 0 && load<i32>(twoOf + (right << 2)) >= 0) {
      bytes = (load<i32>(byteOf + (left << 2)) << 16) | load<i32>(twoOf + (right << 2));
    }
    // 1110xxxx 10xxxxxx 10xxxxxx
    if (bytes < 0 || (bytes & 0xf0c0c0) !== 0xe08080) continue;
    const first = idOfByte(model, bytes >> 16);
    const second = idOfByte(model, (bytes >> 8) & 255);
    const third = idOfByte(model, bytes & 255);
    const rankFront = findPair(first, second);
    const rankBack = findPair(second, third);
    const isFrontFirst = rankFront < rankBack;
    const lower = min(rankFront, rankBack);
    if (lower === noRank) continue;
    const middle = mergedOf(model, lower);
    const lastRank = isFrontFirst ? findPair(middle, third) : findPair(first, middle);
    if (lastRank !== rank) continue;
    let leftEdge = load<i32>(lowestAsRight + (first << 2));
    if (isFrontFirst) leftEdge = min(leftEdge, load<i32>(lowestAsRight + (middle << 2)));
    let rightEdge = load<i32>(lowestAsLeft + (third << 2));
    if (!isFrontFirst) rightEdge = min(rightEdge, load<i32>(lowestAsLeft + (middle << 2)));
    if (leftEdge < rank || rightEdge < rank) continue;
    const codePoint = ((bytes >> 4) & 0xf000) | ((bytes >> 2) & 0xfc0) | (bytes & 63);
    store<i32>(model.characters + (codePoint << 2), mergedOf(model, rank) + 1);
  }
}

function leftOf(model: EncodingModel, rank: i32): i32 {
  return load<i32>(model.lefts + (rank << 2));
}

function rightOf(model: EncodingModel, rank: i32): i32 {
  return load<i32>(model.rights + (rank << 2));
}

function mergedOf(model: EncodingModel, rank: i32): i32 {
  return load<i32>(model.mergedIds + (rank << 2));
}

function idOfByte(model: EncodingModel, byte: i32): i32 {
  return load<i32>(model.byteIds + (byte << 2));
}
