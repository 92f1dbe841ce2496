/** The jobs that a worker can have. src/main/worker.ts loads the code of each. */
export type JobName =
  | "counting"
  | "encoding"
  | "batch"
  | "evaluating"
  | "loading"
  | "pruning"
  | "converting"
  | "examining"
  | "merging";

/** The part of the web's Worker interface that this program uses. */
export type WorkerThread = {
  onmessage: ((event: { readonly data: never }) => void) | null;
  onerror: ((event: { readonly message: string; preventDefault(): void }) => void) | null;
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void;
  /** `close` fires when the thread has ended. */
  addEventListener(type: "close", listener: () => void): void;
  terminate(): void;
  /** Lets the process exit while the worker runs. */
  unref(): void;
  /** Undoes `unref`. */
  ref(): void;
};
