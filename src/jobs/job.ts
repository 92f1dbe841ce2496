import {
  type JobName,
  messages,
  phrase,
  runToEnd,
  startWorker,
  systemError,
  UserError,
  type WorkerThread,
} from "#runtime";

/*
 * The protocol between threads. A *job* is an object whose methods do the work. Each method takes one request, which is
 * plain data, and returns the answer, a promise of it, or a generator that computes it in slices. In a worker, `serve`
 * receives the requests that the main thread sends through a `Thread`, and calls the methods.
 *
 *   main -> worker   ask, ask, …     a method and its request; served one after the other
 *                    note            a method and its request, without an answer; served even while the method of an
 *                                    `ask` awaits something
 *   worker -> main   news, news, …   what the job reports before an answer
 *                    answer          for each `ask`, in order
 *                    failed          at any time; the main thread then ends the worker
 */
type ToWorker = { readonly kind: "ask" | "note"; readonly method: PropertyKey; readonly request: unknown };
type FromWorker<News> =
  | { readonly kind: "news"; readonly news: News }
  | { readonly kind: "answer"; readonly answer: unknown }
  | { readonly kind: "failed"; readonly failure: Failure };

export type RequestOf<Job, Method extends keyof Job> = Job[Method] extends (request: infer Request) => unknown
  ? Request
  : never;
export type AnswerOf<Job, Method extends keyof Job> = Job[Method] extends (request: never) => infer Answer
  ? Answer extends Generator<unknown, infer Made>
    ? Made
    : Awaited<Answer> extends Transferred<infer Handed>
      ? Handed
      : Awaited<Answer>
  : never;

/** An answer, and the memory in it that is transferred instead of copied. */
export class Transferred<Answer> {
  constructor(
    readonly answer: Answer,
    readonly memory: ArrayBuffer[] | undefined,
  ) {}
}

export type Post = (message: unknown, transfer?: ArrayBuffer[]) => void;
/** Reports something to the main thread. Afterwards the memory in `transfer` belongs to that thread. */
export type Tell<News> = (news: News, transfer?: ArrayBuffer[]) => void;

/** Returns the handler with which a worker receives the main thread's messages. */
export function serve<News>(makeJob: (tell: Tell<News>) => object, post: Post): (message: ToWorker) => void {
  const job = makeJob((news, transfer) => post({ kind: "news", news }, transfer)) as Record<
    PropertyKey,
    (request: unknown) => unknown
  >;
  const answerWith = async ({ method, request }: ToWorker) => {
    const made = job[method]!(request);
    const answer = isGenerator(made) ? runToEnd(made) : await made;
    if (answer instanceof Transferred) post({ kind: "answer", answer: answer.answer }, answer.memory);
    else post({ kind: "answer", answer });
  };
  const fail = (error: unknown) => post({ kind: "failed", failure: describeFailure(error, "") });
  let served = Promise.resolve();
  return (message) => {
    if (message.kind === "note") job[message.method]!(message.request);
    else served = served.then(() => answerWith(message)).catch(fail);
  };
}

const isGenerator = (made: unknown): made is Generator =>
  typeof made === "object" && made !== null && Symbol.iterator in made && "next" in made;

/** A worker with a job, as seen from the main thread. */
export class Thread<Job, News = never> {
  private readonly waiting: { take: (answer: never) => void; fail: (error: unknown) => void }[] = [];
  private failure: { readonly error: unknown } | undefined;

  /**
   * @param name names the worker in error messages
   * @param hear receives what the job reports
   */
  constructor(
    name: string,
    private readonly worker: WorkerThread,
    hear: (news: News) => void | Promise<void> = () => {},
  ) {
    worker.onmessage = ({ data }: { readonly data: FromWorker<News> }) => {
      try {
        if (data.kind === "failed") throw reviveFailure(data.failure);
        if (data.kind === "news") hear(data.news)?.catch((error) => this.fail(error));
        else this.waiting.shift()?.take(data.answer as never);
      } catch (error) {
        this.fail(error);
      }
    };
    worker.onerror = (event) => this.fail(new Error(`${name}: ${event.message}`));
    worker.addEventListener("close", () =>
      this.fail(
        new UserError(`the worker thread "${name}" ended before it had finished`, {
          hint: phrase`it may have run out of memory: free memory on this machine${messages.orFewerWorkers}`,
        }),
      ),
    );
  }

  /**
   * Sends a request, and returns a promise of its answer. The promise rejects with the reason if the job fails, or has
   * failed before, or if the thread has ended.
   */
  ask<Method extends keyof Job>(
    method: Method,
    request: RequestOf<Job, Method>,
    transfer: ArrayBuffer[] = [],
  ): Promise<AnswerOf<Job, Method>> {
    const { failure, waiting } = this;
    if (failure !== undefined) return Promise.reject(failure.error);
    const answer = new Promise<AnswerOf<Job, Method>>((take, fail) => waiting.push({ take, fail }));
    // Marks a rejection as handled, because the caller may await the answer later.
    answer.catch(() => {});
    this.worker.postMessage({ kind: "ask", method, request } satisfies ToWorker, transfer);
    return answer;
  }

  note<Method extends keyof Job>(
    method: Method,
    request: RequestOf<Job, Method>,
    transfer: ArrayBuffer[] = [],
  ): void {
    this.worker.postMessage({ kind: "note", method, request } satisfies ToWorker, transfer);
  }

  /** Ends the thread, even in the middle of its work. */
  end(): void {
    this.worker.terminate();
  }

  /** Sets whether the process stays alive until the thread ends. */
  keepAlive(isWaiting: boolean): void {
    if (isWaiting) this.worker.ref();
    else this.worker.unref();
  }

  /**
   * Ends the thread, and rejects all requests that have no answer yet. If called again, the first error stays the
   * reason.
   */
  private fail(error: unknown): void {
    this.failure ??= { error };
    this.end();
    for (const { fail } of this.waiting.splice(0)) fail(this.failure.error);
  }
}

/** Starts workers for a job. The caller must end them. */
export const startAll = <Job, News = never>(
  name: JobName,
  workerCount: number,
  hear?: (news: News) => void,
) =>
  Array.from(
    { length: workerCount },
    (_, i) => new Thread<Job, News>(`${name} worker ${i}`, startWorker(name), hear),
  );

export const start = <Job, News = never>(name: JobName, hear?: (news: News) => void) =>
  startAll<Job, News>(name, 1, hear)[0]!;

/** An error as plain data, which can be sent to another thread. */
export type Failure =
  | (UserError["parts"] & { readonly isUserError: true } & Pick<UserError, "exitCode" | "kind">)
  | { readonly isUserError: false; readonly message: string };

/** @param place where the error was thrown, for bugs; a UserError names its place itself */
export function describeFailure(error: unknown, place: string): Failure {
  const known = systemError.userErrorOf(error);
  if (known !== undefined)
    return { isUserError: true, ...known.parts, exitCode: known.exitCode, kind: known.kind };
  const reason = error instanceof Error ? error.message : String(error);
  return { isUserError: false, message: `${reason}${place}` };
}

export function reviveFailure(failure: Failure): Error {
  if (!failure.isUserError) return new Error(failure.message);
  const { message, hint, exitCode, kind } = failure;
  return new UserError(message, { hint, exitCode, kind });
}
