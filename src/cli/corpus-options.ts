import type { FoundInputs } from "../corpus/find-inputs.ts";
import { expectedTextBytes, sizeOfRanges, wholeRange } from "../corpus/input.ts";
import type { PlannedRanges } from "../corpus/plan-file.ts";
import { CountsFiles, countsPathsOf } from "../count/counts-files.ts";
import { UserError, usageError } from "../errors.ts";
import type { Compat } from "../merge/merges.ts";
import type { ResolvedPattern } from "../pattern/pattern.ts";
import { type CacheChoice, openMemory } from "../pipeline/count-memory.ts";
import { countsOptionsOf, settleCutting } from "../pipeline/training.ts";
import { MemoryBudget, workersFor } from "../runtime/system-limits.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import type { Invocation } from "./arguments.ts";
import { openInputs, readInputOptions, spoolPipes } from "./input-options.ts";
import type { Output } from "./output.ts";
import { onStop } from "./stop.ts";

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
  const specialTokens = options.get("special-token") ?? made?.specialTokens;
  const pattern = options.text("pattern") ?? made?.patterns;
  const cutting = settleCutting({ specialTokens, pattern, compat });
  return {
    ...cutting,
    cutting,
    workers: options.number("workers"),
    reading: readInputOptions(invocation),
    memoryLimitBytes: options.number("memory-limit"),
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

/** `--cache` and the options that need it; undefined without it. Looks at no file. */
export function readCacheOptions({
  options,
}: Invocation): (CacheChoice & { readonly ifChanged: boolean }) | undefined {
  const path = options.text("cache");
  if (path === undefined) return undefined;
  if (path === "") throw usageError("--cache is empty", "name a directory, e.g. --cache cache");
  return {
    path,
    limitBytes: options.number("cache-limit"),
    ifChanged: options.has("if-changed"),
  };
}

/** The memory for counting and the cache asked for. What goes to disk for want of memory is removed when the run ends. */
export function openRunMemory(
  choice: CacheChoice | undefined,
  { pattern, budget, countsOptions }: RunOptions,
  output: Output,
): ReturnType<typeof openMemory> {
  const warn = (message: string) => output.warn(message);
  const opened = openMemory(choice, countsOptions, pattern.compiled, budget, warn);
  onStop(() => opened.memory.scratch.remove());
  return opened;
}

type RunOptions = {
  readonly pattern: ResolvedPattern;
  readonly budget: MemoryBudget;
  readonly countsOptions: CountsOptions;
};

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
  if (countsFiles.unstated !== undefined && !(isGiven("pattern") && isGiven("special-token"))) {
    throw new UserError(`${countsFiles.unstated} does not say what its words were made with`, {
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
  const options = made === null ? asked : mistakesOfFile(countsFiles.statedBy, () => read(made));
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
