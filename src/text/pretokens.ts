import type { Text } from "#bytes";
import { type CompiledPattern, KernelScan, type SetUpAfter } from "#pattern";
import { type kernels, UserError } from "#runtime";
import type { TextPart } from "./text-part.ts";
import type { TokenToFind } from "./text-sections.ts";
import * as tokensToFind from "./tokens-to-find.ts";
import type { CutWindow } from "./window-of-text.ts";

/** Takes pretokens, to count, to encode or to lift them. It owns their text. */
export interface Taker {
  readonly kernel: kernels.Kernel;
  /** The text has at least `capacityBytes` bytes. Its address and content stay the same. */
  text(capacityBytes: number): Text;
  /** Takes pretokens [ends[i], ends[i + 1]) of the text, for i from 0 to endCount - 2. */
  take(ends: Int32Array, endCount: number): void;
  /** `done` is below 0 if the kernel ran out of memory, which is an error. */
  kernelTook(done: number): void;
  /** Takes an added token that was found before the text was cut. */
  takeToken?(id: number, byteCount: number): void;
  /** Extends the last token by this much white space after it. */
  strip?(byteCount: number): void;
  /** Takes a space that is inserted here, and is not in the text. */
  takeSpace?(): void;
  /** Called when bytes [start, end) of the text were normalized to `newSize` other bytes. */
  change?(start: number, end: number, newSize: number): void;
}

/**
 * For each text, call `start`; for each window `searchText`, `take` until it returns true, and `shift`; and at the end
 * `lookAhead`, if another range continues the text.
 */
export class Pretokens {
  private readonly kernel: kernels.Kernel;
  private readonly scan: KernelScan;
  private readonly stateCount: number;
  /** Whether the kernel has memory for safe cuts; undefined before the first search. */
  private findsCuts: boolean | undefined;
  /** The size of the longest token that is searched for; 0 without tokens. */
  readonly tokenBytesMax: number;
  /** Throws a UserError if the kernel's memory is too small for the tables. */
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
          hint: "use fewer or shorter special tokens, a simpler pattern, or fewer workers",
        },
      );
    }
    this.scan = scan;
  }

  /** Applies to the following texts. */
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

  /** The number of nonempty documents so far. Each token that is found ends a document. */
  get documentCount(): number {
    return this.kernel.exports.documents();
  }

  /** The number of bytes that are not part of valid UTF-8. */
  get invalidByteCount(): number {
    return this.kernel.exports.invalidBytes();
  }

  /** The first byte in the last `take` that is not valid UTF-8, or -1. */
  get firstInvalidPos(): number {
    return this.kernel.exports.firstInvalidPosition();
  }

  /** With `isInside`, the text continues a document of an earlier range. */
  start(pos: number, isInside: boolean): void {
    this.kernel.exports.openText(pos, Number(isInside));
  }

  /** Declares that the text has changed. Bytes before `limit` may be read. */
  searchText(limit: number): void {
    this.kernel.exports.searchText(limit);
  }

  /** Returns false if the slice of work ended first; then call it again. */
  take({ end, sureEnd, stop, limit, endsText }: TextPart): boolean {
    const { scan } = this;
    const { exports } = this.kernel;
    // Calls of `scanPosition` take a noticeable share of the time for a short text.
    const { isComplete } = scan;
    if (!isComplete) scan.prepare();
    const posBefore = isComplete ? 0 : exports.scanPosition();
    const done = exports.takeText(end, sureEnd, stop, limit, Number(endsText));
    this.taker.kernelTook(done);
    if (!isComplete) scan.noteScanned(exports.scanPosition() - posBefore);
    return done === 1;
  }

  /** The character at `end` decides where the last pretoken ends, but is not taken. */
  lookAhead(end: number, limit: number): void {
    this.taker.kernelTook(this.kernel.exports.lookAhead(end, limit));
  }

  /** Declares that the next search for safe cuts is in a window (src/kernel/text/cut-windows.ts). */
  useHoles({ textBytes, holeCount, barredCount }: CutWindow): void {
    this.kernel.exports.useHoles(textBytes, holeCount, barredCount);
  }

  /** Returns -1 if there is no safe cut, or no memory for the search. */
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
