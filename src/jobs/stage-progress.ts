import { yieldToEventLoop } from "#runtime";

/** The progress of a long stage, for display. */
export type StageProgress = {
  readonly stage:
    | "hashing"
    | "counting"
    | "measuring"
    | "merging"
    | "merging plainly"
    | "lifting"
    | "merging superwords"
    | "encoding"
    | "joining"
    | "checking";
  readonly done: number;
  /** Null while the total is unknown, for example because an input is a stream, or texts come from an iterator. */
  readonly total: number | null;
  readonly unit: "bytes" | "merges";
  /** The number of distinct words, as far as known; absent in stages without words. */
  readonly distinctWordCount?: number;
};

/** @internal The progress of an encoding. The total is null if an input is a stream. */
export type EncodeProgress = { readonly bytesDone: number; readonly bytesTotal: number | null };

/** @internal Receives the progress of stages. */
export type Report = (progress: StageProgress) => void;

/**
 * @internal Returns a report that remembers its last progress, and a function `rest`. The caller awaits `rest` between
 * slices of work whose progress cannot be measured. `rest` yields to the event loop, and reports the last progress
 * again, because `report` may throw to end the run.
 */
export function repeat(report: Report, first: StageProgress) {
  let last = first;
  return {
    report(progress: StageProgress) {
      last = progress;
      report(progress);
    },
    async rest() {
      await yieldToEventLoop();
      report(last);
    },
  };
}

/** @internal Receives the progress of all threads, in the main thread between slices of work. */
export type ReportBytes = (bytesDone: number, distinctWordCount?: number) => void;

/** @internal Returns a function that takes the bytes done so far, and reports them as the progress of `stage`. */
export function byBytes(
  report: Report,
  stage: StageProgress["stage"],
  bytesTotal: number | null,
): ReportBytes {
  return (done, distinctWordCount) => {
    const words = distinctWordCount === undefined ? undefined : { distinctWordCount };
    report({ stage, done, total: bytesTotal, unit: "bytes", ...words });
  };
}
