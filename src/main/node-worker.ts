/* Entry of every worker under Node. Provides the global scope of web workers, which worker.ts uses. */
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
      // The port keeps messages until it has a listener, so none is lost before this.
      if (isFirst) parentPort!.on("message", (data: unknown) => receive?.({ data }));
    },
    postMessage: (message: unknown, transfer: Transferable[] = []) =>
      parentPort!.postMessage(message, transfer),
  },
});

await import("./worker.ts");
