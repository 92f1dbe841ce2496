import { IdBuffer } from "./id-buffer.ts";
import { Normalizer, normalize } from "./normalizer.ts";
import { createPretokenEncoder } from "./pretoken-encoder.ts";
import { SectionEncoder } from "./section-encoder.ts";
import type { ReadText, TextSink } from "./text-sink.ts";
import { TokenCutter } from "./token-cutter.ts";
import type { EncodingParts } from "./tokenizer-parts.ts";

/**
 * The way of a text to its ids, in HF's order: added tokens are found in the text as it is; what is between them is
 * normalized; added tokens that are `normalized` are found in that; the rest is cut by the pattern and merged.
 */
export class TextEncoding {
  readonly out: IdBuffer;
  private readonly pieces: SectionEncoder;
  private readonly first: TextSink;
  /** What was read and has yet to go down the chain. */
  private window = new Uint8Array(0);

  constructor(parts: EncodingParts, options: { specialTokensAsText?: boolean } = {}) {
    const { addedTokens, normalization, isNarrow } = parts;
    const asText = options.specialTokensAsText ?? false;
    this.out = new IdBuffer(isNarrow);
    const { encoder, findsTokens } = createPretokenEncoder(parts, asText);
    this.pieces = new SectionEncoder(encoder, this.out);
    let chain: TextSink = this.pieces;
    if (findsTokens) {
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
    return this.pieces.invalidByteCount;
  }

  /** Bytes that were pushed and are not encoded, as far as they have come down the chain. */
  get pendingBytes(): number {
    return this.pieces.pendingBytes;
  }

  /** The next bytes of the text; they may be written over once it returns. */
  push(bytes: Uint8Array, start: number, end: number): void {
    this.first.push(bytes, start, end);
  }

  /** The next bytes of the text, up to `byteCount`, which `read` puts where they are needed; returns how many came. */
  pushRead(byteCount: number, read: ReadText): number {
    if (this.first === this.pieces) return this.pieces.pushRead(byteCount, read);
    if (this.window.length < byteCount) this.window = new Uint8Array(byteCount);
    const readBytes = read(this.window, 0, byteCount);
    this.first.push(this.window, 0, readBytes);
    return readBytes;
  }

  /** The text ends here; the next one may begin. */
  end(): void {
    this.first.end();
  }

  /** The text goes on elsewhere, behind a safe cut; `bytes` are the few that follow. */
  cut(bytes: Uint8Array, start: number, end: number): void {
    this.first.settle();
    this.pieces.cut(bytes, start, end);
  }
}

const spaceByte = 0x20;
const space = Uint8Array.of(spaceByte);

/** Puts a space before each piece that does not begin with one. */
export class PrefixSpace implements TextSink {
  private isInside = false;

  constructor(private readonly next: TextSink) {}

  push(bytes: Uint8Array, start: number, end: number): void {
    if (!this.isInside && end > start) {
      if (bytes[start] !== spaceByte) this.next.push(space, 0, 1);
      this.isInside = true;
    }
    this.next.push(bytes, start, end);
  }

  end(): void {
    this.isInside = false;
    this.next.end();
  }

  token(id: number): void {
    this.next.token(id);
  }

  settle(): void {
    this.next.settle();
  }
}
