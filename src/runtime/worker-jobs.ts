/** What a worker can be started for. main/worker.ts says which code that is. */
export type JobName =
  | "counting"
  | "encoding"
  | "evaluating"
  | "loading"
  | "pruning"
  | "converting"
  | "merging";

/** A worker as this program uses it: a part of what the web and Bun have. */
export type WorkerThread = {
  onmessage: ((event: { readonly data: never }) => void) | null;
  onerror: ((event: { readonly message: string; preventDefault(): void }) => void) | null;
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void;
  /** `close`: the thread has ended. */
  addEventListener(type: "close", listener: () => void): void;
  terminate(): void;
  /** The process need not wait for it. */
  unref(): void;
};
