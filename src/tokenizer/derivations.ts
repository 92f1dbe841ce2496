import { WordMerger } from "./encoding-kernel.ts";
import { droppedByte, type EncodingModel } from "./encoding-model.ts";
import * as tokenTables from "./token-table.ts";
import { allAddedTokens, type TokenizerParts } from "./tokenizer-parts.ts";

/**
 * Derivations: how a tokenizer reaches each of its tokens.
 *
 * A token is *reached* if encoding its own bytes, as a pretoken, gives the token. Its *parts* are the tokens that its
 * bytes give if the token itself is left out. If merging reaches the token, its parts are the two halves of the last
 * merge. Inside a part, merging does the same as on the part alone, because no merge crosses its ends. So merging
 * reaches the parts, too, and parts determine a whole derivation.
 *
 *   ARRAY    TYPE         LENGTH    MEANING
 *   reaches  Uint8Array   idLimit   how the token of an id is reached (`Reach`)
 *   isFixed  Uint8Array   idLimit   1: a token that every vocabulary needs: a byte, a character that merging begins
 *                                 with, the unknown token, or an added token
 *   left     Int32Array   idLimit   the left part of a token that merging reaches; -1 for other tokens
 *   right    Int32Array   idLimit   the right part of a token that merging reaches; -1 for other tokens
 *   last     Int32Array   idLimit   the rank of the merge that joins these parts; -1 for other tokens
 *
 * `wholeParts` has, by id, the parts of whole tokens (`EncodingModel.wholeTokens`).
 */
export type Derivations = {
  readonly reaches: Uint8Array;
  readonly isFixed: Uint8Array;
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly last: Int32Array;
  readonly wholeParts: ReadonlyMap<number, readonly number[]>;
};

export const Reach = {
  /** No token has this id. */
  none: 0,
  /** A fixed token (`isFixed`) that merging does not reach. */
  given: 1,
  merging: 2,
  wholePretoken: 3,
  /** No text produces this token. */
  unreachable: 4,
} as const;

/** Finds the derivations of all tokens. Takes up to a second for a large tokenizer. */
export function derive(parts: TokenizerParts): Derivations {
  const { tokens, model } = parts;
  const { idLimit, bytes, starts } = tokens;
  const reaches = new Uint8Array(idLimit);
  const isFixed = new Uint8Array(idLimit);
  const left = new Int32Array(idLimit).fill(-1);
  const right = new Int32Array(idLimit).fill(-1);
  const last = new Int32Array(idLimit).fill(-1);
  const wholeParts = new Map<number, readonly number[]>();
  const merger = new WordMerger({ ...model, wholeTokens: null });
  const wholeIds = new Set(model.wholeTokens?.ids);
  const makers = makersOf(model, idLimit);
  for (let id = 0; id < idLimit; id++) {
    const [start, end] = [starts[id]!, starts[id + 1]!];
    if (start === end) continue;
    const maker = makers[id]!;
    reaches[id] = Reach.unreachable;
    // Programs that load a tokenizer whose merging begins with characters expect a token for every byte. So tokens of
    // one byte are fixed.
    if (model.beginning !== undefined && end - start === 1) isFixed[id] = 1;
    if (maker !== noMaker && merger.mergesTo(id, bytes, start, end)) {
      reaches[id] = Reach.merging;
      last[id] = maker === manyMakers ? merger.lastRank(tokenTables.bytesOf(tokens, id)) : maker;
      left[id] = model.merges.left[last[id]!]!;
      right[id] = model.merges.right[last[id]!]!;
      continue;
    }
    if (!wholeIds.has(id)) continue;
    reaches[id] = Reach.wholePretoken;
    wholeParts.set(id, [...merger.merge(tokenTables.bytesOf(tokens, id))]);
  }
  const firstIds = [...(model.beginning?.characters.ids ?? []), model.beginning?.unknown?.id ?? droppedByte];
  for (const id of [...model.byteIds, ...firstIds, ...allAddedTokens(parts).map((token) => token.id)]) {
    if (id < 0) continue;
    isFixed[id] = 1;
    // An added token that merging also reaches remains `merging`, because other tokens may be made from it.
    if (reaches[id] !== Reach.merging) reaches[id] = Reach.given;
  }
  for (let id = 0; id < idLimit; id++)
    if (isFixed[id] === 1 && reaches[id] === Reach.unreachable) reaches[id] = Reach.given;
  return { reaches, isFixed, left, right, last, wholeParts };
}

const noMaker = -1;
const manyMakers = -2;

/** Returns, for each token, the rank of the only merge that produces it; otherwise `noMaker` or `manyMakers`. */
function makersOf({ merges }: EncodingModel, idLimit: number): Int32Array {
  const makers = new Int32Array(idLimit).fill(noMaker);
  merges.merged.forEach((id, rank) => {
    makers[id] = makers[id] === noMaker ? rank : manyMakers;
  });
  return makers;
}
