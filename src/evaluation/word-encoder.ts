import { normalize } from "../tokenizer/normalizer.ts";
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
    { first, end }: WordSlice,
    tokenCounts: Float64Array,
  ): void {
    const { out } = this.encoding;
    for (let word = first; word < end; word++) {
      out.shrink();
      this.encoding.pushPretoken(bytes, starts[word]!, starts[word + 1]!);
      const { ids, count: idCount } = out;
      const count = counts[word]!;
      for (let i = 0; i < idCount; i++) tokenCounts[ids[i]!]! += count;
      out.count = 0;
    }
  }

  /** Writes the number of tokens of placed words into `tokenCounts`, at their indices. */
  countTokens(words: PlacedWords, { first, end }: WordSlice, tokenCounts: Uint32Array): void {
    for (let p = first; p < end; p++) {
      const idCount = this.encode(words, p);
      tokenCounts[p] = idCount - this.blankCount(words, p, idCount);
    }
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
