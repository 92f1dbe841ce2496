import { escapeBytes, Heap } from "#bytes";
import { patternForms } from "#pattern";
import { UserError } from "#runtime";
import { changes, derivation, type TokenizerParts, tokenizers, tokenTables } from "#tokenizer";

/** The tokens to keep in a vocabulary. */
export type Pruning = {
  /** 1 for each id whose token is kept. */
  readonly isKept: Uint8Array;
  /** The number of kept tokens. */
  readonly size: number;
  /** The number of removed tokens that were unreachable. */
  readonly unreachableCount: number;
  /** How many of the first merges to keep; if undefined, all merges whose tokens are kept. */
  readonly mergeCount?: number;
};

/** The smallest size to which the vocabulary can be pruned; the requested size is smaller. */
export type TooSmall = { readonly smallestSize: number };

/**
 * Chooses the tokens that a vocabulary of at most `sizeWanted` keeps. First removes unreachable tokens. Then repeatedly
 * removes the rarest of the tokens that may be removed, and adds its occurrences to those of its parts. Fixed tokens
 * (`isFixed`) may not be removed. A token that merging reaches needs its two parts, so these may not be removed before
 * it. So all kept tokens remain reachable. (derivations.ts explains these words.)
 *
 * @param counts occurrences of each id in a text
 */
export function chooseTokens(
  { reaches, isFixed, left, right, wholeParts }: derivation.Derivations,
  counts: Float64Array,
  sizeWanted: number,
): Pruning | TooSmall {
  const countNow = counts.slice();
  const stays = Uint8Array.from(reaches, (reach) =>
    reach === derivation.Reach.none || reach === derivation.Reach.unreachable ? 0 : 1,
  );
  let size = stays.reduce((sum, each) => sum + each, 0);
  const unreachableCount = reaches.reduce(
    (sum, reach) => sum + (reach === derivation.Reach.unreachable ? 1 : 0),
    0,
  );
  /**
   * For each token, the number of kept tokens of which it is a part. Only tokens that merging reaches count; one with
   * two equal parts counts twice.
   */
  const useCounts = new Int32Array(reaches.length);
  for (let id = 0; id < reaches.length; id++) {
    if (reaches[id] !== derivation.Reach.merging) continue;
    useCounts[left[id]!]!++;
    useCounts[right[id]!]!++;
  }
  /** The tokens that may be removed, the rarest first; of equally rare ones, the highest id first. */
  const leaves = new Heap();
  const pushIfLeaf = (id: number) => {
    if (stays[id] === 1 && isFixed[id] === 0 && useCounts[id] === 0) leaves.push(countNow[id]!, -id);
  };
  const partsOf = (id: number) => wholeParts.get(id) ?? [left[id]!, right[id]!];
  /** Adds occurrences to tokens. A removed token passes them on to its parts. */
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
    // The token has received occurrences of a removed token since it was pushed, so it is pushed again with its new
    // count.
    if (count !== countNow[id]) {
      leaves.push(countNow[id]!, -id);
      continue;
    }
    stays[id] = 0;
    size--;
    give(partsOf(id), count);
    if (reaches[id] !== derivation.Reach.merging) continue;
    for (const part of [left[id]!, right[id]!]) useCounts[part]!--;
    for (const part of new Set([left[id]!, right[id]!])) pushIfLeaf(part);
  }
  return { isKept: stays, size, unreachableCount };
}

/** Assigns new ids to the kept tokens. `mergeCount` limits the merges that are kept. */
export function numberTokens(stays: Uint8Array, mergeCount = Number.POSITIVE_INFINITY): changes.Numbering {
  const newIds = new Int32Array(stays.length).fill(changes.removed);
  let size = 0;
  for (let id = 0; id < stays.length; id++) if (stays[id] === 1) newIds[id] = size++;
  return { size, newIds, mergeCount };
}

/**
 * Describes how a tokenizer cuts and changes text. A pattern with two names has the same description under both,
 * because the files of one directory may use either name.
 */
export function describeCutting(parts: TokenizerParts): string {
  const { description, normalization, addsPrefixSpace, prefixRule, model } = parts;
  const { patternName: name, patternSources: sources } = description;
  // If merging begins with characters, the pattern depends on the merges, which may be fewer in one of two tokenizers.
  const form = model.beginning === undefined ? patternForms.common({ name, sources }) : "characters";
  return JSON.stringify([form, normalization, addsPrefixSpace, prefixRule]);
}

/**
 * Checks that the written files cut text as before, and have the kept tokens, with their new ids, and the same added
 * tokens. Each token must be reachable.
 */
export function checkPruned(
  before: TokenizerParts,
  after: TokenizerParts,
  { size, newIds }: changes.Numbering,
): void {
  const refuse = (what: string): never => {
    throw new UserError(`"${before.description.path}" cannot be made smaller: in the new files, ${what}`, {
      hint: "name another file of this tokenizer; if there is none, first make a tokenizer.json with bpe convert",
    });
  };
  if (describeCutting(before) !== describeCutting(after))
    refuse("the pattern or the normalization would be missing");
  if (after.tokens.tokenCount !== size)
    refuse(`the vocabulary would have ${after.tokens.tokenCount} tokens, not ${size}`);
  for (let id = 0; id < newIds.length; id++) {
    const newId = newIds[id]!;
    if (newId === changes.removed) continue;
    const bytes = tokenTables.bytesOf(before.tokens, id);
    if (Buffer.compare(bytes, tokenTables.bytesOf(after.tokens, newId)) === 0) continue;
    refuse(`the token "${escapeBytes(bytes)}" would not get the id ${newId}`);
  }
  const added = (parts: TokenizerParts, idOf: (id: number) => number) =>
    JSON.stringify(
      tokenizers
        .allAddedTokens(parts)
        .map(({ id, ...token }) => ({ ...token, id: idOf(id) }))
        .sort((a, b) => a.id - b.id),
    );
  if (added(before, (id) => newIds[id]!) !== added(after, (id) => id)) {
    refuse("the special tokens would not be the same as now");
  }
  const { reaches } = derivation.derive(after);
  const unreachable = reaches.indexOf(derivation.Reach.unreachable);
  if (unreachable < 0) return;
  refuse(
    `no text would be encoded to the token "${escapeBytes(tokenTables.bytesOf(after.tokens, unreachable))}"`,
  );
}
