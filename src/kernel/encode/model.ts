import { TokenTable } from "./token-table";

/**
 * EncodingModel: all that turns the bytes of one pretoken into ids, as src/encode/model.ts has it. JavaScript copies the
 * arrays into memory once, and puts their addresses and sizes into this head (src/encode/kernel-model.ts).
 *
 *   OFFSET   FIELD            ARRAY OR NUMBER
 *   0        byteIds          i32[256]: id of each byte, or `droppedByte`
 *   4        byteRanks        i32[65536]: rank of two bytes at first << 8 | second, or `noRank` (pairs.ts)
 *   8        mergedIds        i32[mergeCount]: id of what the merge of a rank makes
 *   12       mergeCount
 *   16       isMonotone       1: a merge only makes pairs of higher rank
 *   20       isNarrow         1: every id fits 16 bits
 *   24       pairSlots        i32[2^pairSlotBits]: pairs.ts, as the next three
 *   28       pairSlotBits
 *   32       pairRankBits
 *   36       pairHalves       i32[2 * rankLimit]
 *   40       pairFilter       i32[2^(pairSlotBits - 3)]
 *   44       characters       i32[65536]: id + 1 of the characters that merging may begin with; address 0 without any
 *   48       adjacency        u8[65536]: at left << 8 | right, 1 where the two bytes stand side by side in some token
 *   52       joinLanes        i32[2 << joinSlotBits]: joins.ts, as the next two; address 0 where no pretoken may be cut
 *   56       joinSlotBits
 *   60       joinSizes        u8[16]
 *   64       wholeTokens      a TokenTable (token-table.ts): whole-tokens.ts
 *   68       addedTokens      a TokenTable: the tokens that are found in the text itself (texts.ts)
 */
@unmanaged
export class EncodingModel {
  byteIds: usize;
  byteRanks: usize;
  mergedIds: usize;
  mergeCount: u32;
  isMonotone: u32;
  isNarrow: u32;
  pairSlots: usize;
  pairSlotBits: u32;
  pairRankBits: u32;
  pairHalves: usize;
  pairFilter: usize;
  characters: usize;
  adjacency: usize;
  joinLanes: usize;
  joinSlotBits: u32;
  joinSizes: usize;
  wholeTokens: TokenTable;
  addedTokens: TokenTable;
}

/** Stands for the id of a byte that the vocabulary lacks: it is left out. */
export const droppedByte: i32 = -1;
