import type { Text } from "../bytes/text.ts";
import type { IdBuffer } from "./id-buffer.ts";

/**
 * What of a text is encoded next. Positions are offsets into the text.
 *
 * A text of which "ab<|x|>c d" has arrived, with a longest added token of 5 bytes: end = 10, sureEnd = 6, stop = 2, limit = 6,
 * endsText = false.
 */
export type TextPart = {
  /** Added tokens that end by it are looked for. */
  readonly end: number;
  /** Those that begin before it are certain: no more text can make them longer. */
  readonly sureEnd: number;
  /** Up to there the text behind the last token is encoded. */
  readonly stop: number;
  /** What may be looked at there: behind `stop` + 3, or the text's end. */
  readonly limit: number;
  /** Whether the text ends at `stop`. */
  readonly endsText: boolean;
};

/**
 * Encodes texts that arrive bit by bit in the kernel's memory. Calls for one text: restart; then any number of reserveText,
 * textChanged, encode, shift; at last, where the text goes on elsewhere, lookAhead.
 */
export interface PretokenEncoder {
  /** Where the text has to stand; replaced by `reserveText`. */
  readonly text: Text;
  /** Bytes of the longest added token that is found here; 0 without any. */
  readonly tokenBytesMax: number;
  /** The text is still needed from there on. */
  readonly keepPos: number;
  /** Bytes that were not part of valid UTF-8. */
  readonly invalidByteCount: number;

  /** Makes room for so many bytes of text; what stands there stays. */
  reserveText(capacityBytes: number): void;
  /** A text begins at 0. */
  restart(): void;
  /** Bytes up to `limit` have arrived, or all have moved. */
  textChanged(limit: number): void;
  encode(part: TextPart, out: IdBuffer): void;
  /** A pretoken that ends at `end`, where encoding stands, is settled by the next character, which is not encoded. */
  lookAhead(end: number, limit: number, out: IdBuffer): void;
  /** The text has moved: every position falls by `deltaBytes`. */
  shift(deltaBytes: number): void;
}
