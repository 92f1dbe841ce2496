/** What the caller is told between two slices. `shareDone` is of the phase, 0 to 1. */
export type MergeProgress = {
  readonly phase: "layout" | "index" | "merge";
  readonly mergeCount: number;
  readonly shareDone: number;
};

/**
 * Work budget: how much work is left until the engine yields. Work is counted in what is touched (cells, entries,
 * words), not in time: the engine knows no clock. Every loop that can be long is cut into calls of at most `sliceWork`
 * and says after each `if (spend(budget, work)) yield budget.progress`.
 */
export type WorkBudget = { readonly sliceWork: number; workLeft: number; progress: MergeProgress };

export function createWorkBudget(sliceWork: number): WorkBudget {
  return { sliceWork, workLeft: sliceWork, progress: { phase: "layout", mergeCount: 0, shareDone: 0 } };
}

/** Takes `work` off the slice; true when the slice is used up and it is time to yield. */
export function spend(budget: WorkBudget, work: number): boolean {
  budget.workLeft -= work;
  if (budget.workLeft > 0) return false;
  budget.workLeft = budget.sliceWork;
  return true;
}

/** Calls `work` for runs of [0, count), until all are done. */
export function* inRuns(
  budget: WorkBudget,
  count: number,
  work: (from: number, to: number) => void,
): Generator<MergeProgress, void> {
  for (let from = 0; from < count; from += budget.sliceWork) {
    const to = Math.min(from + budget.sliceWork, count);
    work(from, to);
    if (spend(budget, to - from)) yield budget.progress;
  }
}

/** Calls `doSome` for a slice at a time, until it returns 0; `workMax` bounds the work of all calls. */
export function* inSlices(
  budget: WorkBudget,
  doSome: (work: number) => 0 | 1,
  { report, workMax = Number.POSITIVE_INFINITY }: { report?: () => void; workMax?: number } = {},
): Generator<MergeProgress, void> {
  let workLeft = workMax;
  for (let hasMore = true; hasMore; ) {
    hasMore = doSome(budget.sliceWork) === 1;
    report?.();
    const work = Math.min(budget.sliceWork, workLeft);
    workLeft -= work;
    if (spend(budget, work)) yield budget.progress;
  }
}
