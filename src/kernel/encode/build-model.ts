import { fixedEnd, layOutEncoding, reserveTable, reserveTo } from "../regions";
import { useAddedTokens } from "../text-loop";
import { useWords } from "./encode-words";
import { useLateMerges } from "./late-merges";
import { useMerging } from "./merge-word";
import { droppedByte, EncodingModel } from "./model-layout";
import { addJoins, reserveJoins, useCuts } from "./never-merged";
import { addPair, findPair, noRank, noRankByte, reservePairs } from "./pair-ranks";
import { useWholeTokens } from "./whole-tokens";
import { useCache } from "./word-cache";

let modelHead: usize = 0;

/** Lays the memory out and returns the address of `byteCount` bytes for the model, its head first; 0 if there is no room. */
export function beginModel(byteCount: u32): usize {
  modelHead = layOutEncoding() ? reserveTable(byteCount) : 0;
  return modelHead;
}

/** Builds all tables of the model that JavaScript has written; false without room. The cache is 2^shrinkBits times smaller. */
export function useModel(shrinkBits: u32): bool {
  const model = changetype<EncodingModel>(modelHead);
  if (!buildModel(model)) return false;
  if (!useCache(shrinkBits) || !useWords(model) || !useMerging(model)) return false;
  return useWholeTokens(model) && useCuts(model) && useLateMerges(model) && useAddedTokens(model);
}

/**
 * Arrays that are needed while the model is built. They use memory that later tables will have, so they are zeroed at the end:
 *
 *   ARRAY      TYPE   LENGTH    MEANING
 *   byteOf     i32    idLimit   the byte of each id, or -1; of several the last
 *   scratch    i32    idLimit   four of these
 */
const scratchCount: u32 = 4;

/** Adds to the model what follows from the merges; false if there is no room. */
function buildModel(model: EncodingModel): bool {
  model.byteRanks = reserveTable(4 * 65536);
  model.adjacency = reserveTable(65536);
  if (!reservePairs(model) || !reserveJoins(model)) return false;
  const characters = reserveTable(4 * 65536);
  const idsBytes = <usize>4 * model.idLimit;
  const byteOf = (fixedEnd + 63) & ~63;
  const scratch = byteOf + idsBytes;
  if (characters === 0 || !reserveTo(<u64>byteOf + (scratchCount + 1) * <u64>idsBytes)) return false;

  fillByteOf(model, byteOf);
  // If a pair is listed twice the later rank counts, as in HF.
  let isDistinct = true;
  for (let rank: u32 = 0; rank < model.mergeCount; rank++) if (!addPair(model, rank)) isDistinct = false;
  model.isMonotone = u32(ranksOnlyRise(model, isDistinct, scratch));
  model.lateRank = model.mergeCount;
  const mayBeLate = isDistinct && mayHaveLate(model, byteOf, scratch);
  const tellsBytesApart = addJoins(model, scratch, scratch + idsBytes, mayBeLate);
  if (!tellsBytesApart) model.lateRank = model.mergeCount;
  fillByteRanks(model, byteOf);
  // If bytes are left out, or share an id, the bytes of a text do not tell which ids are neighbours: nothing may be cut.
  if (!tellsBytesApart || model.cutPlaces === 0) model.joinSlots = 0;
  if (model.isMonotone !== 0 && model.joinSlots !== 0) {
    model.characters = characters;
    findCharacters(model, byteOf, scratch);
  }
  memory.fill(byteOf, 0, <usize>(scratchCount + 1) * idsBytes);
  return true;
}

function fillByteOf(model: EncodingModel, byteOf: usize): void {
  memory.fill(byteOf, 255, <usize>4 * model.idLimit);
  for (let byte: u32 = 0; byte < 256; byte++) {
    const id = load<i32>(model.byteIds + (byte << 2));
    if (id !== droppedByte) store<u32>(byteOf + (id << 2), byte);
  }
}

function fillByteRanks(model: EncodingModel, byteOf: usize): void {
  memory.fill(model.byteRanks, noRankByte, 4 * 65536);
  for (let rank: u32 = 0; rank < model.lateRank; rank++) {
    const first = load<i32>(byteOf + (load<i32>(model.lefts + (rank << 2)) << 2));
    const second = load<i32>(byteOf + (load<i32>(model.rights + (rank << 2)) << 2));
    if (first >= 0 && second >= 0) store<u32>(model.byteRanks + (((first << 8) | second) << 2), rank);
  }
}

/** Whether late merges may be made behind the others: ranks rise, and an id tells how it was made. */
function mayHaveLate(model: EncodingModel, byteOf: usize, lastRankOf: usize): bool {
  if (model.isMonotone === 0 || model.cutPlaces === 0 || model.wholeTokens.count > 0) return false;
  for (let rank: u32 = 0; rank < model.mergeCount; rank++) {
    const merged = load<u32>(model.mergedIds + (rank << 2));
    if (load<u32>(lastRankOf + (merged << 2)) !== rank || load<i32>(byteOf + (merged << 2)) >= 0)
      return false;
  }
  return true;
}

/** Whether every pair has a higher rank than the merges that made its halves. */
function ranksOnlyRise(model: EncodingModel, isDistinct: bool, lastRankOf: usize): bool {
  memory.fill(lastRankOf, 255, <usize>4 * model.idLimit);
  for (let rank: u32 = 0; rank < model.mergeCount; rank++) {
    store<u32>(lastRankOf + (load<i32>(model.mergedIds + (rank << 2)) << 2), rank);
  }
  for (let rank: i32 = 0; rank < <i32>model.mergeCount; rank++) {
    const left = load<i32>(model.lefts + (rank << 2));
    const right = load<i32>(model.rights + (rank << 2));
    if (!isDistinct && findPair(left, right) !== rank) continue;
    if (load<i32>(lastRankOf + (left << 2)) >= rank || load<i32>(lastRankOf + (right << 2)) >= rank)
      return false;
  }
  return true;
}

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
function findCharacters(model: EncodingModel, byteOf: usize, scratch: usize): void {
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
