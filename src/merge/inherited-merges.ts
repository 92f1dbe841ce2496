import { byteCharacters } from "#bytes";
import { asOption, phrase, scaled, UserError } from "#runtime";
import {
  type Compat,
  type EncodingModel,
  encodingModels,
  type LearnedPairs,
  type Merges,
  TokenBytes,
} from "#tokenizer";
import type { RecordWords, wordTables } from "#words";
import { alphabetOrder, type StartTokens } from "./merge-options.ts";

const byteCount = 256;

/** Returns a model that encodes by the merges alone: ids are token numbers. */
export function modelOfMerges({ left, right }: LearnedPairs): EncodingModel {
  const byteIds = Int32Array.from({ length: byteCount }, (_, byte) => byte);
  const merged = Int32Array.from(left, (_, k) => byteCount + k);
  return encodingModels.build({ byteIds, merges: { left, right, merged } });
}

/**
 * Which merges the second stage (superwords) keeps of those that it inherits from the first. A merge is kept if its
 * pair ever occurred in the words of the second stage. This is so even if other merges consumed all occurrences of the
 * pair before the merge could be applied.
 *
 *   ARRAY        TYPE          LENGTH            MEANING
 *   isKept       Uint8Array    mergeCount        1 if merge k is kept
 *   madeCounts   Float64Array  256 + mergeCount  how often each token was created, weighted by the words' counts;
 *                                                for bytes, how often they occur
 */
type KeptMerges = {
  readonly isKept: Uint8Array;
  readonly madeCounts: Float64Array;
  /** The number of tokens in the words. */
  readonly positionCount: number;
};

/**
 * The two halves of each merge, as token numbers: 0-255 are the bytes, and merge k makes token 256 + k from tokens with
 * lower numbers.
 */
type Halves = Pick<encodingModels.RankedMerges, "left" | "right">;

/** The maximum number of tokens that are examined between two yields, apart from the rest of the last word. */
const tokensAtOnce = scaled(1 << 21, 16);
/** The maximum number of words of a table between two yields. */
const wordsAtOnce = scaled(1 << 18, 3);

/**
 * Finds the merges to keep, from words in which all merges are applied, and from the counts of each token in them.
 *
 * A token was made from its two halves by one merge, each half from its halves, and so on down to bytes. So the tokens
 * in the words determine how often each merge was applied. Even if a merge was never applied, its pair may have
 * occurred for a while, until another merge consumed one of the two tokens. `Boundaries` looks for such pairs.
 */
export function* findKeptMerges(
  words: wordTables.TokenWords | RecordWords,
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
    if (madeCounts[byteCount + k]! > 0) boundaries.examineBoundary(left[k]!, right[k]!, k);
  }
  const positionCount = yield* boundaries.examineWords(words);
  return { isKept, madeCounts, positionCount };
}

/** Yields ranges of words, [first, end), which take some milliseconds each. */
function* slicesOf({ wordCount, starts }: wordTables.TokenWords): Generator<[first: number, end: number]> {
  for (let first = 0; first < wordCount; ) {
    const stop = starts[first]! + tokensAtOnce;
    let end = Math.min(wordCount, first + wordsAtOnce);
    while (end > first + 1 && starts[end]! > stop) end = first + ((end - first) >> 1);
    yield [first, end];
    first = end;
  }
}

// The flags of tokens in `Boundaries.flags`, as in the kernel (src/kernel/words/word-records.ts). Here, an *unapplied*
// merge is one that was never applied although both of its halves were made.
/** The token ends with the left half of an unapplied merge. */
const mayEnd = 1;
/** The token begins with the right half of an unapplied merge. */
const mayBegin = 2;

/** The maximum number of pairs that are remembered as examined. When it is reached, the set is cleared. */
const knownPairsMax = scaled(1 << 20, 4);

/**
 * Finds pairs of tokens that were once adjacent. A boundary is the place between two tokens. Either an applied merge
 * joined the two, and the boundary existed until then; or they are neighbours in a word, and it still exists. The
 * tokens that ended at it are the left token, its right half, the right half of that, and so on; the tokens that began
 * at it are the right token, its left half, and so on. Each existed from the merge that created it to the merge that
 * consumed it. A token that ended at the boundary and one that began there were adjacent if both existed at a moment
 * between two merges.
 */
class Boundaries {
  /** The unapplied merges, by their left half. */
  private readonly byLeft = new Map<number, number[]>();
  /**
   * For each token, `mayEnd` if it ends with the left half of an unapplied merge, and `mayBegin` if it begins with the
   * right half of one. A token ends with itself, with its right half, with the right half of that, and so on.
   */
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

  /**
   * Examines the boundaries between tokens of the words, unless the words are a table and no merge is unapplied. Returns
   * the number of tokens in the words.
   */
  *examineWords(words: wordTables.TokenWords | RecordWords): Generator<undefined, number> {
    if ("kernel" in words) return yield* this.examineRecords(words);
    for (const [first, end] of this.byLeft.size > 0 ? slicesOf(words) : []) {
      this.examineSlice(words, first, end);
      yield;
    }
    return words.tokens.length;
  }

  private examineSlice({ tokens, starts }: wordTables.TokenWords, first: number, end: number): void {
    const { flags } = this;
    for (let w = first; w < end; w++) {
      const last = starts[w + 1]! - 1;
      for (let i = starts[w]!; i < last; i++) {
        if ((flags[tokens[i]!]! & mayEnd) !== 0 && (flags[tokens[i + 1]!]! & mayBegin) !== 0)
          this.examineOnce(tokens[i]!, tokens[i + 1]!);
      }
    }
  }

  /**
   * Examines the boundaries in words that are records in a kernel's memory. The kernel lists the pairs of a token with
   * `mayEnd` and one with `mayBegin`, few of them more than once.
   */
  private *examineRecords({ kernel, positionBytes, flagsStart }: RecordWords): Generator<undefined, number> {
    const { exports, memory } = kernel;
    new Uint8Array(memory.buffer, flagsStart).set(this.flags);
    exports.beginLook(flagsStart);
    while (exports.hasLooked() === 0) {
      const pairCount = exports.lookSome(tokensAtOnce, positionBytes);
      const pairs = new Uint32Array(memory.buffer, exports.lookedPairsAddress() >>> 0, 2 * pairCount);
      for (let i = 0; i < pairs.length; i += 2) this.examineOnce(pairs[i]!, pairs[i + 1]!);
      yield;
    }
    return exports.lookedIds();
  }

  private examineOnce(before: number, after: number): void {
    const { known, tokenCount } = this;
    const both = before * tokenCount + after;
    if (known.has(both)) return;
    if (known.size === knownPairsMax) known.clear();
    known.add(both);
    this.examineBoundary(before, after, Number.POSITIVE_INFINITY);
  }

  /** Examines the boundary between two tokens. `usedBy` is the merge that joined them; infinite if none did. */
  examineBoundary(before: number, after: number, usedBy: number): void {
    const { byLeft, flags, merges, found } = this;
    const { right } = merges;
    if ((flags[before]! & mayEnd) === 0 || (flags[after]! & mayBegin) === 0) return;
    for (let token = before, end = usedBy; ; token = right[token - byteCount]!) {
      for (const k of byLeft.get(token) ?? []) {
        if (this.wasBegin(after, usedBy, right[k]!, token - byteCount, end)) found(k);
      }
      if (token < byteCount) return;
      end = token - byteCount;
    }
  }

  /**
   * Whether the token `wanted` began where `top` begins, and existed at some moment between merges `from` and `to`.
   * `usedBy` is the merge that consumed `top`.
   */
  private wasBegin(top: number, usedBy: number, wanted: number, from: number, to: number): boolean {
    let end = usedBy;
    for (let token = top; ; token = this.merges.left[token - byteCount]!) {
      if (token === wanted) return Math.max(from, token - byteCount) < Math.min(to, end);
      if (token < byteCount) return false;
      end = token - byteCount;
    }
  }
}

/** The kept inherited merges, and for the old number of each token, the new one; -1 if the token is dropped. */
type Renumbered = { readonly merges: Merges; readonly numbers: Int32Array };

/**
 * Renumbers the kept inherited merges. In the result, `counts` are from the first stage, and `replacedCounts` from the
 * words of the second.
 */
export function keepInherited(merges: Merges, { isKept, madeCounts }: KeptMerges): Renumbered {
  const numbers = new Int32Array(byteCount + merges.mergeCount).fill(-1);
  for (let byte = 0; byte < byteCount; byte++) numbers[byte] = byte;
  const kept: number[] = [];
  for (let k = 0; k < merges.mergeCount; k++) {
    if (isKept[k] === 0) continue;
    numbers[byteCount + k] = byteCount + kept.length;
    kept.push(k);
  }
  const numbersOf = (halves: Int32Array) => Int32Array.from(kept, (k) => numbers[halves[k]!]!);
  const pairs = { left: numbersOf(merges.left), right: numbersOf(merges.right) };
  const counts = Float64Array.from(kept, (k) => merges.counts[k]!);
  const replacedCounts = Float64Array.from(kept, (k) => madeCounts[byteCount + k]!);
  return {
    merges: { ...merges, mergeCount: kept.length, ...pairs, counts, replacedCounts },
    numbers,
  };
}

/** Returns the counts of the kept tokens, in the order of their new numbers. */
export function renumberCounts(counts: Float64Array, numbers: Int32Array): Float64Array {
  return counts.filter((_, token) => numbers[token]! >= 0);
}

/** The initial tokens of the second stage: the bytes, and the results of the inherited merges. */
export type Inherited = {
  readonly startTokens: StartTokens;
  /**
   * How many inherited merges add an entry to the vocabulary. All do, except that under `huggingface` a merge that
   * spells a special token does not.
   */
  readonly entryCount: number;
};

export function inheritedTokens(merges: Merges, specialTokens: readonly string[], compat: Compat): Inherited {
  const tokenBytes = TokenBytes.of(merges);
  const count = tokenBytes.tokenCount;
  const starts = new Uint32Array(count + 1);
  for (let token = 0; token < count; token++) starts[token + 1] = starts[token]! + tokenBytes.lengths[token]!;
  const byteTotal = tokenBytes.lengths.reduce((sum, length) => sum + length, 0);
  if (byteTotal > bytesMax) throw tooLong(byteTotal);
  const bytes = new Uint8Array(byteTotal);
  for (let token = 0; token < count; token++) bytes.set(tokenBytes.copy(token), starts[token]!);
  const spelling = { bytes, starts };
  const ranks = Int32Array.from({ length: count }, (_, token) => token);
  if (compat !== "huggingface")
    return { startTokens: { count, spelling, ranks }, entryCount: merges.mergeCount };
  ranks.set(alphabetOrder());
  // A merge that spells a special token has the special token's id, and special tokens have the smallest ids.
  const texts = [...new Set(specialTokens)];
  let sharedCount = 0;
  for (const [index, text] of texts.entries()) {
    const token = findToken(spelling, byteCharacters.decode(text));
    if (token < 0) continue;
    ranks[token] = index - texts.length;
    if (token >= byteCount) sharedCount++;
  }
  return { startTokens: { count, spelling, ranks }, entryCount: merges.mergeCount - sharedCount };
}

/** Upper bound of the bytes of all tokens, which are in one array. */
const bytesMax = 2 ** 30;

const tooLong = (byteTotal: number) =>
  new UserError(
    `the tokens learned before superwords have ${byteTotal.toLocaleString("en-US")} bytes in all; the limit is ${bytesMax.toLocaleString("en-US")}`,
    {
      hint: phrase`limit the length of each, e.g. ${asOption("max-token-length", 100)}, or use a ${asOption("pattern")} that splits the text into shorter words`,
    },
  );

/** Returns the token with these bytes, or -1. */
function findToken(
  { bytes, starts }: NonNullable<StartTokens["spelling"]>,
  wanted: Uint8Array | null,
): number {
  if (wanted === null) return -1;
  for (let token = 0; token + 1 < starts.length; token++) {
    const [start, end] = [starts[token]!, starts[token + 1]!];
    if (end - start === wanted.length && wanted.every((byte, i) => byte === bytes[start + i])) return token;
  }
  return -1;
}
