import { normalize } from "../text/links.ts";
import { TextEncoding } from "../tokenizer/text-encoding.ts";
import type { EncodingParts } from "../tokenizer/tokenizer-parts.ts";
import type { PlacedWords } from "./text-words.ts";

/** A tokenizer as threads get it that encode words. Plain data. */
export type WordEncoding = {
  readonly parts: EncodingParts;
  readonly specialTokensAsText: boolean;
  /** Bytes of all tokens, and where those of each token begin, by id; one element more at the end (TokenTable). */
  readonly tokenBytes: Uint8Array;
  readonly tokenStarts: Uint32Array;
};

/** Words of a table, without their counts. */
export type WordBytes = { readonly bytes: Uint8Array; readonly starts: Uint32Array };

/** Words [first, end) of a table. */
export type WordSlice = { readonly first: number; readonly end: number };

/**
 * Encodes words: pretokens, and placed words, each of these as a text of its own. The tokens of a text word are those that hold
 * a byte of it: a token that is only the white space before it does not count.
 */
export class WordEncoder {
  private readonly encoding: TextEncoding;
  /** The tokens of a text have its bytes, all of them and no others. */
  private readonly keepsBytes: boolean;

  constructor(private readonly tokenizer: WordEncoding) {
    const { parts, specialTokensAsText } = tokenizer;
    this.encoding = new TextEncoding(parts, { specialTokensAsText });
    this.keepsBytes =
      parts.normalization === null &&
      !parts.addsPrefixSpace &&
      !parts.model.dropsBytes &&
      !parts.addedTokens.some(({ lstrip, rstrip }) => lstrip || rstrip);
  }

  /** Adds the tokens of pretokens, each as often as `counts` says, to `tokenCounts`, by id. */
  addTokens(
    { bytes, starts }: WordBytes,
    counts: Float64Array,
    slice: WordSlice,
    tokenCounts: Float64Array,
  ): void {
    const { encoding } = this;
    // Without their bytes the ids of several words cannot be told apart.
    const wordsMax = this.tokenizer.parts.model.dropsBytes ? 1 : Number.POSITIVE_INFINITY;
    for (const group of groupsOf(starts, slice, wordsMax)) {
      encoding.out.shrink();
      encoding.pushPretokens(bytes, starts, group.first, group.end);
      this.addGroup(starts, group, counts, tokenCounts);
      encoding.out.count = 0;
    }
  }

  /** Adds the ids of the words of a group, which follow each other in the output. */
  private addGroup(
    starts: Uint32Array,
    { first, end }: WordSlice,
    counts: Float64Array,
    tokenCounts: Float64Array,
  ): void {
    const { tokenStarts } = this.tokenizer;
    const { ids, count: idCount } = this.encoding.out;
    let i = 0;
    for (let word = first; word < end; word++) {
      const count = counts[word]!;
      let left = starts[word + 1]! - starts[word]!;
      for (; i < idCount && (left > 0 || word === end - 1); i++) {
        const id = ids[i]!;
        tokenCounts[id]! += count;
        left -= tokenStarts[id + 1]! - tokenStarts[id]!;
      }
    }
  }

  /** Writes the number of tokens of placed words into `tokenCounts`, at their indices. */
  countTokens(words: PlacedWords, slice: WordSlice, tokenCounts: Uint32Array): void {
    const { encoding } = this;
    const { bytes, starts } = words;
    for (const { first, end } of groupsOf(starts, slice, this.keepsBytes ? Number.POSITIVE_INFINITY : 1)) {
      encoding.out.shrink();
      if (end - first > 1 && encoding.pushTexts(bytes, starts, first, end)) {
        this.countGroup(words, { first, end }, tokenCounts);
        encoding.out.count = 0;
        continue;
      }
      for (let p = first; p < end; p++) {
        const idCount = this.encode(words, p);
        tokenCounts[p] = idCount - this.blankCount(words, p, idCount);
      }
    }
  }

  /** The same for a group whose ids follow each other in the output, and have the bytes of the words. */
  private countGroup(
    { starts, blankBytes }: PlacedWords,
    { first, end }: WordSlice,
    tokenCounts: Uint32Array,
  ): void {
    const { tokenStarts } = this.tokenizer;
    const { ids, count: idCount } = this.encoding.out;
    let i = 0;
    for (let p = first; p < end; p++) {
      const wordEnd = starts[p + 1]!;
      const blankEnd = starts[p]! + blankBytes[p]!;
      let tokenCount = 0;
      for (let pos = starts[p]!; pos < wordEnd; i++) {
        const id = ids[i]!;
        pos += tokenStarts[id + 1]! - tokenStarts[id]!;
        if (pos > blankEnd) tokenCount++;
      }
      tokenCounts[p] = tokenCount;
    }
    if (i !== idCount) throw new Error(`${idCount} ids have the bytes of words that ${i} should have`);
  }

  /** The ids of a placed word, without those of white space before it. The next call overwrites them. */
  idsOf(words: PlacedWords, placed: number): Uint16Array | Uint32Array {
    const idCount = this.encode(words, placed);
    return this.encoding.out.ids.subarray(this.blankCount(words, placed, idCount), idCount);
  }

  /** All ids of a placed word. The next call overwrites them. */
  allIdsOf(words: PlacedWords, placed: number): Uint16Array | Uint32Array {
    const idCount = this.encode(words, placed);
    return this.encoding.out.ids.subarray(0, idCount);
  }

  /** Encodes a placed word. Its ids are the first ones of the output, as many as it returns. */
  private encode({ bytes, starts }: PlacedWords, placed: number): number {
    const { encoding } = this;
    encoding.out.shrink();
    encoding.pushText(bytes, starts[placed]!, starts[placed + 1]!);
    const idCount = encoding.out.count;
    encoding.out.count = 0;
    return idCount;
  }

  /** How many of the first ids are only white space: what all ids stand for is longer than the word by that white space. */
  private blankCount({ bytes, starts, blankBytes }: PlacedWords, placed: number, idCount: number): number {
    const { tokenStarts } = this.tokenizer;
    const { ids } = this.encoding.out;
    const blank = blankBytes[placed]!;
    let left = blank;
    if (!this.keepsBytes) {
      left = -this.keptBytes(bytes.subarray(starts[placed]! + blank, starts[placed + 1]!));
      for (let i = 0; i < idCount; i++) left += tokenStarts[ids[i]! + 1]! - tokenStarts[ids[i]!]!;
    }
    let count = 0;
    for (; left > 0 && count < idCount; count++) {
      left -= tokenStarts[ids[count]! + 1]! - tokenStarts[ids[count]!]!;
      if (left < 0) break;
    }
    return count;
  }

  /** How many bytes of the tokens stand for these bytes of a text. */
  private keptBytes(bytes: Uint8Array): number {
    const { normalization, model } = this.tokenizer.parts;
    const text = Buffer.from(bytes);
    const normalized =
      normalization === null ? text : Buffer.from(normalize(text.toString("utf8"), normalization));
    let count = 0;
    for (const byte of normalized) if (model.byteIds[byte]! >= 0) count++;
    return count;
  }
}

/** So many bytes are encoded at once, if there are several words among them. */
const groupBytesMax = 1 << 16;

/** Cuts a slice into groups of words that follow each other, of `groupBytesMax` and `wordsMax` or less, or of one word. */
function* groupsOf(starts: Uint32Array, { first, end }: WordSlice, wordsMax: number): Generator<WordSlice> {
  for (let from = first; from < end; ) {
    let to = from + 1;
    while (to < end && to - from < wordsMax && starts[to + 1]! - starts[from]! <= groupBytesMax) to++;
    yield { first: from, end: to };
    from = to;
  }
}

/** A tokenizer with the encoder of its words. */
export type WordCutter = { readonly tokenizer: WordEncoding; readonly encoder: WordEncoder };

/** Marks those of the placed words [first, end) that two tokenizers cut into different sequences of bytes. */
export function compareCuts(
  words: PlacedWords,
  { first, end }: WordSlice,
  [a, b]: readonly [WordCutter, WordCutter],
  isDifferent: Uint8Array,
): void {
  for (let placed = first; placed < end; placed++) {
    const idsOfA = a.encoder.allIdsOf(words, placed);
    const idsOfB = b.encoder.allIdsOf(words, placed);
    isDifferent[placed] = isSameCut(a.tokenizer, idsOfA, b.tokenizer, idsOfB) ? 0 : 1;
  }
}

type Ids = Uint16Array | Uint32Array;

function isSameCut(a: WordEncoding, idsOfA: Ids, b: WordEncoding, idsOfB: Ids): boolean {
  if (idsOfA.length !== idsOfB.length) return false;
  for (let i = 0; i < idsOfA.length; i++) {
    const startOfA = a.tokenStarts[idsOfA[i]!]!;
    const startOfB = b.tokenStarts[idsOfB[i]!]!;
    const length = a.tokenStarts[idsOfA[i]! + 1]! - startOfA;
    if (b.tokenStarts[idsOfB[i]! + 1]! - startOfB !== length) return false;
    for (let j = 0; j < length; j++) {
      if (a.tokenBytes[startOfA + j] !== b.tokenBytes[startOfB + j]) return false;
    }
  }
  return true;
}
