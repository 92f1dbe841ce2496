import type { FoundInputs } from "../corpus/find-inputs.ts";
import { expectedTextBytes } from "../corpus/inputs.ts";
import { sizeOfRanges, wholeRange } from "../corpus/ranges.ts";
import type { PlannedRanges } from "../corpus/read-plan.ts";
import { CountsFiles, countsPathsOf } from "../count/counts-files.ts";
import type { Compat } from "../merge/merges.ts";
import { resolvePattern } from "../pattern/index.ts";
import { MemoryBudget } from "../runtime/memory-budget.ts";
import { workersFor } from "../runtime/worker-count.ts";
import { checkSpecialTokens } from "../vocabulary/special-tokens.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import { oneOf, wholeNumber } from "./arguments.ts";
import { openInputs, readInputOptions } from "./input-options.ts";
import type { Output } from "./output.ts";
import type { Invocation } from "./run.ts";
import { sizeBytes } from "./sizes.ts";

const compats = ["cs336", "huggingface", "rustbpe"] as const;

/** What every command that reads a corpus is told about how to read it. Looks at no file. */
export function readCorpusOptions(invocation: Invocation) {
  const { options } = invocation;
  const compat: Compat = oneOf("--compat", options.get("compat")?.[0] ?? "cs336", compats);
  const specialTokens = options.get("special-token") ?? [];
  checkSpecialTokens(specialTokens, compat);
  const workers = options.get("workers")?.[0];
  const memoryLimit = options.get("memory-limit")?.[0];
  return {
    compat,
    specialTokens,
    // HF's trainer is fed line by line, so no pretoken goes on behind a line end.
    pattern: resolvePattern(options.get("pattern")?.[0] ?? "gpt2", { lineWise: compat === "huggingface" }),
    workers: workers === undefined ? undefined : wholeNumber("--workers", workers, 1),
    reading: readInputOptions(invocation),
    memoryLimitBytes: memoryLimit === undefined ? undefined : sizeBytes("--memory-limit", memoryLimit, 1),
  };
}

type CorpusChoices = ReturnType<typeof readCorpusOptions>;

/** The files of word counts that `--counts` names, open and found to fit; undefined without any. */
export function openCountsFiles(invocation: Invocation, made: CountsOptions): CountsFiles | undefined {
  const paths = countsPaths(invocation);
  return paths.length === 0 ? undefined : new CountsFiles(paths, made);
}

/** The same by their paths, with globs resolved. */
export const countsPaths = ({ options }: Invocation) => (options.get("counts") ?? []).flatMap(countsPathsOf);

const nothingFound: FoundInputs = { inputs: [], skipped: [] };

/**
 * The inputs as they are now, what of them is counted, and how many workers do it with what memory. With word counts
 * from files there may be none.
 */
export function openCorpus(
  { files, options }: Invocation,
  { workers, reading, memoryLimitBytes }: CorpusChoices,
  output: Output,
  planned?: PlannedRanges,
) {
  const hasNone = files.length === 0 && options.has("counts");
  const found = planned !== undefined || hasNone ? nothingFound : openInputs(files, reading, output);
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
