import type { Text } from "#bytes";
import { type CompiledPattern, KernelScan, type SetUpAfter } from "#pattern";
import { type kernels, messages, phrase, UserError } from "#runtime";
import type { TextPart } from "./text-part.ts";
import type { TokenToFind } from "./text-sections.ts";
import * as tokensToFind from "./tokens-to-find.ts";
import type { CutWindow } from "./window-of-text.ts";

/**
 * Takes pretokens, to count, to encode or to lift them. The taker owns the memory in which the text of the pretokens
 * is.
 */
export interface Taker {
  readonly kernel: kernels.Kernel;
  /**
   * Returns the text, with room for at least `capacityBytes` bytes. A later call, even for more bytes, keeps the text's
   * address and what was written to it.
   */
  text(capacityBytes: number): Text;
  /** Takes pretokens [ends[i], ends[i + 1]) of the text, for i from 0 to endCount - 2. */
  take(ends: Int32Array, endCount: number): void;
  /**
   * Handles the result of a kernel call that itself processed pretokens (`takeText`, `lookAhead`). If `done` is below
   * 0, the kernel ran out of memory, which is an error.
   */
  kernelTook(done: number): void;
  /**
   * Takes an added token that was found before the text was cut, with its size in the text. A taker that ignores such
   * tokens has no such method.
   */
  takeToken?(id: number, byteCount: number): void;
  /** Extends the last token by this much white space after it. */
  strip?(byteCount: number): void;
  /** Takes a space that is inserted here, and is not in the text. */
  takeSpace?(): void;
  /**
   * Takes a change: normalization replaced bytes [start, end) of the text by `newSize` others. Changes are reported if
   * the caller asked for them (`TextChain.open`), or if the text has segments and tokens are searched for after
   * normalization.
   */
  change?(start: number, end: number, newSize: number): void;
}

/**
 * Cuts texts that arrive window by window: the kernel finds tokens and pretokens, and passes them to a taker. For each
 * text, call `start`. For each of its windows, call `searchText`, then `take` until it returns true, then `shift`. If
 * another range continues the text, call `lookAhead` at the end.
 */
export class Pretokens {
  private readonly kernel: kernels.Kernel;
  private readonly scan: KernelScan;
  private readonly stateCount: number;
  /**
   * Whether the kernel has memory for the tables of safe cuts. Undefined before the first search, which sets them up.
   */
  private findsCuts: boolean | undefined;
  /** The size in bytes of the longest token that is searched for; 0 if there are no tokens. */
  readonly tokenBytesMax: number;
  /**
   * Throws if the kernel's memory is too small for the tables of the pattern or of the tokens: a UserError, or a
   * RangeError (`putArray`).
   */
  constructor(
    automata: CompiledPattern["automata"],
    tokens: readonly TokenToFind[],
    private readonly taker: Taker,
    setUpAfter?: SetUpAfter,
  ) {
    this.kernel = taker.kernel;
    this.stateCount = automata[0]!.stateCount;
    this.tokenBytesMax = tokensToFind.longestOf(tokens);
    const scan = KernelScan.create(this.kernel, automata, setUpAfter);
    if (scan === undefined || !tokensToFind.use(this.kernel, tokens)) {
      throw new UserError(
        "the tables of the pattern and the special tokens do not fit into the memory of a thread",
        {
          hint: phrase`use fewer or shorter special tokens, or a simpler pattern${messages.orFewerWorkers}`,
        },
      );
    }
    this.scan = scan;
  }

  /** Sets, for the following texts, whether tokens are searched for, and whether special tokens stay text. */
  lookForTokens(areFound: boolean, areSpecialKept: boolean): void {
    this.kernel.exports.lookForTokens(areFound, areSpecialKept);
  }

  /** The position of the first byte of the text that is still needed. */
  get keepPos(): number {
    return this.kernel.exports.keepPosition();
  }

  get isInside(): boolean {
    return this.kernel.exports.isInside() !== 0;
  }

  /** The number of documents, in all texts so far, with at least one byte. Each token that is found ends a document. */
  get documentCount(): number {
    return this.kernel.exports.documents();
  }

  /** The number of bytes, in all texts so far, that are not part of valid UTF-8. */
  get invalidByteCount(): number {
    return this.kernel.exports.invalidBytes();
  }

  /** The position of the first byte in the last `take` that is not part of valid UTF-8; -1 if there is none. */
  get firstInvalidPos(): number {
    return this.kernel.exports.firstInvalidPosition();
  }

  /** Begins a text at `pos`. With `isInside`, the text continues a document that began in an earlier range. */
  start(pos: number, isInside: boolean): void {
    this.kernel.exports.openText(pos, Number(isInside));
  }

  /** Restarts the search for tokens after the text has changed. Bytes before `limit` may be read. */
  searchText(limit: number): void {
    this.kernel.exports.searchText(limit);
  }

  /**
   * Takes the text of a part, as much as one slice of work allows. Returns false if the part is not finished; then call
   * `take` again with the same part.
   */
  take({ end, sureEnd, stop, limit, endsText }: TextPart): boolean {
    const { scan } = this;
    const { exports } = this.kernel;
    // Once all tables are set up, `scanPosition` is not called, because its calls take a noticeable share of the time
    // for a short text.
    const { isComplete } = scan;
    if (!isComplete) scan.prepare();
    const posBefore = isComplete ? 0 : exports.scanPosition();
    const done = exports.takeText(end, sureEnd, stop, limit, Number(endsText));
    this.taker.kernelTook(done);
    if (!isComplete) scan.noteScanned(exports.scanPosition() - posBefore);
    return done === 1;
  }

  /**
   * Takes the last pretoken before `end`. To decide where it ends, the scanner reads the character at `end`, which is
   * not taken itself.
   */
  lookAhead(end: number, limit: number): void {
    this.taker.kernelTook(this.kernel.exports.lookAhead(end, limit));
  }

  /**
   * Declares that the next search for safe cuts is in a part of a text that was normalized without the rest. No cut is
   * made in its holes, which depend on text outside the part, or at its barred positions (`CutWindow`).
   */
  useHoles({ textBytes, holeCount, barredCount }: CutWindow): void {
    this.kernel.exports.useHoles(textBytes, holeCount, barredCount);
  }

  /**
   * Returns the first safe cut in [from, stop), or with `wantsLast` the last one. Returns -1 if none is found, or if
   * the kernel has no memory for the search.
   */
  findSafeCut(from: number, stop: number, limit: number, isStart: boolean, wantsLast: boolean): number {
    const { exports } = this.kernel;
    this.findsCuts ??= exports.useSafeCuts(this.stateCount) !== 0;
    return this.findsCuts ? exports.findSafeCut(from, stop, limit, Number(isStart), Number(wantsLast)) : -1;
  }

  /** Lowers all positions by `deltaBytes`, after the text has moved. */
  shift(deltaBytes: number): void {
    this.kernel.exports.moveText(deltaBytes);
  }
}
