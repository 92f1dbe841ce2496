/**
 * What of the text is counted next. Positions are offsets into the text of the counter's kernel.
 *
 * A window of "ab<|x|>c d" that ends in the middle of a document, with a longest token of 5 bytes: end = 10, sureEnd = 6,
 * stop = 2, limit = 6, endsDocument = false.
 */
export type DocumentPart = {
  /** Special tokens that end by it are looked for. */
  readonly end: number;
  /** Those that begin before it are certain: no more text can make them longer. */
  readonly sureEnd: number;
  /** Up to there the text behind the last token is counted. */
  readonly stop: number;
  /** What may be looked at there: behind `stop` + 3, or the document's end. */
  readonly limit: number;
  /** Whether the last document ends at `stop`. */
  readonly endsDocument: boolean;
};

/**
 * Counts the words of documents in a text that arrives bit by bit. Calls for one text: start; then any number of
 * searchText, count until it returns true, shift; at last lookAhead where the text goes on.
 */
export interface Documents {
  /** Counting begins at `pos`, in the middle of a document or not. */
  start(pos: number, isInside: boolean): void;
  /** The text has changed; bytes before `limit` may be looked at. */
  searchText(limit: number): void;
  /** False if there is more to it than is done at a time: call again with the same. */
  count(part: DocumentPart): boolean;
  /** A pretoken that ends at `end`, where counting stands, is settled by the next character, which is not counted. */
  lookAhead(end: number, limit: number): void;
  /** The text has moved: every position falls by `deltaBytes`. */
  shift(deltaBytes: number): void;
  /** The text is still needed from there on. */
  readonly keepPos: number;
  /** Nobody but the kernel looks at the text, so it may be mapped from a file. */
  readonly isReadByKernelOnly: boolean;
  readonly isInside: boolean;
  /** Documents that began and hold at least one byte. */
  readonly documentCount: number;
  /** Bytes that were not part of valid UTF-8. */
  readonly invalidByteCount: number;
  /** Position of the first of them that the last `count` has met, or -1. */
  readonly firstInvalidPos: number;
}
