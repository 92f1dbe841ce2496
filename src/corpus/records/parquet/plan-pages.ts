import { closeSync } from "node:fs";
import { FileSource } from "../../byte-sources.ts";
import { type Input, openInput } from "../../input.ts";
import { TextRoom } from "../../text-room.ts";
import { type PageRun, planPages } from "./page-headers.ts";
import { findTextColumn } from "./text-column.ts";

/** Packed; text takes some two to four times as much. */
const defaultRunSizeBytes = 1 << 20;

/** Part of a Parquet file, for whoever does the work. */
export type InputPages = PageRun & {
  readonly endsInput: boolean;
  /** Its share of the file, what is not text included: for progress. */
  readonly inputBytes: number;
};

/** What of a Parquet file there is to read, in order; undefined now and then, as in `planPages`. */
export function* planInputPages(
  input: Input,
  runSizeBytes = defaultRunSizeBytes,
  room = new TextRoom(),
): Generator<InputPages | undefined, void> {
  const fd = openInput(input);
  try {
    const source = new FileSource(fd, input);
    const column = findTextColumn(source, input.textField, room);
    const rowCount = column.parts.reduce((sum, part) => sum + part.rowCount, 0);
    const withShare = (run: PageRun, endsInput: boolean): InputPages => {
      return { ...run, endsInput, inputBytes: (run.rowCount / rowCount) * input.sizeBytes };
    };
    // One run is held back: the last one is marked.
    let last: PageRun | undefined;
    for (const run of planPages(source, column, runSizeBytes)) {
      if (run === undefined || last === undefined) yield undefined;
      else yield withShare(last, false);
      last = run ?? last;
    }
    if (last !== undefined) yield withShare(last, true);
  } finally {
    closeSync(fd);
  }
}
