import type { FoundInputs } from "../corpus/find-inputs.ts";
import { expectedTextBytes, sizeOfRanges } from "../corpus/input.ts";
import type { PlannedRanges } from "../corpus/plan-file.ts";
import { readTyped, typedSpelling } from "../options/option.ts";
import { trainingOptions } from "../options/training-table.ts";
import { openMemory } from "../pipeline/count-memory.ts";
import { type CutSettings, settleCutting } from "../pipeline/training.ts";
import { MemoryBudget, workersFor } from "../runtime/system-limits.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import type { Invocation } from "./arguments.ts";
import { openInputs, readInputOptions } from "./input-options.ts";
import type { Output } from "./output.ts";
import { onStop } from "./stop.ts";

/** How text is cut, by the command line. What it leaves open is as in `made`, the options of counts files, else the default. */
export const readCutting = ({ options }: Invocation, made?: CountsOptions): CutSettings =>
  settleCutting(readTyped(cuttingOptions, options), { made }, typedSpelling);

const { specialTokens, normalize, pattern, compat } = trainingOptions;
const cuttingOptions = { specialTokens, normalize, pattern, compat };

/** How a corpus is read, and what that may use. Looks at no file. */
export function readCorpusOptions(invocation: Invocation) {
  const { workers, memoryLimit, cache, cacheLimit } = readTyped(corpusOptions, invocation.options);
  return {
    workers,
    reading: readInputOptions(invocation),
    memoryLimitBytes: memoryLimit,
    cache,
    cacheLimit,
  };
}

const { workers, memoryLimit, cache, cacheLimit } = trainingOptions;
const corpusOptions = { workers, memoryLimit, cache, cacheLimit };

type CorpusChoices = ReturnType<typeof readCorpusOptions>;

const nothingFound: FoundInputs = { inputs: [], skipped: [] };

/** The inputs as they are now, and the workers and the memory for them. With word counts from files there may be no input. */
export async function openCorpus(
  { files, options }: Invocation,
  { workers, reading, memoryLimitBytes }: Omit<CorpusChoices, "cache" | "cacheLimit">,
  output: Output,
  planned?: PlannedRanges,
) {
  const hasNone = files.length === 0 && options.has("counts");
  const found = planned !== undefined || hasNone ? nothingFound : await openInputs(files, reading, output);
  const inputs = planned?.inputs ?? found.inputs;
  const expectedBytes = planned === undefined ? expectedTextBytes(inputs) : sizeOfRanges(planned.ranges);
  const budget = new MemoryBudget(memoryLimitBytes);
  const workerCountFor = workersFor(workers, budget.workerCountMax);
  return {
    inputs,
    skipped: found.skipped,
    inputCounts: found.inputCounts,
    budget,
    workerCount: workerCountFor(expectedBytes),
    workerCountFor,
  };
}

/** The memory for counting and the cache asked for. What goes to disk for want of memory is removed when the run ends. */
export function openRunMemory(
  choice: Pick<CorpusChoices, "cache" | "cacheLimit">,
  cutting: CutSettings,
  budget: MemoryBudget,
  output: Output,
): ReturnType<typeof openMemory> {
  const opened = openMemory(choice, cutting, budget, (message) => output.warn(message));
  onStop(() => opened.memory.scratch.remove());
  return opened;
}
