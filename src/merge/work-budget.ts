/** What the caller is told between two slices. `shareDone` is of the phase, 0 to 1. */
export type MergeProgress = {
  readonly phase: "layout" | "index" | "merge";
  readonly mergeCount: number;
  readonly shareDone: number;
};

/**
 * Pace: how much work is left until the engine yields. Work is what was touched (cells, entries, words), never time:
 * the engine knows no clock. Every loop that can be long is cut into calls of at most `sliceWork` and says after each
 * `if (spend(pace, work)) yield pace.progress`.
 */
export type Pace = { readonly sliceWork: number; workLeft: number; progress: MergeProgress };

export function createPace(sliceWork: number): Pace {
  return { sliceWork, workLeft: sliceWork, progress: { phase: "layout", mergeCount: 0, shareDone: 0 } };
}

/** Takes `work` off the slice; true when the slice is used up and it is time to yield. */
export function spend(pace: Pace, work: number): boolean {
  pace.workLeft -= work;
  if (pace.workLeft > 0) return false;
  pace.workLeft = pace.sliceWork;
  return true;
}

/** Calls `work` for runs of [0, count), until all are done. */
export function* inRuns(
  pace: Pace,
  count: number,
  work: (from: number, to: number) => void,
): Generator<MergeProgress, void> {
  for (let from = 0; from < count; from += pace.sliceWork) {
    const to = Math.min(from + pace.sliceWork, count);
    work(from, to);
    if (spend(pace, to - from)) yield pace.progress;
  }
}

/** Calls `doSome` for a slice at a time, until there is no more to do; `workMax` bounds the work of all calls. */
export function* inSlices(
  pace: Pace,
  doSome: (work: number) => boolean,
  { report, workMax = Number.POSITIVE_INFINITY }: { report?: () => void; workMax?: number } = {},
): Generator<MergeProgress, void> {
  let workLeft = workMax;
  for (let hasMore = true; hasMore; ) {
    hasMore = doSome(pace.sliceWork);
    report?.();
    const work = Math.min(pace.sliceWork, workLeft);
    workLeft -= work;
    if (spend(pace, work)) yield pace.progress;
  }
}
