/** The part of a text to take next. Positions are offsets in the taker's text. */
export type TextPart = {
  /** Only tokens that end at or before this position are found. */
  readonly end: number;
  /** Tokens that begin before this position are final: more text cannot make them longer. */
  readonly sureEnd: number;
  /**
   * The position up to which text is taken. If the last token that is found ends later, text is taken up to its end.
   */
  readonly stop: number;
  /** Bytes before this position may be read. It is at least `stop` + `lookaheadBytes`, or is the text's end. */
  readonly limit: number;
  /** Whether the text ends at `stop`. */
  readonly endsText: boolean;
};

/** The number of bytes after a position that scanning may read: a whole character. */
export const lookaheadBytes = 4;

/** Returns the part of a text that can be taken when its first `limit` bytes have arrived and more will follow. */
export function before(limit: number, tokenBytesMax: number): TextPart {
  // A token that begins before `sureEnd` has arrived completely.
  const sureEnd = limit - Math.max(0, tokenBytesMax - 1);
  return { end: limit, sureEnd, stop: sureEnd - lookaheadBytes, limit: sureEnd, endsText: false };
}

/**
 * Returns the part of a text up to `end`. Without `endsText`, another range continues the text, and bytes before
 * `limit` may be read.
 */
export const to = (end: number, endsText = true, limit = end): TextPart => ({
  end,
  sureEnd: end,
  stop: end,
  limit,
  endsText,
});
