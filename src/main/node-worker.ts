/*
 * Entry of every worker under Node: the global scope of a worker as the web and Bun have it, as far as worker.ts uses it,
 * and then worker.ts.
 */
import { parentPort, type Transferable } from "node:worker_threads";

type Receive = (event: { data: unknown }) => void;

let receive: Receive | null = null;

Object.assign(globalThis, {
  self: {
    get onmessage(): Receive | null {
      return receive;
    },
    set onmessage(next: Receive | null) {
      const isFirst = receive === null;
      receive = next;
      // Messages wait until somebody listens.
      if (isFirst) parentPort!.on("message", (data: unknown) => receive?.({ data }));
    },
    postMessage: (message: unknown, transfer: Transferable[] = []) =>
      parentPort!.postMessage(message, transfer),
  },
});

await import("./worker.ts");
