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
  /** Null if unknown before a stream ends. */
  readonly total: number | null;
  readonly unit: "bytes" | "merges";
  /** Known while counting and merging. */
  readonly distinctWordCount?: number;
};

/** @internal The progress of an encoding; the total is null if unknown before a stream ends. */
export type EncodeProgress = { readonly bytesDone: number; readonly bytesTotal: number | null };

/** @internal */
export type Report = (progress: StageProgress) => void;

/**
 * @internal Wraps a report with a function to await between slices of work without measurable progress. It repeats the
 * last report, because `report` may throw to end the run.
 */
export function repeatReport(report: Report, first: StageProgress) {
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

/** @internal Receives the main thread's progress, between slices of work. */
export type ReportBytes = (bytesDone: number, distinctWordCount?: number) => void;

/** @internal Reports a stage that goes through the bytes of the inputs. */
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
