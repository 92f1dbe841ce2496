import type { Text } from "../../bytes/text.ts";
import type { RecordBatch } from "./record-batch.ts";

/** The lines of a format: where a record begins, and what its text is. */
export type RecordLines = {
  /** Where the records begin in the first window of an input: behind a byte-order mark, if the format may have one. */
  firstPos(bytes: Uint8Array): number;
  /**
   * Appends the records of text[pos .. end), which are whole, to the batch. Stops at a line that is wrong. There is a line
   * feed at `end` - 1, or at `end` if the last line lacks it.
   */
  read(text: Text, pos: number, end: number, batch: RecordBatch): LinesRead;
  readonly tooLongHint: string;
};

export type LinesRead = {
  /** How many lines were right. */
  readonly lineCount: number;
  /** What is wrong with the next one. */
  readonly fault?: { readonly what: string; readonly hint?: string };
};
