import { fixedEnd, layOutEncoding, reserveTable, reserveTo, useWholeMemory } from "../regions";
import { takeToEncode } from "../text-loop";
import { reserveFragments } from "./characters";
import { useWords } from "./encode-words";
import { beginsWithCharacters } from "./first-characters";
import { useLateMerges } from "./late-merges";
import { lateIdLimit } from "./late-pairs";
import { useMerging } from "./merge-word";
import { droppedByte, EncodingModel } from "./model-layout";
import { addJoins, reserveJoins, useCuts } from "./never-merged";
import { addPair, findPair, noRankByte, reservePairs } from "./pair-ranks";
import { useWholeTokens } from "./whole-tokens";
import { useCache, useLookUp } from "./word-cache";

let modelHead: usize = 0;

/**
 * Lays out the memory, and reserves `byteCount` bytes for the model, which JavaScript then writes. Returns their
 * address, or 0 if memory runs out.
 */
export function beginModel(byteCount: u32): usize {
  modelHead = layOutEncoding() ? reserveTable(byteCount) : 0;
  return modelHead;
}

/**
 * Builds all tables for the model, once JavaScript has written it. The word cache is 2^shrinkBits times smaller than
 * usual. Returns false if memory runs out.
 */
export function useModel(shrinkBits: u32): bool {
  return buildTables() && useWordCache(shrinkBits);
}

/** Builds all tables except the word cache. Returns false if memory runs out. */
export function buildTables(): bool {
  const model = changetype<EncodingModel>(modelHead);
  if (!buildModel(model) || !useMerging(model)) return false;
  useWords(model);
  takeToEncode();
  return useWholeTokens(model) && useCuts(model) && useLateMerges(model);
}

function useWordCache(shrinkBits: u32): bool {
  return useCache(shrinkBits) && useLookUp();
}

/**
 * Prepares to restore an image: the memory and variables of an instance that has called `buildTables`
 * (src/tokenizer/laid-out-model.ts). The image's memory is copied in after this call and before `endLaidOut`. The
 * new instance has its own regions (src/kernel/regions.ts) and word cache, which are not part of the image.
 *
 * Returns the address where the image's memory begins, or 0 if memory runs out.
 */
export function beginLaidOut(): usize {
  return layOutEncoding() ? fixedEnd : 0;
}

/**
 * Completes an instance after its memory was restored, and grown to the image's size. Returns false if memory runs out.
 */
export function endLaidOut(): bool {
  useWholeMemory();
  return useWordCache(0);
}

/**
 * Arrays that are used only while the model is built. They are zeroed at the end, because later tables get the same
 * memory, and some tables rely on zeros:
 *
 *   ARRAY      TYPE   LENGTH    MEANING
 *   byteOf     i32    idLimit   the byte of each id, or -1; if bytes share an id, the last one
 *   scratch    i32    idLimit   two arrays of this length, for various uses
 */
const scratchCount: u32 = 2;

/** Adds the fields of the model that are derived from the merges. Returns false if memory runs out. */
function buildModel(model: EncodingModel): bool {
  model.byteRanks = reserveTable(4 * 65536);
  model.adjacency = reserveTable(65536);
  if (!reservePairs(model) || !reserveJoins(model) || !reserveFragments()) return false;
  const idsBytes = <usize>4 * model.idLimit;
  const byteOf = (fixedEnd + 63) & ~63;
  const scratch = byteOf + idsBytes;
  if (!reserveTo(<u64>byteOf + (scratchCount + 1) * <u64>idsBytes)) return false;

  fillByteOf(model, byteOf);
  // If a pair is listed twice, the later rank counts, as in HF.
  let isDistinct = true;
  for (let rank: u32 = 0; rank < model.mergeCount; rank++) if (!addPair(model, rank)) isDistinct = false;
  model.isMonotone = u32(model.firstTied === 0 && ranksOnlyRise(model, isDistinct, scratch));
  model.lateRank = model.mergeCount;
  const mayBeLate = isDistinct && mayHaveLate(model, byteOf, scratch);
  const tellsBytesApart = addJoins(model, scratch, scratch + idsBytes, mayBeLate);
  if (!tellsBytesApart) model.lateRank = model.mergeCount;
  fillByteRanks(model, byteOf);
  // If `joins` is 0, no pretoken is cut. None may be cut unless `tellsBytesApart`: only then do the bytes of a text
  // determine which ids are adjacent.
  if (!tellsBytesApart || model.cutPlaces === 0) model.joins = 0;
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
    if (first < 0 || second < 0) continue;
    const tied = model.firstTied === 0 ? rank : load<u32>(model.firstTied + (rank << 2));
    store<u32>(model.byteRanks + (((first << 8) | second) << 2), tied);
  }
}

/**
 * Whether late merges (late-merges.ts) may be made after all others: only if that certainly changes no id, and if ids
 * are not too large (`lateIdLimit`). `lastRankOf` has the last rank that makes each id, as `ranksOnlyRise` stored it.
 */
function mayHaveLate(model: EncodingModel, byteOf: usize, lastRankOf: usize): bool {
  if (model.isMonotone === 0 || model.cutPlaces === 0 || model.wholeTokens.count > 0) return false;
  if (beginsWithCharacters(model) || model.idLimit > lateIdLimit) return false;
  for (let rank: u32 = 0; rank < model.mergeCount; rank++) {
    const merged = load<u32>(model.mergedIds + (rank << 2));
    if (load<u32>(lastRankOf + (merged << 2)) !== rank || load<i32>(byteOf + (merged << 2)) >= 0)
      return false;
  }
  return true;
}

/**
 * Whether every pair has a higher rank than the merges that make its halves. Stores in `lastRankOf` the last rank that
 * makes each id; -1 if none does.
 */
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
