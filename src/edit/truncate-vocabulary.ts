import { escapeBytes } from "#bytes";
import { UserError } from "#runtime";
import {
  derivation,
  encodingModels,
  type TokenizerParts,
  type TokenTable,
  tokenizers,
  tokenTables,
  WordMerger,
} from "#tokenizer";
import { describeCutting, type Pruning, type TooSmall } from "./prune-vocabulary.ts";

// Truncates a tokenizer to its first merges, and maps the ids of a text to those that the truncated tokenizer gives the
// same text. docs/internals/encode.md, "The first merges", says why the mapped ids are exactly these.

/**
 * Returns the *birth* of each token: how many of the first merges are needed to reach it. This is the highest rank in
 * its derivation plus 1. It is 0 for tokens that merging does not reach.
 */
function birthsOf(
  { reaches, left, right, last }: derivation.Derivations,
  { starts }: TokenTable,
): Int32Array {
  const births = new Int32Array(reaches.length);
  const lengthOf = (id: number) => starts[id + 1]! - starts[id]!;
  // Shorter tokens come first, so the parts of a token come before the token.
  const ids = idsWhere(reaches, (reach) => reach === derivation.Reach.merging).sort(
    (a, b) => lengthOf(a) - lengthOf(b),
  );
  for (const id of ids) {
    births[id] = Math.max(last[id]! + 1, births[left[id]!]!, births[right[id]!]!);
  }
  return births;
}

const idsWhere = (reaches: Uint8Array, is: (reach: number, id: number) => boolean) =>
  Uint32Array.from(reaches.keys()).filter((id) => is(reaches[id]!, id));

/** Chooses the tokens of as many first merges as `sizeWanted` allows. All fixed tokens (`isFixed`) are kept. */
export function firstTokens(
  parts: TokenizerParts,
  derivations: derivation.Derivations,
  sizeWanted: number,
): Pruning | TooSmall {
  const { reaches, isFixed } = derivations;
  const births = birthsOf(derivations, parts.tokens);
  placeWholes(parts, derivations, births);
  const isMerged = (id: number) => reaches[id] === derivation.Reach.merging;
  const isCounted = (reach: number) =>
    reach === derivation.Reach.merging || reach === derivation.Reach.wholePretoken;
  const ids = idsWhere(reaches, (reach, id) => isCounted(reach) && isFixed[id] === 0);
  ids.sort((a, b) => births[a]! - births[b]! || a - b);
  const fixedCount = isFixed.reduce((sum, each) => sum + each, 0);
  if (sizeWanted < fixedCount) return { smallestSize: fixedCount };
  let count = Math.min(ids.length, sizeWanted - fixedCount);
  // If a merge completes several tokens, keep all of them or none.
  const areOne = (a = -1, b = -1) => isMerged(a) && isMerged(b) && births[a] === births[b];
  while (count > 0 && areOne(ids[count - 1], ids[count])) count--;
  const stays = isFixed.slice();
  for (const id of ids.subarray(0, count)) stays[id] = 1;
  return {
    isKept: stays,
    size: fixedCount + count,
    unreachableCount: idsWhere(reaches, (reach) => reach === derivation.Reach.unreachable).length,
    mergeCount: count === 0 ? 0 : births[ids[count - 1]!]!,
  };
}

/**
 * Sets the births of whole tokens: a pretoken of the same bytes becomes such a token, although merging does not reach
 * it. Ids follow the order in which tokens were learned, so a whole token was learned just before the merged token with
 * the next higher id. Its birth is the rank of the merge that makes that token. If no merged token has a higher id, the
 * birth is after all merges. Throws a UserError if there are whole tokens, but the ids are not in the order of the
 * merges.
 */
function placeWholes(
  { description, tokens }: TokenizerParts,
  { reaches, isFixed, last }: derivation.Derivations,
  births: Int32Array,
): void {
  let rank = Number.POSITIVE_INFINITY;
  let whole = -1;
  let isInOrder = true;
  for (let id = reaches.length - 1; id >= 0; id--) {
    if (isFixed[id] === 1) continue;
    if (reaches[id] === derivation.Reach.merging) {
      isInOrder &&= last[id]! < rank;
      rank = last[id]!;
    } else if (reaches[id] === derivation.Reach.wholePretoken)
      births[(whole = id)] = Math.min(rank, 2 ** 31 - 1);
  }
  if (isInOrder || whole < 0) return;
  throw new UserError(
    `"${description.path}" cannot be truncated, because it is unknown which of its tokens were learned first: no merge makes the token "${escapeBytes(tokenTables.bytesOf(tokens, whole))}", and the ids are not in the order of the merges`,
    { hint: "use bpe prune instead, which keeps the tokens that a text needs most" },
  );
}

/**
 * Throws a UserError unless `small` has exactly the first merges of `big` and the same added tokens, has tokens for the
 * same bytes, uses tokens for whole pretokens only where `big` does, and cuts text alike. Returns the derivations of
 * `big`.
 */
export function checkFirstMerges(
  big: TokenizerParts,
  small: TokenizerParts,
  refuse = (what: string): never => {
    throw new UserError(
      `"${small.description.path}" is not a truncated form of "${big.description.path}": ${what}`,
      { hint: "make the smaller tokenizer with bpe truncate" },
    );
  },
): derivation.Derivations {
  checkCutting(big, small, refuse);
  const derived = derivation.derive(big);
  checkFirst(big, small, [derived, derivation.derive(small)], refuse);
  return derived;
}

type Refuse = (what: string) => never;

/**
 * Compares how two tokenizers merge and cut text, and their added tokens. The ids of tokens may differ. Calls `refuse`
 * with the first difference.
 */
export function checkSameMerges(
  before: TokenizerParts,
  after: TokenizerParts,
  derivedBefore: derivation.Derivations,
  refuse: Refuse,
): void {
  checkCutting(before, after, refuse);
  if (tokenizers.haveSameMerges(before, after)) {
    checkWholes(before, after, refuse);
    checkWholes(after, before, refuse);
  } else {
    const derivedAfter = derivation.derive(after);
    checkFirst(before, after, [derivedBefore, derivedAfter], refuse);
    checkFirst(after, before, [derivedAfter, derivedBefore], refuse);
  }
}

function checkCutting(big: TokenizerParts, small: TokenizerParts, refuse: Refuse): void {
  if (describeCutting(big) !== describeCutting(small))
    refuse("the two tokenizers split or normalize text differently");
  if (addedOf(big) !== addedOf(small)) refuse("their added tokens differ");
  if (bytesOf(big) !== bytesOf(small)) refuse("one of the two vocabularies lacks tokens for some bytes");
}

function checkFirst(
  big: TokenizerParts,
  small: TokenizerParts,
  [derived, kept]: readonly [derivation.Derivations, derivation.Derivations],
  refuse: Refuse,
): void {
  const births = birthsOf(derived, big.tokens);
  const others = mergesOf(small, kept);
  const inOrder = births.filter((birth) => birth > 0).sort();
  const mergeCount = others.length === 0 ? 0 : (inOrder[others.length - 1] ?? Number.POSITIVE_INFINITY);
  const first = mergesOf(big, derived, (id) => births[id]! <= mergeCount);
  for (let i = 0; i < Math.max(first.length, others.length); i++) {
    if (first[i] === others[i]) continue;
    const shown = (merge: string) => merge.split(between).map(shownToken).join(" ");
    refuse(
      others[i] === undefined
        ? `it lacks the merge ${shown(first[i]!)}`
        : first[i] === undefined
          ? `only one of the two tokenizers has the merge ${shown(others[i]!)}`
          : `its merge ${i + 1} is ${shown(others[i]!)}, not ${shown(first[i]!)}`,
    );
  }
  checkWholes(big, small, refuse);
}

function checkWholes(big: TokenizerParts, small: TokenizerParts, refuse: Refuse): void {
  const wholes = new Set(wholesOf(big));
  const more = wholesOf(small).find((text) => !wholes.has(text));
  if (more !== undefined)
    refuse(
      `one of the two tokenizers uses the token ${shownToken(more)} only for a whole pretoken, but the other does not`,
    );
}

const latin1 = (tokens: TokenTable, id: number) =>
  Buffer.from(tokenTables.bytesOf(tokens, id)).toString("latin1");

const shownToken = (text: string) => `"${escapeBytes(Buffer.from(text, "latin1"))}"`;

/** Describes the added tokens without their ids. */
const addedOf = ({ addedTokens, controlTokens = [] }: TokenizerParts) =>
  JSON.stringify(
    [addedTokens, controlTokens].map((some) =>
      some.map(({ id: _, content, ...flags }) => [content, flags]).sort(([a], [b]) => (a! < b! ? -1 : 1)),
    ),
  );

/** Describes the token of each byte: the byte itself, the unknown token, or nothing. */
const bytesOf = ({ model, tokens }: TokenizerParts) =>
  JSON.stringify(Array.from(model.byteIds, (id) => latin1(tokens, id)));

/** A separator that cannot occur in Latin-1 text. */
const between = "\u2192";

/** Returns the merge that ends the derivation of each token, by rank, with both halves as Latin-1 text. */
function mergesOf(
  { tokens }: TokenizerParts,
  { reaches, left, right, last }: derivation.Derivations,
  is = (_id: number) => true,
): string[] {
  const ids = idsWhere(reaches, (reach, id) => reach === derivation.Reach.merging && is(id)).sort(
    (a, b) => last[a]! - last[b]!,
  );
  return Array.from(ids, (id) => `${latin1(tokens, left[id]!)}${between}${latin1(tokens, right[id]!)}`);
}

/** Returns the whole tokens (`EncodingModel.wholeTokens`), as Latin-1 text. */
function wholesOf({ model }: TokenizerParts): string[] {
  const { bytes, starts, ids } = model.wholeTokens ?? encodingModels.noTokens;
  const text = Buffer.from(bytes).toString("latin1");
  return Array.from(ids, (_, t) => text.slice(starts[t], starts[t + 1]));
}

/**
 * The *pieces* of each id of one tokenizer: the ids of another tokenizer that spell the same token. The pieces of id i
 * are ids[starts[i] .. starts[i + 1]). An id that no text produces has none.
 */
export type Pieces = { readonly ids: Uint32Array; readonly starts: Uint32Array };

/**
 * Maps each id of `big` to its pieces in `small`. Throws a UserError if `big` lacks tokens for some bytes, if
 * `checkFirstMerges` refuses the two, or if the pieces of an id depend on the text.
 */
export function piecesOfFirst(big: TokenizerParts, small: TokenizerParts): Pieces {
  const refuse = (what: string): never => {
    throw new UserError(`the ids of "${big.description.path}" cannot be truncated: ${what}`, {
      hint: "encode the text again with the smaller tokenizer",
    });
  };
  if (!tokenTables.haveAllBytes(big.model.byteIds, big.tokens))
    refuse("its vocabulary lacks tokens for some bytes");
  const { reaches } = checkFirstMerges(big, small);
  const merger = new WordMerger(small.model);
  const merged = (id: number) => merger.merge(tokenTables.bytesOf(big.tokens, id));
  const wholeIds = new Map(wholesOf(small).map((text, t) => [text, small.model.wholeTokens!.ids[t]!]));
  const addedIds = new Map(tokenizers.allAddedTokens(small).map(({ content, id }) => [content, id]));
  const added = new Map(
    tokenizers.allAddedTokens(big).map(({ content, id }) => [id, addedIds.get(content)!]),
  );
  const bytes = new Set(big.model.byteIds);
  const ids: number[] = [];
  const starts = new Uint32Array(reaches.length + 1);
  for (let id = 0; id < reaches.length; id++) {
    const smallId = added.get(id) ?? wholeIds.get(latin1(big.tokens, id));
    const isMade = reaches[id] === derivation.Reach.merging || bytes.has(id);
    if (smallId !== undefined) {
      ids.push(smallId);
      // If a text is not searched for added tokens, merges may produce this added token. In both cases, its piece must
      // be the same.
      if (isMade && merged(id)[0] !== smallId)
        refuse(
          `its added token "${escapeBytes(tokenTables.bytesOf(big.tokens, id))}" is also the result of merges`,
        );
    } else if (isMade || reaches[id] === derivation.Reach.wholePretoken) ids.push(...merged(id));
    starts[id + 1] = ids.length;
  }
  return { ids: Uint32Array.from(ids), starts };
}
