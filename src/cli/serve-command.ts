import { fstatSync, statSync } from "node:fs";
import { describeFailure, serveWorkers } from "../pipeline/job.ts";
import { saveTokenizer } from "../pipeline/save-tokenizer.ts";
import { startCliWorker } from "../runtime/embedded.ts";
import { kernelModule } from "../runtime/kernel.ts";
import type { Invocation } from "./arguments.ts";
import type { Output } from "./output.ts";
import type { FromServer, Saved, ToServer } from "./serve-worker.ts";
import { onStop } from "./stop.ts";
import { readTokenizerOptions } from "./tokenizer-options.ts";

/**
 * `bpe serve`: encodes and decodes for another program, until its stdin ends. A thread of its own does all of it, and waits
 * for requests and readers; so this one serves signals at once, whatever a request asks for.
 */
export async function runServe(invocation: Invocation, output: Output): Promise<void> {
  const { path, pattern, specialTokens } = readTokenizerOptions(invocation);
  if (isNullDevice(1)) return;
  const worker = startCliWorker("serve-worker.ts");
  const started = { name: "serving", workers: [worker], terminate: () => worker.terminate() } as const;
  await serveWorkers<ToServer | Saved, FromServer>(started, ({ send, finish }) => {
    send({ kernel: kernelModule(), path, options: { pattern, specialTokens } });
    return async (message) => {
      if (message.kind === "warning") return output.warn(message.text);
      if (message.kind === "ended") return finish();
      const refusal = await saveTokenizer({ ...message, guard: onStop }).then(
        () => null,
        (error) => describeFailure(error, ""),
      );
      send({ refusal });
    };
  });
}

/** Whether a stream goes nowhere: the runtime opens the null device where it was closed. */
function isNullDevice(fd: number): boolean {
  const device = statSync("/dev/null", { throwIfNoEntry: false })?.rdev;
  return device !== undefined && fstatSync(fd).rdev === device;
}
