import type { RankedMerges } from "../tokenizer/encoding-model.ts";
import type { RecordWords } from "../words/word-counter.ts";
import type { TokenWords } from "../words/word-table.ts";

/**
 * Which inherited merges stay. Learning superwords begins with pretokens that other merges, the inherited ones, have been made
 * in. One of them stays if its pair occurred when its turn came or before, even if no occurrence was left for it. The others
 * would be tokens that no text can have, and go.
 *
 *   ARRAY        TYPE          LENGTH            MEANING
 *   isKept       Uint8Array    mergeCount        1 if merge k stays
 *   madeCounts   Float64Array  256 + mergeCount  how often each token was made in the words, weighted; of bytes: their number
 */
export type KeptMerges = {
  readonly isKept: Uint8Array;
  readonly madeCounts: Float64Array;
  /** How many tokens the words have. */
  readonly positionCount: number;
};

/** Halves of merges by token number: 0-255 are the bytes, 256 + k is what merge k makes, of tokens with lower numbers. */
export type Halves = Pick<RankedMerges, "left" | "right">;

const byteCount = 256;
/** Tokens and words between two yields, unless one word has more. */
const tokensAtOnce = 1 << 21;
const wordsAtOnce = 1 << 18;

/**
 * Finds out which merges stay, from words that all of them have been made in, and from how often each token is in them.
 * Yields between slices of some milliseconds.
 *
 * Each token of the words was made by merges that its halves tell, down to bytes. So the words tell how often every merge was
 * made. Where none was, its pair may still have occurred: between two tokens that other merges absorbed. `Boundaries` looks
 * for that.
 */
export function* findKeptMerges(
  words: TokenWords | RecordWords,
  merges: Halves,
  tokenCounts: Float64Array,
): Generator<undefined, KeptMerges> {
  const { left, right } = merges;
  const madeCounts = tokenCounts.slice();
  for (let k = left.length - 1; k >= 0; k--) {
    const made = madeCounts[byteCount + k]!;
    madeCounts[left[k]!]! += made;
    madeCounts[right[k]!]! += made;
  }
  const isKept = Uint8Array.from(left, (_, k) => Number(madeCounts[byteCount + k]! > 0));
  const unmade: number[] = [];
  for (let k = 0; k < left.length; k++) {
    if (isKept[k] === 0 && madeCounts[left[k]!]! > 0 && madeCounts[right[k]!]! > 0) unmade.push(k);
  }
  const boundaries = new Boundaries(merges, unmade, (k) => {
    isKept[k] = 1;
  });
  for (let k = 0; k < left.length; k++) {
    if (madeCounts[byteCount + k]! > 0) boundaries.look(left[k]!, right[k]!, k);
  }
  const positionCount = yield* boundaries.lookAt(words);
  return { isKept, madeCounts, positionCount };
}

/** Words [first, end), in slices of some milliseconds. */
function* slicesOf({ wordCount, starts }: TokenWords): Generator<[first: number, end: number]> {
  for (let first = 0; first < wordCount; ) {
    const stop = starts[first]! + tokensAtOnce;
    let end = Math.min(wordCount, first + wordsAtOnce);
    while (end > first + 1 && starts[end]! > stop) end = first + ((end - first) >> 1);
    yield [first, end];
    first = end;
  }
}

/** Flags of tokens, as the kernel knows them (src/kernel/words/word-records.ts). */
const mayEnd = 1;
const mayBegin = 2;

/** Pairs of tokens that were looked at are remembered, up to so many. */
const knownPairsMax = 1 << 20;

/**
 * Looks for pairs of tokens that once stood side by side. The place between them was there until a merge went over it, or is
 * there now: between the halves of a merge that was made, or between two tokens of a word. The tokens that ended there are
 * the last halves of the left one, of that its last half, and so on; those that began there are the first halves of the right
 * one. Each was there from the merge that made it to the merge that used it up. Two of them stood side by side if these times
 * have a moment in common, after a whole merge.
 */
class Boundaries {
  /** Unmade merges by their left half. */
  private readonly byLeft = new Map<number, number[]>();
  /** Whether the left (1), right (2) half of an unmade merge is among the tokens that end (begin) where a token does. */
  private readonly flags: Uint8Array;
  private readonly known = new Set<number>();
  private readonly tokenCount: number;

  constructor(
    private readonly merges: Halves,
    unmade: readonly number[],
    private readonly found: (merge: number) => void,
  ) {
    const { left, right } = merges;
    this.tokenCount = byteCount + left.length;
    const flags = new Uint8Array(this.tokenCount);
    this.flags = flags;
    for (const k of unmade) {
      const others = this.byLeft.get(left[k]!);
      if (others === undefined) this.byLeft.set(left[k]!, [k]);
      else others.push(k);
      flags[left[k]!]! |= mayEnd;
      flags[right[k]!]! |= mayBegin;
    }
    for (let k = 0; k < left.length; k++) {
      flags[byteCount + k]! |= (flags[right[k]!]! & mayEnd) | (flags[left[k]!]! & mayBegin);
    }
  }

  /** Looks at all places between two tokens of the words; returns how many tokens they have. */
  *lookAt(words: TokenWords | RecordWords): Generator<undefined, number> {
    if ("kernel" in words) return yield* this.lookAtRecords(words);
    for (const [first, end] of this.byLeft.size > 0 ? slicesOf(words) : []) {
      this.lookAtSome(words, first, end);
      yield;
    }
    return words.tokens.length;
  }

  private lookAtSome({ tokens, starts }: TokenWords, first: number, end: number): void {
    const { flags } = this;
    for (let w = first; w < end; w++) {
      const last = starts[w + 1]! - 1;
      for (let i = starts[w]!; i < last; i++) {
        if ((flags[tokens[i]!]! & mayEnd) !== 0 && (flags[tokens[i + 1]!]! & mayBegin) !== 0)
          this.lookOnce(tokens[i]!, tokens[i + 1]!);
      }
    }
  }

  /** The kernel lists the pairs, most of them once. */
  private *lookAtRecords({ kernel, positionBytes, flagsStart }: RecordWords): Generator<undefined, number> {
    const { exports, memory } = kernel;
    new Uint8Array(memory.buffer, flagsStart).set(this.flags);
    exports.beginLook(flagsStart);
    while (exports.hasLooked() === 0) {
      const pairCount = exports.lookSome(tokensAtOnce, positionBytes);
      const pairs = new Uint32Array(memory.buffer, exports.lookedPairsAddress() >>> 0, 2 * pairCount);
      for (let i = 0; i < pairs.length; i += 2) this.lookOnce(pairs[i]!, pairs[i + 1]!);
      yield;
    }
    return exports.lookedIds();
  }

  private lookOnce(before: number, behind: number): void {
    const { known, tokenCount } = this;
    const both = before * tokenCount + behind;
    if (known.has(both)) return;
    if (known.size === knownPairsMax) known.clear();
    known.add(both);
    this.look(before, behind, Number.POSITIVE_INFINITY);
  }

  /** Looks at a place between two tokens that merge `usedBy` absorbed, or none. */
  look(before: number, behind: number, usedBy: number): void {
    const { byLeft, flags, merges, found } = this;
    const { right } = merges;
    if ((flags[before]! & mayEnd) === 0 || (flags[behind]! & mayBegin) === 0) return;
    for (let token = before, end = usedBy; ; token = right[token - byteCount]!) {
      for (const k of byLeft.get(token) ?? []) {
        if (this.wasBegin(behind, usedBy, right[k]!, token - byteCount, end)) found(k);
      }
      if (token < byteCount) return;
      end = token - byteCount;
    }
  }

  /** Whether `wanted` began where `top` does at a moment after merge `from` and before merge `to`. */
  private wasBegin(top: number, usedBy: number, wanted: number, from: number, to: number): boolean {
    let end = usedBy;
    for (let token = top; ; token = this.merges.left[token - byteCount]!) {
      if (token === wanted) return Math.max(from, token - byteCount) < Math.min(to, end);
      if (token < byteCount) return false;
      end = token - byteCount;
    }
  }
}
