import type { Text } from "#bytes";
import { KernelScan, type PatternTables, type SetUpAfter } from "#pattern";
import { type Kernel, putArray, UserError } from "#runtime";
import { describeSections, type TokenToFind } from "./text-sections.ts";
import type { CutWindow } from "./window-of-text.ts";

/**
 * The part of a text that is taken next. Positions are offsets into the taker's text.
 *
 * Example: a window of "ab<|x|>c d" that ends in the middle of a document, with a longest token of 5 bytes: end = 10, sureEnd = 6,
 * stop = 2, limit = 6, endsText = false.
 */
export type TextPart = {
  /** Tokens are searched up to here. */
  readonly end: number;
  /** A token that begins before this position is certain: no more text can make it longer. */
  readonly sureEnd: number;
  /** The text after the last token is taken up to here. */
  readonly stop: number;
  /** Scanning may look at bytes before this position: more than `stop` + 3, or the text's end. */
  readonly limit: number;
  /** Whether the text ends at `stop`. */
  readonly endsText: boolean;
};

/** Scanning looks at a whole character, and the byte after it. */
export const lookaheadBytes = 4;

/** Returns what can be taken of a text when `limit` bytes of it have come, and more will. */
export function partBefore(limit: number, tokenBytesMax: number): TextPart {
  // A token that begins before `sureEnd` is there as a whole.
  const sureEnd = limit - Math.max(0, tokenBytesMax - 1);
  return { end: limit, sureEnd, stop: sureEnd - lookaheadBytes, limit: sureEnd, endsText: false };
}

/** All up to `end`. The text ends there, or continues elsewhere, and bytes before `limit` may be read. */
export const partTo = (end: number, endsText = true, limit = end): TextPart => ({
  end,
  sureEnd: end,
  stop: end,
  limit,
  endsText,
});

/**
 * Who takes pretokens, to count, to encode or to lift them. It has the text that they are in, in the memory of a kernel, which may
 * take them itself (src/kernel/text-loop.ts).
 */
export interface Taker {
  readonly kernel: Kernel;
  /** A text of at least `capacityBytes` bytes, always at the same address. Its content stays. */
  text(capacityBytes: number): Text;
  /** Takes pretokens [ends[i], ends[i + 1]) of the text, for i from 0 to endCount - 2. */
  take(ends: Int32Array, endCount: number): void;
  /** To be called when the kernel has taken some; `done` is below 0 if it had no room, which is an error. */
  kernelTook(done: number): void;
  /** Takes a token that was found before the text was cut, and its size in the text; left out where they do not matter. */
  takeToken?(id: number, byteCount: number): void;
  /** The last token is longer by white space after it. */
  strip?(byteCount: number): void;
  /** A space is put here, which is not in the text. */
  takeSpace?(): void;
  /** Bytes [start, end) of the text are normalized to `newSize` other ones; where changes are noted. */
  change?(start: number, end: number, newSize: number): void;
}

/**
 * Cuts texts that arrive window by window: the kernel finds tokens and pretokens, and hands them to a taker. One that wants the
 * ids of tokens has them in its kernel. The calls for one text are: start; then, for each window, searchText, take until it
 * returns true, and shift; at last lookAhead if the text continues elsewhere.
 */
export class Pretokens {
  private readonly kernel: Kernel;
  private readonly scan: KernelScan;
  private readonly stateCount: number;
  /** Whether there is room for the tables of safe cuts; undefined before the first search. */
  private findsCuts: boolean | undefined;
  /** Bytes of the longest token that is looked for; 0 without any. */
  readonly tokenBytesMax: number;
  /** A UserError if the kernel's memory has no room for the tables of the pattern or of the tokens. */
  constructor(
    automata: readonly PatternTables[],
    tokens: readonly TokenToFind[],
    private readonly taker: Taker,
    setUpAfter?: SetUpAfter,
  ) {
    this.kernel = taker.kernel;
    this.stateCount = automata[0]!.stateCount;
    this.tokenBytesMax = longestOf(tokens);
    const scan = KernelScan.create(this.kernel, automata, setUpAfter);
    if (scan === undefined || !useTokens(this.kernel, tokens)) {
      throw new UserError(
        "the tables of the pattern and the special tokens do not fit the memory of a thread",
        {
          hint: "use fewer or shorter special tokens, a simpler pattern, or fewer workers",
        },
      );
    }
    this.scan = scan;
  }

  /** Whether tokens are looked for, from the next text on, and special ones stay text. */
  lookForTokens(areFound: boolean, areSpecialKept: boolean): void {
    this.kernel.exports.lookForTokens(areFound, areSpecialKept);
  }

  /** The text from here on is still needed. */
  get keepPos(): number {
    return this.kernel.exports.keepPosition();
  }

  get isInside(): boolean {
    return this.kernel.exports.isInside() !== 0;
  }

  /** Documents that began and have at least one byte. Tokens end them. */
  get documentCount(): number {
    return this.kernel.exports.documents();
  }

  /** Bytes that were not part of valid UTF-8. */
  get invalidByteCount(): number {
    return this.kernel.exports.invalidBytes();
  }

  /** Position of the first of them in the last `take`, or -1. */
  get firstInvalidPos(): number {
    return this.kernel.exports.firstInvalidPosition();
  }

  /** A text begins at `pos`, inside a document that began elsewhere or not. */
  start(pos: number, isInside: boolean): void {
    this.kernel.exports.openText(pos, Number(isInside));
  }

  /** The text has changed. Bytes before `limit` may be looked at. */
  searchText(limit: number): void {
    this.kernel.exports.searchText(limit);
  }

  /** Returns false if the slice of work ended before the part did: call again with the same part. */
  take({ end, sureEnd, stop, limit, endsText }: TextPart): boolean {
    const { scan } = this;
    const { exports } = this.kernel;
    // Short texts feel every call of the kernel.
    const { isComplete } = scan;
    if (!isComplete) scan.prepare();
    const posBefore = isComplete ? 0 : exports.scanPosition();
    const done = exports.takeText(end, sureEnd, stop, limit, Number(endsText));
    this.taker.kernelTook(done);
    if (!isComplete) scan.noteScanned(exports.scanPosition() - posBefore);
    return done === 1;
  }

  /** The pretoken that ends at `end` is settled by the next character, which is not taken. */
  lookAhead(end: number, limit: number): void {
    this.taker.kernelTook(this.kernel.exports.lookAhead(end, limit));
  }

  /** The text that the next search is in is a window. */
  useHoles({ textBytes, holeCount, barredCount }: CutWindow): void {
    this.kernel.exports.useHoles(textBytes, holeCount, barredCount);
  }

  /** Finds a safe cut of the text (src/kernel/text/safe-cuts.ts); returns -1 if there is none, or no room to search for one. */
  findSafeCut(from: number, stop: number, limit: number, isStart: boolean, wantsLast: boolean): number {
    const { exports } = this.kernel;
    this.findsCuts ??= exports.useSafeCuts(this.stateCount) !== 0;
    return this.findsCuts ? exports.findSafeCut(from, stop, limit, Number(isStart), Number(wantsLast)) : -1;
  }

  /** The text has moved: every position is lower by `deltaBytes`. */
  shift(deltaBytes: number): void {
    this.kernel.exports.moveText(deltaBytes);
  }
}

const longestOf = (tokens: readonly TokenToFind[]) =>
  tokens.reduce((longest, { bytes }) => Math.max(longest, bytes.length), 0);

/** Has a kernel look for tokens while it cuts a text; false without room. */
export function useTokens(kernel: Kernel, tokens: readonly TokenToFind[]): boolean {
  if (longestOf(tokens) === 0) return true;
  const address = putArray(kernel, describeSections({ early: tokens }));
  return address !== 0 && kernel.exports.useTokens(address) !== 0;
}

/** Upper bound of what `useTokens` takes of the kernel's memory (src/kernel/token-search.ts). */
export function tokenTablesBytes(tokens: readonly string[]): number {
  const sizes = tokens.map((token) => new TextEncoder().encode(token).length);
  const byteCount = sizes.reduce((sum, size) => sum + size, 0);
  const longestBytes = sizes.reduce((longest, size) => Math.max(longest, size), longestBlockBytes);
  return bytesPerByte * byteCount + bytesPerToken * tokens.length + 8 * longestBytes + 4096;
}

const longestBlockBytes = 1 << 14;
/** A state of the automaton, and the byte itself. */
const bytesPerByte = 14;
/** A record, and its place while the automaton is built. */
const bytesPerToken = 24;
