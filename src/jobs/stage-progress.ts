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
  /** Null while it is unknown, because a stream has not ended. */
  readonly total: number | null;
  readonly unit: "bytes" | "merges";
  /** Given while counting and merging. */
  readonly distinctWordCount?: number;
};

/** @internal The progress of an encoding. The total is null if an input is a stream. */
export type EncodeProgress = { readonly bytesDone: number; readonly bytesTotal: number | null };

/** @internal Receives the progress of stages. */
export type Report = (progress: StageProgress) => void;

/**
 * @internal Wraps a report with a function to await between slices of work that has no measurable progress. It repeats
 * the last report, because `report` may throw to end the run.
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

/** @internal Receives the progress of the main thread, between slices of work. */
export type ReportBytes = (bytesDone: number, distinctWordCount?: number) => void;

/** @internal Turns a report into one of a stage whose progress is measured in bytes of the inputs. */
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
