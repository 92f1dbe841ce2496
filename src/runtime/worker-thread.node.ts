import { Worker as NodeWorker } from "node:worker_threads";
import type { WorkerThread } from "./worker-jobs.ts";

/** Makes of Node's worker what the program uses of one. */
class WorkerOfNode implements WorkerThread {
  onmessage: WorkerThread["onmessage"] = null;
  onerror: WorkerThread["onerror"] = null;
  private readonly worker: NodeWorker;

  constructor(url: URL) {
    this.worker = new NodeWorker(url);
    this.worker.on("message", (data: unknown) => this.onmessage?.({ data: data as never }));
    // Without a listener of ours the error would end the process.
    this.worker.on("error", (error: Error) =>
      this.onerror?.({ message: error.message, preventDefault() {} }),
    );
  }

  postMessage(message: unknown, transfer: ArrayBuffer[] = []): void {
    this.worker.postMessage(message, transfer);
  }

  /** `close` is all that is listened to: the thread has ended. */
  addEventListener(_type: "close", listener: () => void): void {
    this.worker.once("exit", listener);
  }

  terminate(): void {
    void this.worker.terminate();
  }

  unref(): void {
    this.worker.unref();
  }
}

export const openWorker = (base: string): WorkerThread => new WorkerOfNode(new URL("./node-worker.js", base));
