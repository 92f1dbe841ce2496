import type { FoundInputs } from "../corpus/find-inputs.ts";
import { expectedTextBytes } from "../corpus/input.ts";
import { sizeOfRanges, wholeRange } from "../corpus/range.ts";
import type { PlannedRanges } from "../corpus/read-plan.ts";
import { usageError } from "../errors.ts";
import type { Compat } from "../merge/merges.ts";
import { trainingPattern } from "../pipeline/training-pattern.ts";
import { MemoryBudget } from "../runtime/memory-budget.ts";
import { workersFor } from "../runtime/worker-count.ts";
import { checkSpecialTokens } from "../vocabulary/special-token-rules.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import type { Invocation } from "./arguments.ts";
import { openInputs, readInputOptions } from "./input-options.ts";
import type { Output } from "./output.ts";

/**
 * The options of every command that reads a corpus. Looks at no file. What the command line leaves open is as in `made`,
 * the options that the counts files were made with, if these are given, else the default.
 */
export function readCorpusOptions(invocation: Invocation, made?: CountsOptions) {
  const { options } = invocation;
  // Only HF's trainer is fed line by line.
  const madeCompat: Compat = made?.isLinewise ? "huggingface" : "cs336";
  const asked = options.word("compat");
  if (asked === "extension") {
    throw usageError(
      "--compat extension is a rule for --extend",
      "without it: cs336, huggingface or rustbpe",
    );
  }
  const compat: Compat = asked ?? madeCompat;
  const specialTokens = options.get("special-token") ?? made?.specialTokens ?? [];
  checkSpecialTokens(specialTokens, compat);
  return {
    compat,
    specialTokens,
    pattern: trainingPattern(options.text("pattern") ?? made?.patterns ?? "gpt2", compat),
    workers: options.wholeNumber("workers", 1),
    reading: readInputOptions(invocation),
    memoryLimitBytes: options.sizeBytes("memory-limit", 1),
  };
}

type CorpusChoices = Pick<ReturnType<typeof readCorpusOptions>, "workers" | "reading" | "memoryLimitBytes">;

const nothingFound: FoundInputs = { inputs: [], skipped: [] };

/**
 * The inputs as they are now, the ranges of them that are counted, and the workers and the memory for it. With word counts
 * from files there may be no input.
 */
export async function openCorpus(
  { files, options }: Invocation,
  { workers, reading, memoryLimitBytes }: CorpusChoices,
  output: Output,
  planned?: PlannedRanges,
) {
  const hasNone = files.length === 0 && options.has("counts");
  const found = planned !== undefined || hasNone ? nothingFound : await openInputs(files, reading, output);
  const inputs = planned?.inputs ?? found.inputs;
  const ranges = planned?.ranges ?? inputs.map(wholeRange);
  const expectedBytes = planned === undefined ? expectedTextBytes(inputs) : sizeOfRanges(ranges);
  const budget = new MemoryBudget(memoryLimitBytes);
  const workerCountFor = workersFor(workers, budget.workerCountMax);
  return {
    inputs,
    skipped: found.skipped,
    ranges,
    budget,
    workerCount: workerCountFor(expectedBytes),
    workerCountFor,
  };
}
