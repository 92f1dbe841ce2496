import { escapeBytes, Heap } from "#bytes";
import { commonForm } from "#pattern";
import { UserError } from "#runtime";
import { WordMerger } from "./encoding-kernel.ts";
import type { EncodingModel } from "./encoding-model.ts";
import { tokenBytesOf } from "./token-table.ts";
import { allAddedTokens, type Numbering, removed, type TokenizerParts } from "./tokenizer-parts.ts";

/** What is taken out of a vocabulary. */
export type Pruning = {
  /** 1 for each id whose token stays. */
  readonly stays: Uint8Array;
  /** How many stay. */
  readonly size: number;
  /** Of those taken out: tokens that nothing reaches. */
  readonly unreachableCount: number;
  /** How many of the first merges stay, if the others go; else all merges do whose tokens stay. */
  readonly mergeCount?: number;
};

/** Where there is nothing that may be taken out any more, this size stays. */
export type TooSmall = { readonly smallestSize: number };

/**
 * Chooses the tokens that a vocabulary of `sizeWanted` keeps. First all go that nothing reaches. Then, one at a time, the
 * rarest token goes that is a part of no other one; of equally rare ones that with the highest id. Its occurrences go to
 * its parts, which may be next. Bytes and added tokens stay.
 *
 * No token that stays loses a part of its derivation, so all of them are reached as before.
 *
 * @param counts how often each id occurs in a text
 */
export function chooseTokens(
  { reaches, isFixed, left, right, wholeParts }: Derivations,
  counts: Float64Array,
  sizeWanted: number,
): Pruning | TooSmall {
  const countNow = counts.slice();
  const stays = Uint8Array.from(reaches, (reach) =>
    reach === Reach.none || reach === Reach.unreachable ? 0 : 1,
  );
  let size = stays.reduce((sum, each) => sum + each, 0);
  const unreachableCount = reaches.reduce((sum, reach) => sum + (reach === Reach.unreachable ? 1 : 0), 0);
  /** In how many tokens each is a part. */
  const useCounts = new Int32Array(reaches.length);
  for (let id = 0; id < reaches.length; id++) {
    if (reaches[id] !== Reach.merging) continue;
    useCounts[left[id]!]!++;
    useCounts[right[id]!]!++;
  }
  /** The rarest first, of equally rare ones that with the highest id. */
  const leaves = new Heap();
  const pushIfLeaf = (id: number) => {
    if (stays[id] === 1 && isFixed[id] === 0 && useCounts[id] === 0) leaves.push(countNow[id]!, -id);
  };
  const partsOf = (id: number) => wholeParts.get(id) ?? [left[id]!, right[id]!];
  /** Gives occurrences to tokens, or to the parts of those that are gone. */
  const give = (ids: readonly number[], count: number): void => {
    const stack = [...ids];
    while (stack.length > 0) {
      const id = stack.pop()!;
      if (stays[id] === 1) countNow[id]! += count;
      else stack.push(...partsOf(id));
    }
  };

  for (let id = 0; id < reaches.length; id++) pushIfLeaf(id);
  while (size > sizeWanted) {
    if (leaves.count === 0) return { smallestSize: size };
    const [id, count] = [-leaves.topId, leaves.topKey];
    leaves.pop();
    // It got the occurrences of a whole pretoken since.
    if (count !== countNow[id]) {
      leaves.push(countNow[id]!, -id);
      continue;
    }
    stays[id] = 0;
    size--;
    give(partsOf(id), count);
    if (reaches[id] !== Reach.merging) continue;
    for (const part of [left[id]!, right[id]!]) useCounts[part]!--;
    for (const part of new Set([left[id]!, right[id]!])) pushIfLeaf(part);
  }
  return { stays, size, unreachableCount };
}

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
 *   last     Int32Array   idLimit   and the rank of the merge of the two
 *
 * `wholeParts` has the parts of tokens that only a whole pretoken becomes (`EncodingModel.wholeTokens`), by their ids.
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
  const last = new Int32Array(idLimit).fill(-1);
  const wholeParts = new Map<number, readonly number[]>();
  const merger = new WordMerger({ ...model, wholeTokens: null });
  const wholeIds = new Set(model.wholeTokens?.ids);
  const makers = makersOf(model, idLimit);
  for (let id = 0; id < idLimit; id++) {
    const bytes = tokenBytesOf(tokens, id);
    if (bytes.length === 0) continue;
    const maker = makers[id]!;
    reaches[id] = Reach.unreachable;
    if (maker !== noMaker) {
      const merged = merger.merge(bytes);
      if (merged.length === 1 && merged[0] === id) {
        reaches[id] = Reach.merging;
        last[id] = maker === manyMakers ? merger.lastRank(bytes) : maker;
        left[id] = model.merges.left[last[id]!]!;
        right[id] = model.merges.right[last[id]!]!;
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
  return { reaches, isFixed, left, right, last, wholeParts };
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

/** `mergeCount`: the merges behind the first so many are gone, too. */
export function numberTokens(stays: Uint8Array, mergeCount = Number.POSITIVE_INFINITY): Numbering {
  const newIds = new Int32Array(stays.length).fill(removed);
  let size = 0;
  for (let id = 0; id < stays.length; id++) if (stays[id] === 1) newIds[id] = size++;
  return { size, newIds, mergeCount };
}

/** How text is cut and changed. Files beside each other may name a pattern in two ways, as llama3 and gpt4. */
export function cuttingOf({ description, normalization, addsPrefixSpace }: TokenizerParts): string {
  const { patternName: name, patternSources: sources } = description;
  return JSON.stringify([commonForm({ name, sources }), normalization, addsPrefixSpace]);
}

/**
 * Checks the files that were written, as they are loaded again: they must have the tokens that stay and no others, with their
 * new ids, each of them reachable, and cut text as before. A UserError says what this kind of file cannot hold.
 */
export function checkPruned(
  before: TokenizerParts,
  after: TokenizerParts,
  { size, newIds }: Numbering,
): void {
  const refuse = (what: string): never => {
    throw new UserError(`"${before.description.path}" cannot be made smaller: in the new files, ${what}`, {
      hint: "name another of the tokenizer's files, or convert it to a tokenizer.json first",
    });
  };
  if (cuttingOf(before) !== cuttingOf(after)) refuse("its pattern or its normal form would be missing");
  if (after.tokens.tokenCount !== size)
    refuse(`it would have ${after.tokens.tokenCount} tokens, not ${size}`);
  for (let id = 0; id < newIds.length; id++) {
    const newId = newIds[id]!;
    if (newId === removed) continue;
    const bytes = tokenBytesOf(before.tokens, id);
    if (Buffer.compare(bytes, tokenBytesOf(after.tokens, newId)) === 0) continue;
    refuse(`the token "${escapeBytes(bytes)}" would not get the id ${newId}`);
  }
  const added = (parts: TokenizerParts, idOf: (id: number) => number) =>
    JSON.stringify(
      allAddedTokens(parts)
        .map(({ id, ...token }) => ({ ...token, id: idOf(id) }))
        .sort((a, b) => a.id - b.id),
    );
  if (added(before, (id) => newIds[id]!) !== added(after, (id) => id)) {
    refuse("its special tokens would differ");
  }
  const { reaches } = deriveTokens(after);
  const unreachable = reaches.indexOf(Reach.unreachable);
  if (unreachable < 0) return;
  refuse(`no text would give the token "${escapeBytes(tokenBytesOf(after.tokens, unreachable))}"`);
}
