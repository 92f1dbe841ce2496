import { fstatSync, statSync } from "node:fs";
import { serving } from "../options/command-tables.ts";
import { readTyped } from "../options/option.ts";
import { describeFailure, JobThread } from "../pipeline/job.ts";
import { saveTokenizer } from "../pipeline/save-tokenizer.ts";
import { startCliWorker } from "../runtime/embedded.ts";
import { kernelModule } from "../runtime/kernel.ts";
import type { Invocation } from "./arguments.ts";
import type { Output } from "./output.ts";
import type { ServeJob, ServeNews } from "./serve-worker.ts";
import { onStop } from "./stop.ts";
import { tokenizerOf } from "./tokenizer-options.ts";

/**
 * `bpe serve`: encodes and decodes for another program, until its stdin ends. A thread of its own does all of it, and waits
 * for requests and readers; so this one serves signals at once, whatever a request asks for.
 */
export async function runServe(invocation: Invocation, output: Output): Promise<void> {
  const { path, pattern, specialTokens } = tokenizerOf(readTyped(serving, invocation.options));
  if (isNullDevice(1)) return;
  const hear = async (news: ServeNews) => {
    if (news.kind === "warning") return output.warn(news.text);
    const refusal = await saveTokenizer({ ...news, guard: onStop }).then(
      () => null,
      (error) => describeFailure(error, ""),
    );
    thread.note("saved", refusal);
  };
  const thread = new JobThread<ServeJob, ServeNews>(
    "serving worker",
    startCliWorker("serve-worker.ts"),
    hear,
  );
  try {
    await thread.ask("serve", { kernel: kernelModule(), path, options: { pattern, specialTokens } });
  } finally {
    thread.end();
  }
}

/** Whether a stream goes nowhere: the runtime opens the null device where it was closed. */
function isNullDevice(fd: number): boolean {
  const device = statSync("/dev/null", { throwIfNoEntry: false })?.rdev;
  return device !== undefined && fstatSync(fd).rdev === device;
}
