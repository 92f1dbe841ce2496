import { type Derivations, Reach } from "./derivations.ts";

/** What is taken out of a vocabulary. */
export type Pruning = {
  /** 1 for each id whose token stays. */
  readonly stays: Uint8Array;
  /** How many stay. */
  readonly size: number;
  /** Of those taken out: tokens that nothing reaches. */
  readonly unreachableCount: number;
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
  const leaves = new LeafQueue();
  const pushIfLeaf = (id: number) => {
    if (stays[id] === 1 && isFixed[id] === 0 && useCounts[id] === 0) leaves.push(countNow[id]!, id);
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
    const leaf = leaves.pop();
    if (leaf === undefined) return { smallestSize: size };
    const { id, count } = leaf;
    // It got the occurrences of a whole pretoken since.
    if (count !== countNow[id]) {
      leaves.push(countNow[id]!, id);
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

type Leaf = { readonly count: number; readonly id: number };

/** A binary heap: the rarest leaf on top, of equally rare ones that with the highest id. */
class LeafQueue {
  private readonly leaves: Leaf[] = [];

  push(count: number, id: number): void {
    const { leaves } = this;
    const leaf = { count, id };
    let index = leaves.length;
    for (; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!precedes(leaf, leaves[parent]!)) break;
      leaves[index] = leaves[parent]!;
      index = parent;
    }
    leaves[index] = leaf;
  }

  pop(): Leaf | undefined {
    const { leaves } = this;
    const top = leaves[0];
    const last = leaves.pop();
    if (last === undefined || leaves.length === 0) return top;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= leaves.length) break;
      if (child + 1 < leaves.length && precedes(leaves[child + 1]!, leaves[child]!)) child++;
      if (!precedes(leaves[child]!, last)) break;
      leaves[index] = leaves[child]!;
      index = child;
    }
    leaves[index] = last;
    return top;
  }
}

const precedes = (a: Leaf, b: Leaf) => a.count < b.count || (a.count === b.count && a.id > b.id);
