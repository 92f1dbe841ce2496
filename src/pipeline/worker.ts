// Entry of every worker: the first message names its job, and the code for that serves all others.
import type { JobName } from "../runtime/worker-jobs.ts";
import { type Post, serveJob } from "./job.ts";
import type { OutputPart, StartThread } from "./run-tasks.ts";

type Serve = (message: never) => void;

declare const self: { onmessage: (event: MessageEvent<never>) => void; postMessage: Post };

const post: Post = (message, transfer) => self.postMessage(message, transfer);

/** Serves a job that is done task by task (run-tasks.ts). */
async function serveTasks<Setup, Part extends OutputPart, Found, Rest, Common>(
  start: StartThread<Setup, Part, Found, Rest, Common>,
): Promise<Serve> {
  const { TaskServer } = await import("./run-tasks.ts");
  return serveJob((tell) => new TaskServer(start, tell), post);
}

/** A thread loads no more than what it needs. */
const loaders: Record<JobName, () => Promise<Serve>> = {
  counting: async () => serveTasks((await import("./count-corpus.ts")).startCounting),
  encoding: async () => serveTasks((await import("./encode-corpus.ts")).startEncoding),
  evaluating: async () => {
    const { EvaluationJob } = await import("./evaluation-threads.ts");
    return serveJob(() => new EvaluationJob(), post);
  },
  loading: async () => {
    const { loadingJob } = await import("./load-in-worker.ts");
    return serveJob(() => loadingJob, post);
  },
  pruning: async () => serveJob((await import("./prune-tokenizer.ts")).pruningJob, post),
  converting: async () => serveJob((await import("./convert-tokenizer.ts")).convertingJob, post),
  merging: async () => (await import("../merge/merge-helpers.ts")).helpMerging,
};

/** What came before the code was there. */
const waiting: MessageEvent<never>[] = [];

self.onmessage = async ({ data }: MessageEvent<{ job: JobName }>) => {
  self.onmessage = (event) => waiting.push(event);
  const serve = await loaders[data.job]();
  self.onmessage = (event) => serve(event.data);
  for (const event of waiting.splice(0)) serve(event.data);
};
