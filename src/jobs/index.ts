// Work on threads: jobs, the protocol by which threads exchange requests, answers, progress and failures, and the tasks
// of a corpus. Also warnings as data.

export * as jobs from "./job.ts";
export { loadInWorker, loadingBytes } from "./load-in-worker.ts";
export { Pace } from "./pace.ts";
export * as taskRunner from "./run-tasks.ts";
export type { Report, StageProgress } from "./stage-progress.ts";
export * as stageProgress from "./stage-progress.ts";
export * as warnings from "./warnings.ts";
