// Work on threads: tasks of a corpus, progress, warnings as data.

export {
  type AnswerOf,
  JobThread,
  type Post,
  type RequestOf,
  serveJob,
  startJob,
  startJobs,
  type Tell,
} from "./job.ts";
export { likeInWorker, loadInWorker, loadingBytes } from "./load-in-worker.ts";
export { Pace } from "./pace.ts";
export {
  longTextBytes,
  type OutputPart,
  type PartMaker,
  runTasks,
  type Share,
  type Sink,
  type StartedWorkers,
  type StartThread,
  startWorkers,
  type Thread,
  type ThreadJob,
} from "./run-tasks.ts";
export {
  byBytes,
  type EncodeProgress,
  type Report,
  type ReportBytes,
  type StageProgress,
  withRest,
} from "./stage-progress.ts";
export {
  classOfModel,
  countedInvalidBytes,
  earlyStop,
  equalCounts,
  foundSpecialTokens,
  invalidBytes,
  streamBesideCache,
  unevenLanguages,
  type Warning,
  wordsOf,
} from "./warnings.ts";
