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

/**
 * Encodes placed words, each as a text of its own. The tokens of a text word are those that hold a byte of it: a token that is
 * only the white space before it does not count.
 */
export class PlacedWordEncoder {
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

  /** Writes the number of tokens of the placed words [first, end) into `tokenCounts`, at their indices. */
  countTokens(
    words: PlacedWords,
    { first, end }: { readonly first: number; readonly end: number },
    tokenCounts: Uint32Array,
  ): void {
    for (let p = first; p < end; p++) {
      const ids = this.encode(words.bytes, words.starts[p]!, words.starts[p + 1]!);
      tokenCounts[p] = ids.length - this.blankCount(words, p, ids);
    }
  }

  /** The ids of a placed word, without those of white space before it. The next call overwrites them. */
  idsOf(words: PlacedWords, placed: number): Uint16Array | Uint32Array {
    const ids = this.allIdsOf(words, placed);
    return ids.subarray(this.blankCount(words, placed, ids));
  }

  /** All ids of a placed word. The next call overwrites them. */
  allIdsOf({ bytes, starts }: PlacedWords, placed: number): Uint16Array | Uint32Array {
    return this.encode(bytes, starts[placed]!, starts[placed + 1]!);
  }

  private encode(bytes: Uint8Array, start: number, end: number): Uint16Array | Uint32Array {
    const { encoding } = this;
    encoding.out.shrink();
    for (let pos = start; pos < end; pos += pushBytesMax) {
      encoding.push(bytes, pos, Math.min(end, pos + pushBytesMax));
    }
    encoding.end();
    return encoding.out.flush();
  }

  /** How many of the first ids are only white space: what all ids stand for is longer than the word by that white space. */
  private blankCount(
    { bytes, starts, blankBytes }: PlacedWords,
    placed: number,
    ids: Uint16Array | Uint32Array,
  ): number {
    const blank = blankBytes[placed]!;
    let left = blank;
    const { tokenStarts } = this.tokenizer;
    if (!this.keepsBytes) {
      left = -this.keptBytes(bytes.subarray(starts[placed]! + blank, starts[placed + 1]!));
      for (let i = 0; i < ids.length; i++) left += tokenStarts[ids[i]! + 1]! - tokenStarts[ids[i]!]!;
    }
    let count = 0;
    for (; left > 0 && count < ids.length; count++) {
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

const pushBytesMax = 1 << 18;
