// The entry of all workers, except for those of the playground's page. Under Node, node-worker.ts imports it. The first
// message names the worker's job. The code of this job handles all other messages.

import { jobs, type taskRunner } from "#jobs";
import type { JobName } from "#runtime";

type Serve = (message: never) => void;

declare const self: { onmessage: (event: MessageEvent<never>) => void; postMessage: jobs.Post };

const post: jobs.Post = (message, transfer) => self.postMessage(message, transfer);

/** Serves a job that is done task by task (run-tasks.ts). */
async function serveTasks<Setup, Part extends taskRunner.OutputPart, Found, Rest, Common>(
  start: taskRunner.StartThread<Setup, Part, Found, Rest, Common>,
): Promise<Serve> {
  const { TaskServer } = await import("#jobs/run-tasks");
  return jobs.serve((tell) => new TaskServer(start, tell), post);
}

/** For each job, a function that loads its code. So a thread loads only the code that it needs. */
const loaders: Record<JobName, () => Promise<Serve>> = {
  counting: async () => serveTasks((await import("#words/count-corpus")).startCounting),
  encoding: async () => serveTasks((await import("#encoding/encode-corpus")).startEncoding),
  batch: async () => {
    const { BatchJob } = await import("#library/batch-job");
    return jobs.serve(() => new BatchJob(), post);
  },
  evaluating: async () => {
    const { EvaluationJob } = await import("#evaluate/evaluation-threads");
    return jobs.serve(() => new EvaluationJob(), post);
  },
  loading: async () => {
    const { loadingJob } = await import("#jobs/load-in-worker");
    return jobs.serve(() => loadingJob, post);
  },
  pruning: async () => jobs.serve((await import("#edit/prune-tokenizer")).pruningJob, post),
  converting: async () => jobs.serve((await import("#edit/convert-tokenizer")).convertingJob, post),
  examining: async () => jobs.serve((await import("#doctor/examine")).examiningJob, post),
  merging: async () => (await import("#merge/merge-helpers")).helpMerging,
};

/** Messages that arrived before the job's code was loaded. */
const waiting: MessageEvent<never>[] = [];

self.onmessage = async ({ data }: MessageEvent<{ job: JobName }>) => {
  self.onmessage = (event) => waiting.push(event);
  const serve = await loaders[data.job]();
  self.onmessage = (event) => serve(event.data);
  for (const event of waiting.splice(0)) serve(event.data);
};
