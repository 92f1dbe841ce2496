import type { Text } from "../bytes/text.ts";
import type { Kernel } from "../runtime/kernel.ts";

/**
 * The part of the text that is counted next. Positions are offsets into the text of the counter's kernel.
 *
 * Example: a window of "ab<|x|>c d" that ends in the middle of a document, with a longest token of 5 bytes: end = 10, sureEnd = 6,
 * stop = 2, limit = 6, endsDocument = false.
 */
export type DocumentPart = {
  /** Special tokens are searched up to here. */
  readonly end: number;
  /** A special token that begins before this position is certain: no more text can make it longer. */
  readonly sureEnd: number;
  /** The text after the last special token is counted up to here. */
  readonly stop: number;
  /** Scanning may look at bytes before this position: more than `stop` + 3, or the document's end. */
  readonly limit: number;
  /** Whether the last document ends at `stop`. */
  readonly endsDocument: boolean;
};

/** Who takes the pretokens of documents, and has the text that they are in. */
export interface PretokenTaker {
  /** A text of so many bytes, always at the same address. Its content stays. */
  text(capacityBytes: number): Text;
  /** Takes pretokens [ends[i], ends[i + 1]) of the text, for i from 0 to endCount - 2. */
  count(ends: Int32Array, endCount: number): void;
}

/** One whose text is in the memory of a kernel, which may take the pretokens itself. */
export interface KernelTaker extends PretokenTaker {
  readonly kernel: Kernel;
  /** To be called when it has. */
  kernelTook(): void;
}

/**
 * Counts the words of documents in a text that arrives window by window. The calls for one text are: start; then, for each
 * window, searchText, count until it returns true, and shift; at last lookAhead if the document continues.
 */
export interface Documents {
  /** Counting begins at `pos`, inside a document or not. */
  start(pos: number, isInside: boolean): void;
  /** The text has changed. Bytes before `limit` may be looked at. */
  searchText(limit: number): void;
  /** Returns false if the slice of work ended before the part did: call again with the same part. */
  count(part: DocumentPart): boolean;
  /** The pretoken that ends at `end` is settled by the next character, which is not counted. */
  lookAhead(end: number, limit: number): void;
  /** The text has moved: every position is lower by `deltaBytes`. */
  shift(deltaBytes: number): void;
  /** The text from here on is still needed. */
  readonly keepPos: number;
  /** Only the kernel looks at the text, so it may be mapped from a file. */
  readonly isReadByKernelOnly: boolean;
  readonly isInside: boolean;
  /** Documents that began and have at least one byte. */
  readonly documentCount: number;
  /** Bytes that were not part of valid UTF-8. */
  readonly invalidByteCount: number;
  /** Position of the first of them in the last `count`, or -1. */
  readonly firstInvalidPos: number;
}
