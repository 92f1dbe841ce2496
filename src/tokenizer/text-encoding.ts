import type { ReadText, TextSink } from "../text/links.ts";
import { Normalizer, normalize, PrefixSpace, TokenCutter } from "../text/links.ts";
import { createPretokens } from "../text/pretokens.ts";
import { EncodingTaker } from "./encoding-taker.ts";
import type { IdBuffer } from "./id-buffer.ts";
import { SectionEncoder } from "./section-encoder.ts";
import type { EncodingParts } from "./tokenizer-parts.ts";

/**
 * From a text to its ids, in HF's order: find added tokens in the text as it is; normalize the text between them; find the
 * added tokens that are `normalized` in that; cut the rest by the pattern, and merge.
 */
export class TextEncoding {
  readonly out: IdBuffer;
  private readonly sections: SectionEncoder;
  private readonly first: TextSink;
  /** Where `pushRead` reads text for a chain of several links. */
  private window = new Uint8Array(0);

  constructor(parts: EncodingParts, options: { specialTokensAsText?: boolean } = {}) {
    const { addedTokens, normalization, pattern } = parts;
    const asText = options.specialTokensAsText ?? false;
    const isPlain = areAllPlain(parts);
    const tokens = (isPlain ? addedTokens : []).map(({ content, special, id }) => ({
      bytes: Buffer.from(content),
      id: special && asText ? -1 : id,
    }));
    const taker = new EncodingTaker(parts, tokens);
    this.out = taker.out;
    const tokenBytesMax = tokens.reduce((max, { bytes }) => Math.max(max, bytes.length), 0);
    this.sections = new SectionEncoder(createPretokens(pattern, tokens, taker), taker, tokenBytesMax);
    let chain: TextSink = this.sections;
    if (isPlain) {
      this.first = chain;
      return;
    }
    if (parts.addsPrefixSpace) chain = new PrefixSpace(chain);
    const late = addedTokens.filter((token) => token.normalized);
    if (late.length > 0) {
      const normalized = late.map((token) => ({
        ...token,
        content: normalization === null ? token.content : normalize(token.content, normalization),
      }));
      chain = new TokenCutter(normalized, asText, chain);
    }
    if (normalization !== null) chain = new Normalizer(normalization, chain);
    const early = addedTokens.filter((token) => !token.normalized);
    if (early.length > 0) chain = new TokenCutter(early, asText, chain);
    this.first = chain;
  }

  get invalidByteCount(): number {
    return this.sections.invalidByteCount;
  }

  /** Bytes that wait at the end of the chain to be encoded. */
  get pendingBytes(): number {
    return this.sections.pendingBytes;
  }

  /** Takes the next bytes of the text; the caller may overwrite them afterwards. */
  push(bytes: Uint8Array, start: number, end: number): void {
    this.first.push(bytes, start, end);
  }

  /** Takes the next bytes of the text, up to `byteCount`, which `read` writes where they are needed; returns how many came. */
  pushRead(byteCount: number, read: ReadText): number {
    if (this.first === this.sections) return this.sections.pushRead(byteCount, read);
    if (this.window.length < byteCount) this.window = new Uint8Array(byteCount);
    const readBytes = read(this.window, 0, byteCount);
    this.first.push(this.window, 0, readBytes);
    return readBytes;
  }

  /** Encodes a whole text, as `push` and `end` do. */
  pushText(bytes: Uint8Array, start: number, end: number): void {
    if (this.first === this.sections && end - start <= sectionBytesMax) {
      this.sections.section(bytes, start, end);
      return;
    }
    for (let pos = start; pos < end; pos += sectionBytesMax) {
      this.push(bytes, pos, Math.min(end, pos + sectionBytesMax));
    }
    this.end();
  }

  /**
   * Encodes each of the words [first, end) of a table as a text of its own, with nothing between their ids. They are some 100 KB
   * at most. False, and nothing is done, if it has to be done one by one.
   */
  pushTexts(bytes: Uint8Array, starts: Uint32Array, first: number, end: number): boolean {
    return this.first === this.sections && this.sections.texts(bytes, starts, first, end);
  }

  /** Encodes each of the words [first, end) of a table as one pretoken that is cut already. Only between two texts. */
  pushPretokens(bytes: Uint8Array, starts: Uint32Array, first: number, end: number): void {
    this.sections.cutPretokens(bytes, starts, first, end);
  }

  /** The text ends here; the next one may begin. */
  end(): void {
    this.first.end();
  }

  /** The text goes on in another task, behind a safe cut; `bytes` are the few that follow. */
  cut(bytes: Uint8Array, start: number, end: number): void {
    this.first.settle();
    this.sections.cut(bytes, start, end);
  }
}

/** Whether a text is cut by the pattern as it is, but for added tokens that do not look at their neighbours. */
export function areAllPlain({ addedTokens, normalization, addsPrefixSpace }: EncodingParts): boolean {
  if (normalization !== null || addsPrefixSpace) return false;
  return addedTokens.every(
    ({ normalized, lstrip, rstrip, singleWord }) =>
      normalized === addedTokens[0]!.normalized && !lstrip && !rstrip && !singleWord,
  );
}

/** What is encoded in one step. */
const sectionBytesMax = 1 << 18;
