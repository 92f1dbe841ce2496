import type { Text } from "../bytes/text.ts";

/**
 * A Splitter cuts documents into pretokens. It reads a document piece by piece as the bytes arrive and hands out the
 * ends of the pretokens that are settled; positions are offsets into the text it is given.
 *
 *   ends[0]                 start of the first pretoken not yet taken
 *   ends[1 .. endCount)     ends of the settled pretokens, ascending; pretoken i is [ends[i], ends[i + 1])
 *
 * A document "ab c" at 0 gives, after `start(0)`, `scan(text, 4, 4)`, `finish(4)`: ends = [0, 2, 4], endCount = 3.
 * Calls for one document: start, then any number of scan / take / shift, then finish, take, until finish returns true.
 */
export interface Splitter {
  /** May be replaced by a longer array in `scan` and `finish`: read it anew after each. */
  readonly ends: Int32Array;
  readonly endCount: number;
  /** Bytes that were not part of valid UTF-8, each a pretoken of its own, since the splitter was made. */
  readonly invalidByteCount: number;
  /** Position of the first invalid byte met by the last `scan`, or -1. */
  readonly firstInvalidPos: number;
  /** At a safe cut `finish` settles the last pretoken. Left out: the character behind the cut does (safe-cut.ts). */
  readonly settlesAtCuts?: boolean;

  /** A document begins at `pos`. */
  start(pos: number): void;
  /**
   * Reads on from where the last call stood up to `stop`; a character that begins before `stop` is read whole.
   * Bytes before `limit` may be looked at. `limit > stop + 3`, or the document ends at `limit`. May return before it is
   * there, with as many ends as are settled at a time: `pos` tells.
   */
  scan(text: Text, stop: number, limit: number): void;
  /** Where the next `scan` goes on. */
  readonly pos: number;
  /**
   * The document ends at `end`, where `scan` has arrived: settles everything, or as much as is settled at a time. Then it
   * returns false: take it, and call again.
   */
  finish(end: number): boolean;
  /** Forgets the settled pretokens: the last end becomes `ends[0]`. */
  take(): void;
  /** The text was moved: every position kept falls by `deltaBytes`. */
  shift(deltaBytes: number): void;
}
