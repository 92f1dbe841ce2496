import { TokenTable } from "./token-index";

/**
 * EncodingModel: all that turns the bytes of one pretoken into ids. JavaScript writes the first fields and the arrays that
 * they lead to (src/tokenizer/model-placement.ts); `buildModel` (build-model.ts) adds the others.
 *
 *   OFFSET   FIELD            ARRAY OR NUMBER
 *   0        byteIds          i32[256]: id of each byte, or `droppedByte` where the vocabulary lacks it
 *   4        lefts            i32[mergeCount]: left id of the merge of each rank
 *   8        rights           i32[mergeCount]: right id
 *   12       mergedIds        i32[mergeCount]: id of what it makes
 *   16       mergeCount
 *   20       idLimit          all of these ids are below
 *   24       isNarrow         1: every id of the tokenizer fits 16 bits
 *   28       mayCut           0: no pretoken is cut, and merging begins with bytes; for tests
 *   32       wholeTokens      a TokenTable: whole-tokens.ts
 *   36       addedTokens      a TokenTable: the tokens that are found in the text itself (texts.ts)
 *
 *   40       byteRanks        i32[65536]: rank of two bytes at first << 8 | second, or `noRank` (pairs.ts)
 *   44       isMonotone       1: a merge only makes pairs of higher rank, so ranks can be gone through in ascending order
 *   48       pairSlots        pairs.ts, as the next four
 *   52       pairSlotBits
 *   56       pairRankBits
 *   60       pairHalves
 *   64       pairFilter
 *   68       characters       characters.ts; 0 where merging has to begin with bytes
 *   72       adjacency        u8[65536]: at left << 8 | right, 1 where the two bytes stand side by side in some token;
 *                             elsewhere no merge ever crosses
 *   76       joinSlots        joins.ts, as the next two; 0 where no pretoken may be cut
 *   80       joinSlotBits
 *   84       joinSizes
 *
 * Ids are those of the finished vocabulary. The lower the rank, the earlier the merge; of equal ranks the leftmost first.
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
  mayCut: u32;
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
}

/** Stands for the id of a byte that the vocabulary lacks: it is left out. */
export const droppedByte: i32 = -1;
