// Entry of every worker: the first message names its job, and the code for that serves all others.
import type { JobName } from "../runtime/worker-jobs.ts";

type Serve = (message: never) => void;
type Post = (message: unknown, transfer?: ArrayBuffer[]) => void;

declare const self: { onmessage: (event: MessageEvent<never>) => void; postMessage: Post };

const post: Post = (message, transfer) => self.postMessage(message, transfer);

/** A thread loads no more than what it needs. */
const loaders: Record<JobName, () => Promise<Serve>> = {
  counting: async () => {
    const [{ serveTasks }, { startCounting }] = await Promise.all([
      import("./task-thread.ts"),
      import("./thread-counter.ts"),
    ]);
    return serveTasks(startCounting, post);
  },
  lifting: async () => {
    const [{ serveTasks }, { startLifting }] = await Promise.all([
      import("./task-thread.ts"),
      import("./superword-counter.ts"),
    ]);
    return serveTasks(startLifting, post);
  },
  normalizing: async () => {
    const [{ serveTasks }, { startNormalizing }] = await Promise.all([
      import("./task-thread.ts"),
      import("./normalized-counter.ts"),
    ]);
    return serveTasks(startNormalizing, post);
  },
  encoding: async () => {
    const [{ serveTasks }, { startEncoding }] = await Promise.all([
      import("./task-thread.ts"),
      import("./task-encoder.ts"),
    ]);
    return serveTasks(startEncoding, post);
  },
  planning: async () => {
    const [{ serveTasks }, { startCountingDocuments }] = await Promise.all([
      import("./task-thread.ts"),
      import("./count-documents.ts"),
    ]);
    return serveTasks(startCountingDocuments, post);
  },
  evaluating: async () => (await import("./evaluation-threads.ts")).serveEvaluation(post),
  loading: async () => (await import("./load-in-worker.ts")).serveLoading(post),
  pruning: async () => (await import("./prune-tokenizer.ts")).servePruning(post),
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
