import { reserveText, workAddress } from "../regions";
import { fillBytes, mergeSymbols, noRoom, reserveSymbols, useMerging } from "./merge-word";
import { EncodingModel, tokenId, tokenLength, tokenStart } from "./model-layout";
import { addPair, allowAnyOrder, reservePairs } from "./pair-ranks";

/**
 * Ranked tokens: a list of tokens and ranks implies merges, which `mergeRanked` finds. tiktoken has no list of merges:
 * it joins two adjacent parts if their concatenation is a token, the lowest rank first. Until a token arises, no merge
 * has crossed its edges, so its bytes have merged as they would alone. A token therefore always arises from the same
 * two parts, which are the halves of its merge. They are found by merging the bytes of the token alone, by all shorter
 * tokens, so callers pass shorter tokens first.
 *
 * The tokens are `wholeTokens` of the model. Their ids are their ranks, and the merge of rank r makes the id r. `lefts`
 * and `rights` receive the two parts of each token that has two.
 */
let model: EncodingModel = changetype<EncodingModel>(0);

/** Prepares to find the merges of a model's tokens. Returns false if memory runs out. */
export function useRankedTokens(modelHead: usize): bool {
  model = changetype<EncodingModel>(modelHead);
  if (!reservePairs(model) || !useMerging(model)) return false;
  allowAnyOrder();
  return reserveText(0);
}

/**
 * Merges the bytes of a token by the merges found so far. If two parts are left, stores them as the halves of the
 * token's merge. Returns the number of parts, or -1 if memory runs out.
 */
export function mergeRanked(token: u32): i32 {
  const tokens = model.wholeTokens;
  const length = tokenLength(tokens, token);
  const ids = reserveSymbols(length, workAddress());
  if (ids === 0) return -1;
  const partCount = mergeSymbols(ids, fillBytes(ids, tokenStart(tokens, token), length));
  if (partCount === noRoom) return -1;
  if (partCount !== 2) return <i32>partCount;
  const rank = <u32>tokenId(tokens, token);
  store<i32>(model.lefts + (rank << 2), load<i32>(ids));
  store<i32>(model.rights + (rank << 2), load<i32>(ids, 4));
  addPair(model, rank);
  return 2;
}
