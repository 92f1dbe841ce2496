import type { Input } from "./input.ts";

/**
 * Who reads what: bytes [startByte, endByte) of one input. No pretoken crosses the end of a range: it is the end of the
 * file, the beginning of a special token, or a safe cut of the pattern.
 *
 * At a safe cut the document continues in the next range. The left range looks at the character at `endByte` to settle
 * its last pretoken and does not count that character; the right range starts afresh. A range is plain data, so threads
 * or other machines can read it.
 */
export type Range = {
  readonly inputIndex: number;
  readonly startByte: number;
  readonly endByte: number;
  /** The range begins (ends) at a safe cut inside a document, not at the edge of one. */
  readonly startsInside: boolean;
  readonly endsInside: boolean;
};

/** All of an input that can be read at any place. */
export const wholeRange = (input: Input, inputIndex: number): Range => ({
  inputIndex,
  startByte: 0,
  endByte: input.sizeBytes,
  startsInside: false,
  endsInside: false,
});

export const sizeOfRanges = (ranges: readonly Range[]) =>
  ranges.reduce((sum, { startByte, endByte }) => sum + endByte - startByte, 0);

/** How many bytes will be read, before any decompression; null if a stream makes that unknown. */
export const totalBytesOf = (inputs: readonly Input[], ranges: readonly Range[] = inputs.map(wholeRange)) =>
  inputs.some((input) => input.isStream) ? null : sizeOfRanges(ranges);
