import { WordMerger } from "../encoding-kernel.ts";
import type { EncodingModel } from "../encoding-model.ts";
import { addPair, allocatePairs, findPair, noRank, type PairTable } from "../load/merges-of-ranks.ts";
import { tokenBytesOf } from "../token-table.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer-parts.ts";

/**
 * Derivations: how a tokenizer reaches each of its tokens.
 *
 * To *reach* a token is to get it from its own bytes, as a pretoken. The token's *parts* are what these bytes become
 * without it. If merging reaches the token, they are the two that the last merge puts together. Merges act inside a part
 * as they do on the part alone, because none crosses its ends. So merging reaches the parts, too, and all of a
 * derivation is told by the parts of its tokens.
 *
 *   ARRAY    TYPE         LENGTH    MEANING
 *   reaches  Uint8Array   idLimit   how the token of an id is reached (`Reach`)
 *   isFixed  Uint8Array   idLimit   1: a byte or an added token, which every vocabulary needs
 *   left     Int32Array   idLimit   of a token that merging reaches: its left part
 *   right    Int32Array   idLimit   and its right part
 *
 * `wholeParts` has the parts of tokens that only a whole pretoken becomes (`EncodingModel.wholeTokens`), by their ids.
 */
export type Derivations = {
  readonly reaches: Uint8Array;
  readonly isFixed: Uint8Array;
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly wholeParts: ReadonlyMap<number, readonly number[]>;
};

export const Reach = {
  /** There is no token with this id. */
  none: 0,
  /** A byte, or an added token that nothing makes. */
  given: 1,
  merging: 2,
  wholePretoken: 3,
  /** Nothing gives this token. */
  unreachable: 4,
} as const;

/** May take a second for a large tokenizer. */
export function deriveTokens(parts: TokenizerParts): Derivations {
  const { tokens, model } = parts;
  const { idLimit } = tokens;
  const reaches = new Uint8Array(idLimit);
  const isFixed = new Uint8Array(idLimit);
  const left = new Int32Array(idLimit).fill(-1);
  const right = new Int32Array(idLimit).fill(-1);
  const wholeParts = new Map<number, readonly number[]>();
  const merger = new WordMerger({ ...model, wholeTokens: null });
  const wholeIds = new Set(model.wholeTokens?.ids);
  const makers = makersOf(model, idLimit);
  let simulation: Simulation | undefined;
  for (let id = 0; id < idLimit; id++) {
    const bytes = tokenBytesOf(tokens, id);
    if (bytes.length === 0) continue;
    const maker = makers[id]!;
    reaches[id] = Reach.unreachable;
    if (maker !== noMaker) {
      const merged = merger.merge(bytes);
      if (merged.length === 1 && merged[0] === id) {
        reaches[id] = Reach.merging;
        simulation ??= maker === manyMakers ? startSimulation(model) : undefined;
        const last = maker === manyMakers ? lastMerge(simulation!, model, bytes) : maker;
        left[id] = model.merges.left[last]!;
        right[id] = model.merges.right[last]!;
        continue;
      }
    }
    if (!wholeIds.has(id)) continue;
    reaches[id] = Reach.wholePretoken;
    wholeParts.set(id, [...merger.merge(bytes)]);
  }
  for (const id of [...model.byteIds, ...allAddedTokens(parts).map((token) => token.id)]) {
    if (id < 0) continue;
    isFixed[id] = 1;
    // Other tokens may be made of an added token that merging reaches, too.
    if (reaches[id] !== Reach.merging) reaches[id] = Reach.given;
  }
  return { reaches, isFixed, left, right, wholeParts };
}

const noMaker = -1;
const manyMakers = -2;

/** The rank of the merge that makes each token, if it is one. */
function makersOf({ merges }: EncodingModel, idLimit: number): Int32Array {
  const makers = new Int32Array(idLimit).fill(noMaker);
  merges.merged.forEach((id, rank) => {
    makers[id] = makers[id] === noMaker ? rank : manyMakers;
  });
  return makers;
}

/** For tokens that several merges make: ranks by pairs. Of a pair that is listed twice the later rank counts. */
type Simulation = PairTable;

function startSimulation({ merges }: EncodingModel): Simulation {
  const { left, right } = merges;
  const pairs = allocatePairs(left.length, left.length);
  for (let rank = 0; rank < left.length; rank++) addPair(pairs, left[rank]!, right[rank]!, rank);
  return pairs;
}

/** The rank of the last merge of a token's bytes, which makes the token. Merged step by step, the lowest rank first. */
function lastMerge(pairs: Simulation, { byteIds, merges }: EncodingModel, bytes: Uint8Array): number {
  const ids = Array.from(bytes, (byte) => byteIds[byte]!);
  let last = noRank;
  while (ids.length > 1) {
    last = noRank;
    let at = 0;
    for (let i = 0; i + 1 < ids.length; i++) {
      const rank = findPair(pairs, ids[i]!, ids[i + 1]!);
      if (rank >= last) continue;
      last = rank;
      at = i;
    }
    ids.splice(at, 2, merges.merged[last]!);
  }
  return last;
}
