import { groupBy, showValue } from "#bytes";
import { derivation, type TokenizerParts, tokenTables, WordMerger } from "#tokenizer";
import { mark } from "./character-json.ts";

/**
 * AppliedMerges: the merges that are ever applied, in the order of their ranks. Each is the last step in the derivation
 * of a token, so at most one of them makes a given token.
 *
 *   ARRAY   TYPE         MEANING
 *   left    Int32Array   left id
 *   right   Int32Array   right id
 *   merged  Int32Array   id of the result
 *   first   Int32Array   the lowest rank of the merges with the same priority, i.e. with equal scores
 */
export type AppliedMerges = {
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly merged: Int32Array;
  readonly first: Int32Array;
};

export function appliedMerges(
  { model }: TokenizerParts,
  { reaches, left, right, last }: derivation.Derivations,
): AppliedMerges {
  const merged = Int32Array.from(reaches.keys()).filter((id) => reaches[id] === derivation.Reach.merging);
  merged.sort((a, b) => last[a]! - last[b]!);
  const { firstTied } = model.merges;
  return {
    left: merged.map((id) => left[id]!),
    right: merged.map((id) => right[id]!),
    merged,
    first: merged.map((id) => firstTied?.[last[id]!] ?? last[id]!),
  };
}

type Ordered = { readonly merges: AppliedMerges; readonly obstacle: string | null };

/**
 * Orders the merges of each *group*, which is all merges of one priority, so that HF gives the same ids as
 * SentencePiece. SentencePiece applies the leftmost merge of a group first; in HF, each merge has a rank of its own.
 * Returns an obstacle if no such order is found.
 *
 * If "x y" and "y z" overlap in a text "x y z", "x y" needs the lower rank. In any text, the tokens x, y and z become
 * neighbours only if they do so when the text xyz is merged alone, because no earlier merge has crossed the edges of
 * the three tokens. An order that respects these overlaps suffices for two kinds of groups:
 *
 * - A *quiet* group makes no half of a merge of the same or a higher priority, so no new pairs compete while it is
 *   applied.
 * - A *growing* group, such as Llama's runs of spaces, has exactly one merge whose halves it does not make. Each other
 *   merge is ordered before the merges that make its halves. So in both programs, the leftmost token grows until
 *   nothing fits, and only then does the next one begin. Halves that the group does not make must exist before the
 *   group is applied, and no merge of a higher priority may use its results.
 */
export function orderTies(parts: TokenizerParts, merges: AppliedMerges): Ordered {
  const { left, right, merged, first } = merges;
  const usedFrom = firstUses(merges);
  const madeUntil = lastMakings(parts, merges);
  const merger = new WordMerger(parts.model);
  const order: number[] = [];
  for (const group of groupBy(merged.keys(), (k) => first[k]!).values()) {
    const priority = first[group[0]!]!;
    const makers = new Map(group.map((k) => [merged[k]!, k]));
    const halves = (k: number) => [left[k]!, right[k]!];
    const firstUseOf = (k: number) => usedFrom.get(merged[k]!) ?? Number.POSITIVE_INFINITY;
    const isQuiet = group.every((k) => firstUseOf(k) > priority);
    const isGrowing =
      group.filter((k) => halves(k).every((id) => !makers.has(id))).length === 1 &&
      group.every((k) => firstUseOf(k) >= priority) &&
      group.flatMap(halves).every((id) => makers.has(id) || (madeUntil.get(id) ?? -1) < priority);
    const byLeft = groupBy(group, (k) => left[k]!);
    const laterThan = (k: number) => [
      ...halves(k).flatMap((id) => makers.get(id) ?? []),
      ...(byLeft.get(right[k]!) ?? []).filter(
        (next) => next !== k && overlap(parts, merger, [...halves(k), right[next]!]),
      ),
    ];
    const isEasy = group.length === 1;
    const sorted = isEasy ? group : isQuiet || isGrowing ? sortTopologically(group, laterThan) : [];
    if (sorted.length < group.length) return { merges, obstacle: describeTie(parts, merges, group) };
    for (const k of sorted) order.push(k);
  }
  const at = (ids: Int32Array) => Int32Array.from(order, (k) => ids[k]!);
  return {
    merges: { left: at(left), right: at(right), merged: at(merged), first: at(first) },
    obstacle: null,
  };
}

function describeTie(
  { tokens }: TokenizerParts,
  { merged }: AppliedMerges,
  group: readonly number[],
): string {
  const [one, other] = group.map((k) =>
    showValue(Buffer.from(tokenTables.bytesOf(tokens, merged[k]!)).toString().replaceAll(" ", mark)),
  );
  return `its pieces ${one} and ${other} have equal scores: SentencePiece merges the leftmost first, which the ranks of a tokenizer.json cannot express`;
}

/** Returns, for each half of a merge, the lowest `first` of the merges that use it. */
function firstUses({ left, right, first }: AppliedMerges): Map<number, number> {
  const uses = new Map<number, number>();
  for (let k = first.length - 1; k >= 0; k--) {
    uses.set(left[k]!, first[k]!);
    uses.set(right[k]!, first[k]!);
  }
  return uses;
}

/** Returns, for each result of a merge, the highest `first` of the merges in its derivation. */
function lastMakings({ tokens }: TokenizerParts, { left, right, merged, first }: AppliedMerges) {
  const found = new Map<number, number>();
  const lengthOf = (k: number) => tokens.starts[merged[k]! + 1]! - tokens.starts[merged[k]!]!;
  // Halves are shorter than the whole.
  for (const k of [...merged.keys()].sort((a, b) => lengthOf(a) - lengthOf(b)))
    found.set(merged[k]!, Math.max(first[k]!, found.get(left[k]!) ?? -1, found.get(right[k]!) ?? -1));
  return found;
}

/** Sorts items so that each comes before those in its `laterThan`. Items in a cycle, or after one, are left out. */
function sortTopologically(items: readonly number[], laterThan: (item: number) => number[]): number[] {
  const later = new Map(items.map((item) => [item, laterThan(item)]));
  const waiting = new Map<number, number>();
  for (const next of [...later.values()].flat()) waiting.set(next, (waiting.get(next) ?? 0) + 1);
  const sorted = items.filter((item) => !waiting.has(item));
  for (const item of sorted)
    for (const next of later.get(item)!) {
      const count = waiting.get(next)! - 1;
      waiting.set(next, count);
      if (count === 0) sorted.push(next);
    }
  return sorted;
}

/** Whether merging the joined text of three tokens goes through the state that consists of these three tokens. */
function overlap({ tokens }: TokenizerParts, merger: WordMerger, ids: readonly number[]): boolean {
  const texts = ids.map((id) => tokenTables.bytesOf(tokens, id));
  const [first, middle, last] = texts.map(countCharacters);
  const second = first! + middle!;
  const mergeCount = second + last! - 3;
  // The trace alternates between a merge's position, in characters, and its rank. After `mergeCount` merges only two
  // boundaries are left, which must be those of the three tokens.
  const before = merger
    .trace(Buffer.concat(texts))
    .filter((_, i) => i % 2 === 0)
    .subarray(0, mergeCount);
  return before.length === mergeCount && !before.includes(first!) && !before.includes(second);
}

const countCharacters = (text: Uint8Array) => text.filter((byte) => (byte & 0xc0) !== 0x80).length;
