import type { RankedMerges } from "./encoding-model.ts";

/**
 * Joins the tokens of runs by supermerges: again and again the pair with the lowest rank of all, everywhere in the run and
 * from the left. A pair that is listed twice has its first rank.
 *
 * The merges of words go by the same rule, but there a pair never makes one of lower rank. Here it may, where two
 * supermerges spell one token; so pairs that a rank makes wait until all of that rank are done.
 */
export class RunMerger {
  private readonly parts = new Set<number>();
  /**
   * For each pair its first rank + 1, or 0 for an empty slot: a hash table with linear probing, at most a quarter full.
   */
  private readonly slots: Int32Array;
  /** The ranks of the pairs of a short run, and the index that each of its tokens had before a pass. */
  private readonly pairRanks = new Int32Array(shortLengthMax);
  private readonly sources = new Int32Array(shortLengthMax);

  constructor(private readonly supermerges: RankedMerges) {
    const { left, right } = supermerges;
    let slotCount = 1 << 4;
    while (slotCount < 4 * left.length) slotCount *= 2;
    this.slots = new Int32Array(slotCount);
    for (let rank = 0; rank < left.length; rank++) {
      this.parts.add(left[rank]!).add(right[rank]!);
      const slot = this.slotOf(left[rank]!, right[rank]!);
      if (this.slots[slot] === 0) this.slots[slot] = rank + 1;
    }
  }

  /** Whether any supermerge takes this token. */
  takes(id: number): boolean {
    return this.parts.has(id);
  }

  /** Joins ids[0 .. length) in place; returns how many are left. */
  merge(ids: Int32Array, length: number): number {
    return length <= shortLengthMax ? this.mergeShort(ids, length) : this.mergeLong(ids, length);
  }

  private rankOf(left: number, right: number): number {
    const rank = this.slots[this.slotOf(left, right)]! - 1;
    return rank < 0 ? noRank : rank;
  }

  /** Where the pair is, or where it would be. */
  private slotOf(left: number, right: number): number {
    const { slots, supermerges } = this;
    const mask = slots.length - 1;
    const hash = Math.imul(Math.imul(left, 0x9e3779b1) ^ right, 0x85ebca6b);
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (let entry = slots[slot]!; entry !== 0; entry = slots[slot]!) {
      if (supermerges.left[entry - 1] === left && supermerges.right[entry - 1] === right) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** In passes over the run. Only the pairs of tokens that a pass made are looked up again. */
  private mergeShort(ids: Int32Array, startLength: number): number {
    const { pairRanks, sources } = this;
    let length = startLength;
    for (let i = 0; i + 1 < length; i++) pairRanks[i] = this.rankOf(ids[i]!, ids[i + 1]!);
    for (;;) {
      let rank = noRank;
      for (let i = 0; i + 1 < length; i++) if (pairRanks[i]! < rank) rank = pairRanks[i]!;
      if (rank === noRank) return length;
      const id = this.supermerges.merged[rank]!;
      let to = 0;
      for (let from = 0; from < length; to++) {
        const isPair = from + 1 < length && pairRanks[from] === rank;
        ids[to] = isPair ? id : ids[from]!;
        sources[to] = isPair ? isMade : from;
        from += isPair ? 2 : 1;
      }
      length = to;
      // A source is at or behind its token, so no rank is written over before it is read.
      for (let i = 0; i + 1 < length; i++) {
        const isNew = sources[i] === isMade || sources[i + 1] === isMade;
        pairRanks[i] = isNew ? this.rankOf(ids[i]!, ids[i + 1]!) : pairRanks[sources[i]!]!;
      }
    }
  }

  /** With links between the tokens, and a heap of (rank, position). */
  private mergeLong(ids: Int32Array, length: number): number {
    const { left, right, merged } = this.supermerges;
    const next = Int32Array.from({ length }, (_, i) => i + 1);
    const before = Int32Array.from({ length }, (_, i) => i - 1);
    const heap = new NumberHeap();
    const push = (pos: number) => {
      const rank = pos >= 0 && next[pos]! < length ? this.rankOf(ids[pos]!, ids[next[pos]!]!) : noRank;
      if (rank !== noRank) heap.push(rank * positionEnd + pos);
    };
    for (let pos = 0; pos + 1 < length; pos++) push(pos);
    while (heap.size > 0) {
      const rank = Math.floor(heap.top / positionEnd);
      const made: number[] = [];
      while (heap.size > 0 && heap.top < (rank + 1) * positionEnd) {
        const pos = heap.pop() - rank * positionEnd;
        const behind = next[pos]!;
        if (ids[pos] !== left[rank] || behind >= length || ids[behind] !== right[rank]) continue;
        ids[pos] = merged[rank]!;
        ids[behind] = taken;
        next[pos] = next[behind]!;
        if (next[pos]! < length) before[next[pos]!] = pos;
        made.push(pos);
      }
      for (const pos of made) {
        push(before[pos]!);
        push(pos);
      }
    }
    let count = 0;
    for (let pos = 0; pos < length; pos++) if (ids[pos] !== taken) ids[count++] = ids[pos]!;
    return count;
  }
}

/** No pair has a rank as high. */
const noRank = 0x7fffffff;
const isMade = -1;
const taken = -1;
/** Positions are below it. Ranks are below 2^22, so that both fit into a number. */
const positionEnd = 2 ** 31;
/** Longer runs are merged with links: the short way looks at the whole run for each rank. */
const shortLengthMax = 24;

/** Numbers, the least one on top. */
class NumberHeap {
  private readonly numbers: number[] = [];

  get size(): number {
    return this.numbers.length;
  }

  get top(): number {
    return this.numbers[0]!;
  }

  push(number: number): void {
    const { numbers } = this;
    let index = numbers.push(number) - 1;
    while (index > 0 && numbers[(index - 1) >> 1]! > number) {
      numbers[index] = numbers[(index - 1) >> 1]!;
      index = (index - 1) >> 1;
    }
    numbers[index] = number;
  }

  pop(): number {
    const { numbers } = this;
    const top = numbers[0]!;
    const last = numbers.pop()!;
    if (numbers.length === 0) return top;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= numbers.length) break;
      if (child + 1 < numbers.length && numbers[child + 1]! < numbers[child]!) child++;
      if (numbers[child]! >= last) break;
      numbers[index] = numbers[child]!;
      index = child;
    }
    numbers[index] = last;
    return top;
  }
}
