import { setUpTokens } from "../bytes/special-token-finder.ts";
import type { Text } from "../bytes/text.ts";
import type { PatternTables } from "../pattern/compiled-pattern.ts";
import { KernelScan } from "../pattern/kernel-scan.ts";
import { createSplitter, type Splitter } from "../pattern/pattern.ts";
import { EncodingKernel } from "./encoding-kernel.ts";
import { packTokens } from "./encoding-model.ts";
import type { IdBuffer } from "./id-buffer.ts";
import type { AddedToken, EncodingParts } from "./tokenizer-parts.ts";

/**
 * Which part of a text is encoded next. Positions are offsets into the text.
 *
 * If "ab<|x|>c d" has arrived and the longest added token has 5 bytes: end = 10, sureEnd = 6, stop = 2, limit = 6,
 * endsText = false.
 */
export type TextPart = {
  /** Added tokens are looked for that end here or before. */
  readonly end: number;
  /** Tokens that begin before it are certain: more text cannot make them longer. */
  readonly sureEnd: number;
  /** The text behind the last token is encoded up to here. */
  readonly stop: number;
  /** Bytes before it may be looked at: more than `stop` + 3, or the text's end. */
  readonly limit: number;
  /** Whether the text ends at `stop`. */
  readonly endsText: boolean;
};

/**
 * Encodes texts that arrive in the kernel's memory part by part. Calls for one text: restart; then any number of reserveText,
 * textChanged, encode and shift; at the end lookAhead, if the text goes on in another task.
 */
export interface PretokenEncoder {
  /** Where the text is written; `reserveText` replaces it. */
  readonly text: Text;
  /** Bytes of the longest added token that this encoder finds; 0 without any. */
  readonly tokenBytesMax: number;
  /** The text is still needed from here on. */
  readonly keepPos: number;
  /** Bytes that were not part of valid UTF-8. */
  readonly invalidByteCount: number;

  /** Makes room for so many bytes of text and keeps what is there. */
  reserveText(capacityBytes: number): void;
  /** A text begins at 0. */
  restart(): void;
  /** The text has bytes up to `limit` now. */
  textChanged(limit: number): void;
  encode(part: TextPart, out: IdBuffer): void;
  /** Encodes a pretoken that ends at `end`. The character behind it settles that, and is not encoded. */
  lookAhead(end: number, limit: number, out: IdBuffer): void;
  /** The text has moved: every position is smaller by `deltaBytes`. */
  shift(deltaBytes: number): void;
  /** Encodes pretokens that are cut already: bytes [ends[i], ends[i + 1]) of the text. No text is under way. */
  encodeCut(ends: Int32Array, out: IdBuffer): void;
  /**
   * Encodes many short texts, which stand end to end from the start of the text on; each ends at one of the `textCount` u32 that
   * stand at `endsPos` in the text. No text is under way. Left out where that is no faster than one by one.
   */
  encodeTexts?(endsPos: number, textCount: number, out: IdBuffer): void;
}

/** The encoder at the end of the chain. `findsTokens`: it finds the added tokens, too, so it is the whole chain. */
export function createPretokenEncoder(
  parts: EncodingParts,
  specialTokensAsText: boolean,
): { encoder: PretokenEncoder; findsTokens: boolean } {
  const { model, pattern, isNarrow } = parts;
  if (pattern.kind === "automata" && pattern.automata.length === 1) {
    const findsTokens = areAllPlain(parts);
    const addedTokens = findsTokens ? parts.addedTokens : [];
    const kernel = new EncodingKernel(model, isNarrow, {
      addedTokens: packAddedTokens(addedTokens, specialTokensAsText),
    });
    const contents = addedTokens.map(({ content }) => Buffer.from(content));
    const encoder = KernelPretokens.create(kernel, pattern.automata[0]!, contents);
    if (encoder !== undefined) return { encoder, findsTokens };
  }
  const encoder = new SplitterPretokens(createSplitter(pattern), new EncodingKernel(model, isNarrow));
  return { encoder, findsTokens: false };
}

/** Whether a text is cut by the pattern as it is, but for added tokens that do not look at their neighbours. */
function areAllPlain({ addedTokens, normalization, addsPrefixSpace }: EncodingParts): boolean {
  if (normalization !== null || addsPrefixSpace) return false;
  return addedTokens.every(
    ({ normalized, lstrip, rstrip, singleWord }) =>
      normalized === addedTokens[0]!.normalized && !lstrip && !rstrip && !singleWord,
  );
}

/** Packs added tokens; of equal ones the last counts. A token that is to stay text gets the id -1. */
function packAddedTokens(addedTokens: readonly AddedToken[], specialTokensAsText: boolean) {
  return packTokens(
    new Map(
      addedTokens.map(({ content, special, id }) => [
        Buffer.from(content).toString("latin1"),
        special && specialTokensAsText ? -1 : id,
      ]),
    ),
  );
}

/** The kernel finds the added tokens and, with one automaton, the pretokens (src/kernel/text-loop.ts). */
export class KernelPretokens implements PretokenEncoder {
  private constructor(
    private readonly kernel: EncodingKernel,
    private readonly scan: KernelScan,
    readonly tokenBytesMax: number,
  ) {}

  /** Undefined if the kernel's memory has no room for the tables of the pattern or of the tokens. */
  static create(
    kernel: EncodingKernel,
    tables: PatternTables,
    addedTokens: readonly Uint8Array[],
  ): KernelPretokens | undefined {
    const scan = KernelScan.create(kernel.kernel, tables);
    if (scan === undefined || !setUpTokens(kernel.kernel, addedTokens)) return undefined;
    const tokenBytesMax = addedTokens.reduce((max, token) => Math.max(max, token.length), 0);
    return new KernelPretokens(kernel, scan, tokenBytesMax);
  }

  get text(): Text {
    return this.kernel.text;
  }

  get keepPos(): number {
    return this.exports.keepPosition();
  }

  get invalidByteCount(): number {
    return this.exports.invalidBytes();
  }

  reserveText(capacityBytes: number): void {
    this.kernel.reserveText(capacityBytes);
  }

  restart(): void {
    this.exports.openText(0, 0);
  }

  textChanged(limit: number): void {
    this.exports.searchText(limit);
  }

  encode({ end, sureEnd, stop, limit, endsText }: TextPart, out: IdBuffer): void {
    const { kernel, exports } = this;
    this.scan.prepare();
    const posBefore = exports.scanPosition();
    for (let done = 0; done === 0; ) {
      done = exports.takeText(end, sureEnd, stop, limit, Number(endsText));
      kernel.takeIds(done, out);
    }
    this.scan.noteScanned(exports.scanPosition() - posBefore);
  }

  lookAhead(end: number, limit: number, out: IdBuffer): void {
    this.kernel.takeIds(this.exports.lookAhead(end, limit), out);
  }

  shift(deltaBytes: number): void {
    this.exports.moveText(deltaBytes);
  }

  encodeCut(ends: Int32Array, out: IdBuffer): void {
    this.kernel.encode(ends, ends.length, out);
  }

  encodeTexts(endsPos: number, textCount: number, out: IdBuffer): void {
    const { kernel, exports, scan } = this;
    scan.prepare();
    exports.searchText(endsPos);
    kernel.takeIds(exports.takeTexts(endsPos, textCount), out);
    scan.noteScanned(endsPos);
  }

  private get exports() {
    return this.kernel.kernel.exports;
  }
}

/** Bytes that are cut, and then encoded, at a time: their pretokens and results stay in the first caches. */
const blockSizeBytes = 1 << 14;

/** Who encodes the pretokens of a text that it holds. */
type PretokenMerger = Pick<EncodingKernel, "text" | "reserveText" | "encode">;

/** JavaScript finds the pretokens: for patterns that are not one automaton. */
export class SplitterPretokens implements PretokenEncoder {
  readonly tokenBytesMax = 0;

  constructor(
    private readonly splitter: Splitter,
    private readonly kernel: PretokenMerger,
  ) {}

  get text(): Text {
    return this.kernel.text;
  }

  get keepPos(): number {
    return this.splitter.ends[0]!;
  }

  get invalidByteCount(): number {
    return this.splitter.invalidByteCount;
  }

  reserveText(capacityBytes: number): void {
    this.kernel.reserveText(capacityBytes);
  }

  restart(): void {
    this.splitter.start(0);
  }

  textChanged(): void {}

  encode({ stop, limit, endsText }: TextPart, out: IdBuffer): void {
    const { splitter } = this;
    while (splitter.pos < stop) {
      splitter.scan(this.text, Math.min(splitter.pos + blockSizeBytes, stop), limit);
      this.take(out);
    }
    for (let isSettled = !endsText; !isSettled; ) {
      isSettled = splitter.finish(stop);
      this.take(out);
    }
  }

  lookAhead(end: number, limit: number, out: IdBuffer): void {
    if (this.splitter.pos === end) this.splitter.scan(this.text, end + 1, limit);
    this.take(out);
  }

  shift(deltaBytes: number): void {
    this.splitter.shift(deltaBytes);
  }

  encodeCut(ends: Int32Array, out: IdBuffer): void {
    this.kernel.encode(ends, ends.length, out);
  }

  private take(out: IdBuffer): void {
    const { splitter, kernel } = this;
    kernel.encode(splitter.ends, splitter.endCount, out);
    splitter.take();
  }
}
