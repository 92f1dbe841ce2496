import type { FoundInputs } from "../corpus/find-inputs.ts";
import { expectedTextBytes } from "../corpus/input.ts";
import { sizeOfRanges, wholeRange } from "../corpus/range.ts";
import type { PlannedRanges } from "../corpus/read-plan.ts";
import { CountsFiles, countsPathsOf } from "../count/counts-files.ts";
import { UserError } from "../errors.ts";
import type { Compat } from "../merge/merges.ts";
import { countsOptionsOf } from "../pipeline/open-memory.ts";
import { trainingPattern } from "../pipeline/training-pattern.ts";
import { MemoryBudget } from "../runtime/memory-budget.ts";
import { workersFor } from "../runtime/worker-count.ts";
import { checkSpecialTokens } from "../vocabulary/special-token-rules.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import type { Invocation } from "./arguments.ts";
import { openInputs, readInputOptions } from "./input-options.ts";
import { oneOf, sizeBytes, wholeNumber } from "./option-values.ts";
import type { Output } from "./output.ts";
import { spoolPipes } from "./spool-pipes.ts";

const compats = ["cs336", "huggingface", "rustbpe"] as const;

/**
 * The options of every command that reads a corpus. Looks at no file. What the command line leaves open is as in `made`,
 * the options that the counts files were made with, if these are given, else the default.
 */
export function readCorpusOptions(invocation: Invocation, made?: CountsOptions) {
  const { options } = invocation;
  // Only HF's trainer is fed line by line.
  const madeCompat: Compat = made?.isLinewise ? "huggingface" : "cs336";
  const compat: Compat = oneOf("--compat", options.get("compat")?.[0] ?? madeCompat, compats);
  const specialTokens = options.get("special-token") ?? made?.specialTokens ?? [];
  checkSpecialTokens(specialTokens, compat);
  const pattern = options.get("pattern")?.[0];
  const workers = options.get("workers")?.[0];
  const memoryLimit = options.get("memory-limit")?.[0];
  return {
    compat,
    specialTokens,
    pattern: trainingPattern(pattern ?? made?.patterns ?? "gpt2", compat),
    workers: workers === undefined ? undefined : wholeNumber("--workers", workers, 1),
    reading: readInputOptions(invocation),
    memoryLimitBytes: memoryLimit === undefined ? undefined : sizeBytes("--memory-limit", memoryLimit, 1),
  };
}

type CorpusChoices = ReturnType<typeof readCorpusOptions>;

/**
 * Opens the files of word counts that `--counts` names. The options of the run are those of the command line, `asked`; if
 * the files state the options they were made with, `read` fills with them what the command line leaves open.
 */
export async function openCountsFiles<T extends Parameters<typeof countsOptionsOf>[0]>(
  invocation: Invocation,
  asked: T,
  read: (made: CountsOptions) => T,
): Promise<{ options: T; countsFiles: CountsFiles | undefined }> {
  const paths = countsPaths(invocation);
  if (paths.length === 0) return { options: asked, countsFiles: undefined };
  const countsFiles = new CountsFiles(paths, await spoolPipes(paths));
  const isGiven = (name: string) => invocation.options.has(name);
  if (countsFiles.untold !== undefined && !(isGiven("pattern") && isGiven("special-token"))) {
    throw new UserError(`${countsFiles.untold} does not say what its words were made with`, {
      hint: "give the --pattern and --special-token they were made with, or put the first line that `bpe count` writes with the same options before them",
    });
  }
  if (countsFiles.reordered !== undefined && !isGiven("special-token")) {
    throw new UserError(
      `${countsFiles.reordered} has the special tokens in another order than the files before it`,
      {
        hint: "their order decides their ids: give them with --special-token",
      },
    );
  }
  const made = countsFiles.options;
  const options = made === null ? asked : mistakesOfFile(countsFiles.toldBy, () => read(made));
  countsFiles.check(countsOptionsOf(options));
  return { options, countsFiles };
}

/** Blames the file, not the command line, for options that only the file states. */
function mistakesOfFile<T>(path: string | undefined, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(
      `--counts "${path}" was made with what this program does not take: ${error.message}`,
      { hint: error.hint },
    );
  }
}

/** The paths of the files of word counts, with globs resolved. */
export const countsPaths = ({ options }: Invocation) => (options.get("counts") ?? []).flatMap(countsPathsOf);

const nothingFound: FoundInputs = { inputs: [], skipped: [] };

/**
 * The inputs as they are now, the ranges of them that are counted, and the workers and the memory for it. With word counts
 * from files there may be no input.
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
