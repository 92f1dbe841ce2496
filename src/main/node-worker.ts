/*
 * Entry of every worker under Node. Provides what worker.ts uses of the global scope of web workers, which Bun has and
 * Node lacks. Then loads worker.ts.
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
      // Messages wait until the port has a listener.
      if (isFirst) parentPort!.on("message", (data: unknown) => receive?.({ data }));
    },
    postMessage: (message: unknown, transfer: Transferable[] = []) =>
      parentPort!.postMessage(message, transfer),
  },
});

await import("./worker.ts");
