import { assert } from "../errors.ts";

/**
 * EncodingModel: all that is needed to turn the bytes of a pretoken into ids. Plain data, built once, never changed, posted
 * to workers. The kernel builds its tables from it (src/kernel/encode/build-model.ts).
 *
 *   ARRAY       TYPE         LENGTH       MEANING
 *   byteIds     Int32Array   256          id of each byte, or `droppedByte` where the vocabulary lacks it
 *   left        Int32Array   mergeCount   left id of the merge of each rank
 *   right       Int32Array   mergeCount   right id
 *   merged      Int32Array   mergeCount   id of what the merge of rank r makes
 *
 * Ids are those of the vocabulary. Merges are made in the order of their ranks, and merges of one rank from the left. If a pair
 * is listed twice, the later rank counts, as in HF.
 */
export type EncodingModel = {
  readonly byteIds: Int32Array;
  readonly merges: RankedMerges;
  /** Every id of the model is less than this. */
  readonly idLimit: number;
  /** Some byte has no id: it is left out, and the bytes before and behind it become neighbours. */
  readonly dropsBytes: boolean;
  /** Tokens that only a whole pretoken can become; null without any. */
  readonly wholeTokens: WholeTokens | null;
};

export const droppedByte = -1;

/** Merges in the order of their ranks. */
export type RankedMerges = {
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly merged: Int32Array;
};

export type ModelParts = {
  readonly byteIds: Int32Array;
  readonly merges: RankedMerges;
  /** An upper bound of the ids; the largest id, if left out. */
  readonly idMax?: number;
  /** Ids by the tokens' bytes as Latin-1 text. */
  readonly wholeTokens?: ReadonlyMap<string, number>;
};

export function buildModel(parts: ModelParts): EncodingModel {
  const { byteIds, merges, wholeTokens = new Map(), idMax = largestIdOf(parts) } = parts;
  assert(idMax < 2 ** 27, "ids of the model fit into 27 bits");
  return {
    byteIds,
    merges,
    idLimit: idMax + 1,
    dropsBytes: byteIds.includes(droppedByte),
    wholeTokens: wholeTokens.size === 0 ? null : packTokens(wholeTokens),
  };
}

function largestIdOf({ byteIds, merges: { left, right, merged }, wholeTokens }: ModelParts): number {
  const wholeIds = [...(wholeTokens?.values() ?? [])];
  return [byteIds, left, right, merged, wholeIds].reduce((max, ids) => Math.max(max, maxOf(ids)), 0);
}

/** The largest number, 0 without any. There may be too many for the arguments of `Math.max`. */
export function maxOf(numbers: ArrayLike<number>): number {
  let max = 0;
  for (let i = 0; i < numbers.length; i++) max = Math.max(max, numbers[i]!);
  return max;
}

/**
 * WholeTokens: tokens of two bytes or more that merging their bytes does not produce. A pretoken that equals one of them gets
 * its id; a part of a pretoken never does. That is the rule of HF's `ignore_merges`, and of tiktoken.
 *
 *   ARRAY    TYPE         LENGTH          MEANING
 *   bytes    Uint8Array   starts[count]   the tokens end to end
 *   starts   Int32Array   count + 1       token t is bytes[starts[t] .. starts[t + 1])
 *   ids      Int32Array   count           their ids
 */
export type WholeTokens = {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ids: Int32Array;
};

/** Packs tokens, given as their ids by their bytes as Latin-1 text. */
export function packTokens(idsByText: ReadonlyMap<string, number>): WholeTokens {
  const starts = new Int32Array(idsByText.size + 1);
  let token = 0;
  for (const text of idsByText.keys()) {
    starts[token + 1] = starts[token]! + text.length;
    token++;
  }
  return {
    bytes: new Uint8Array(Buffer.from([...idsByText.keys()].join(""), "latin1")),
    starts,
    ids: Int32Array.from(idsByText.values()),
  };
}
