import { TokenTable } from "./token-index";

/**
 * EncodingModel: all that is needed to turn the bytes of a pretoken into ids. JavaScript writes the first ten fields and their
 * arrays (src/tokenizer/model-placement.ts); `useModel` (build-model.ts) adds the others.
 *
 *   OFFSET   FIELD            ARRAY OR NUMBER
 *   0        byteIds          i32[256]: id of each byte, or `droppedByte` where the vocabulary lacks it
 *   4        lefts            i32[mergeCount]: left id of the merge of each rank
 *   8        rights           i32[mergeCount]: right id
 *   12       mergedIds        i32[mergeCount]: id of what it makes
 *   16       mergeCount
 *   20       idLimit          all of these ids are below
 *   24       isNarrow         1: every id of the tokenizer fits 16 bits
 *   28       cutPlaces        0: no pretoken is cut, and merging begins with bytes; for tests. 1: beside bytes that are not
 *                             ASCII; 2: everywhere (never-merged.ts)
 *   32       wholeTokens      a TokenTable (token-index.ts): see whole-tokens.ts
 *   36       addedTokens      a TokenTable: the tokens that the kernel finds in the text (encode-texts.ts)
 *
 *   40       byteRanks        i32[65536]: rank of two bytes at first << 8 | second, or `noRank` (pair-ranks.ts)
 *   44       isMonotone       1: every pair has a higher rank than the merges of its halves, so merging can go through
 *                             the ranks in ascending order
 *   48       pairSlots        pair-ranks.ts, as the next four
 *   52       pairSlotBits
 *   56       pairRankBits
 *   60       pairHalves
 *   64       pairFilter
 *   68       characters       characters.ts; 0 if merging has to begin with bytes
 *   72       adjacency        u8[65536]: at left << 8 | right, 1 where the two bytes stand side by side in some token;
 *                             elsewhere no merge ever crosses
 *   76       joinSlots        joins.ts, as the next two; 0 if no pretoken may be cut
 *   80       joinSlotBits
 *   84       joinSizes
 *   88       lateRank         merges from this rank on are late (late-merges.ts); `mergeCount` if none is
 *
 * Ids are those of the vocabulary. Merges are made in the order of their ranks, and merges of one rank from the left.
 *
 * The merges "t h" -> 256, "th e" -> 257 give mergedIds = [256, 257], byteRanks["t" << 8 | "h"] = 0, and the pair
 * (256, 101) has rank 1.
 */
@unmanaged
export class EncodingModel {
  byteIds: usize;
  lefts: usize;
  rights: usize;
  mergedIds: usize;
  mergeCount: u32;
  idLimit: u32;
  isNarrow: u32;
  cutPlaces: u32;
  wholeTokens: TokenTable;
  addedTokens: TokenTable;
  byteRanks: usize;
  isMonotone: u32;
  pairSlots: usize;
  pairSlotBits: u32;
  pairRankBits: u32;
  pairHalves: usize;
  pairFilter: usize;
  characters: usize;
  adjacency: usize;
  joinSlots: usize;
  joinSlotBits: u32;
  joinSizes: usize;
  lateRank: u32;
}

/** In `byteIds`, for a byte that the vocabulary lacks: it is left out. */
export const droppedByte: i32 = -1;
