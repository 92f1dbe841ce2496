import { yieldToEventLoop } from "#runtime";

/** How far a long stage is, for whoever shows it. */
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
  /** Null if only the end of a stream shows it. */
  readonly total: number | null;
  readonly unit: "bytes" | "merges";
  /** Known while counting and merging. */
  readonly distinctWordCount?: number;
};

/** @internal How far an encoding is; the total is null where only the end of a stream shows it. */
export type EncodeProgress = { readonly bytesDone: number; readonly bytesTotal: number | null };

/** @internal */
export type Report = (progress: StageProgress) => void;

/**
 * @internal The same, and what to await between slices of work that has no progress to tell: what was told last is told again,
 * because `report` may throw to end the run.
 */
export function withRest(report: Report, first: StageProgress) {
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

/** @internal Where the main thread is, called between slices of work. */
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
