// Work on threads: tasks of a corpus, progress, warnings as data. This is one module because tasks, progress, warnings
// and failures cross threads by one protocol.

export * as jobs from "./job.ts";
export { loadInWorker, loadingBytes } from "./load-in-worker.ts";
export { Pace } from "./pace.ts";
export * as taskRunner from "./run-tasks.ts";
export type { Report, StageProgress } from "./stage-progress.ts";
export * as stageProgress from "./stage-progress.ts";
export * as warnings from "./warnings.ts";
