import { usageError } from "../errors.ts";
import type { Difference } from "../evaluation/difference.ts";
import { compareTokenizers } from "../pipeline/compare-tokenizers.ts";
import { MemoryBudget } from "../runtime/memory-budget.ts";
import { workersFor } from "../runtime/worker-count.ts";
import { ScratchDirectory } from "../store/scratch-directory.ts";
import { recordedReading } from "../tokenizer/load/read-training-record.ts";
import type { Invocation } from "./arguments.ts";
import { differenceText } from "./difference-text.ts";
import { nameOfText, openTexts, readTexts } from "./eval-texts.ts";
import { readingOf } from "./input-options.ts";
import { jsonChunks } from "./json-chunks.ts";
import { readNamed } from "./named-paths.ts";
import { type Output, writeLines } from "./output.ts";
import { onStop } from "./stop.ts";
import { writeStdout } from "./stream-writer.ts";
import { openTokenizers } from "./tokenizer-list.ts";
import { seconds } from "./units.ts";

/** `bpe diff`: what differs between two tokenizers, and in how they cut a text. */
export async function runDiff(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const { options } = invocation;
  const files = (options.get("text") ?? []).map((typed) => readNamed("--text", typed).path);
  const [first] = files;
  const typedTexts =
    first === undefined ? [] : readTexts(files.map((path) => ({ name: nameOfText(first), path })));
  const workers = options.wholeNumber("workers", 1);
  const budget = new MemoryBudget(options.sizeBytes("memory-limit", 1));
  const scratch = new ScratchDirectory();
  onStop(() => scratch.remove());
  const [a, b, ...more] = await openTokenizers(invocation, output);
  if (a === undefined || b === undefined || more.length > 0) {
    throw usageError(
      "diff compares two tokenizers, and a directory of several sizes is more",
      "name one size of it",
    );
  }
  const reading = { ...readingOf(options), trained: recordedReading([a.path, b.path]) };
  const { texts } = await openTexts(typedTexts, reading, scratch, output);
  const difference = await compareTokenizers(
    {
      tokenizers: [a, b],
      text: texts[0] ?? null,
      specialTokensAsText: options.has("special-tokens-as-text"),
      workerCountFor: workersFor(workers, budget.workerCountMax),
      budget,
      scratch,
    },
    (progress) => output.progress(progress),
  );
  const names = [a.name, b.name] as const;
  await (options.has("json")
    ? writeStdout(jsonLine(difference))
    : writeLines(differenceText(difference, names)));
  const { tokens, merges } = difference;
  const elapsedMs = performance.now() - startMs;
  output.succeed(`compared ${a.name} with ${b.name} in ${seconds(elapsedMs / 1000)}`, {
    tokensOnlyInA: tokens.onlyInA.length,
    tokensOnlyInB: tokens.onlyInB.length,
    movedTokens: tokens.moved.length,
    movedMerges: merges.moved.length,
    differentWords: difference.text?.differentWords ?? null,
    elapsedMs: Math.round(elapsedMs),
  });
}

/** With all lists: tens of MB for large tokenizers. */
function* jsonLine(difference: Difference): Generator<Uint8Array> {
  for (const chunk of jsonChunks(difference)) yield Buffer.from(chunk);
  yield Buffer.from("\n");
}
