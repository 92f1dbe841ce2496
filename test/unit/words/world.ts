import { readdirSync } from "node:fs";
import { join } from "node:path";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import type { RangeStatistics } from "../../../src/corpus/task-texts.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { MemoryBudget } from "../../../src/runtime/machine.ts";
import * as messages from "../../../src/runtime/message.ts";
import { ScratchDirectory } from "../../../src/store/scratch-directory.ts";
import * as cuttings from "../../../src/text/cutting.ts";
import { Cache } from "../../../src/words/cache.ts";
import { CacheDirectory } from "../../../src/words/cache-directory.ts";
import type { CorpusOptions } from "../../../src/words/count-parts.ts";
import { countWords } from "../../../src/words/count-words.ts";
import type { CountsOptions } from "../../../src/words/counts-format.ts";
import { randomNumbers } from "../../random.ts";
import { entriesOf } from "./generators.ts";

const { sources } = patterns.gpt2;
const pattern = compiledPatterns.compile(sources);

export type RunOptions = {
  readonly specialTokens?: readonly string[];
  readonly workers?: number;
  readonly workerCountFor?: (textBytes: number) => number;
  readonly wordBytesMax?: number;
  readonly limitBytes?: number;
  /** The cache's clock is ahead by this many milliseconds, so that files look older to it. The default is 10,000. */
  readonly laterMs?: number;
  readonly version?: string;
  /** Called after the words have been counted, but before all of them are stored. */
  readonly meanwhile?: () => void;
};

export type Ran = {
  readonly words: [string, number][];
  readonly statistics: readonly RangeStatistics[];
  readonly warnings: string[];
  /** Bytes of text that were counted. */
  readonly countedBytes: number;
  /** Bytes that were hashed, before the counting. */
  readonly hashedBytes: number;
};

/** Returns a budget with this much memory for each thread's words, and no other limit. */
const budgetOf = (wordBytesMax: number) =>
  Object.assign(new MemoryBudget(1e15), {
    wordBytesMax: (threadCount: number) => threadCount * wordBytesMax,
  });

/** Counts files like `bpe count --cache`. */
export async function countCached(
  cachePath: string,
  paths: readonly string[],
  options: RunOptions = {},
): Promise<Ran> {
  const { specialTokens = [], wordBytesMax = 1e12, workers = 1, version = "1" } = options;
  const warnings: string[] = [];
  const countsOptions: CountsOptions = { patterns: sources, specialTokens, isLinewise: false };
  const directory = new CacheDirectory(cachePath, (message) => warnings.push(messages.spell(message)));
  const scratch = new ScratchDirectory(cachePath);
  const cache = new Cache(directory, {
    countsOptions,
    version,
    warn: (message) => warnings.push(messages.spell(message)),
    nowMs: () => Date.now() + (options.laterMs ?? 10_000),
    scratchPath: () => scratch.path,
  });
  let countedBytes = 0;
  let hashedBytes = 0;
  const corpus: CorpusOptions = {
    inputs: findInputs(paths),
    cutting: cuttings.plain(pattern, specialTokens),
    workerCount: workers,
    ...(options.workerCountFor !== undefined && { workerCountFor: options.workerCountFor }),
    cache,
    memory: { budget: budgetOf(wordBytesMax), scratch, countsOptions },
  };
  const { words, pretokenCount, statistics, keepRest } = await countWords(corpus, ({ stage, done }) => {
    if (stage === "counting") countedBytes = done;
    if (stage === "hashing") hashedBytes = done;
  });
  options.meanwhile?.();
  await keepRest?.();
  scratch.remove();
  if (options.limitBytes !== undefined) directory.shrinkTo(options.limitBytes);
  const entries = entriesOf(words);
  if (pretokenCount !== entries.reduce((sum, [, count]) => sum + count, 0)) throw new Error("a wrong sum");
  return { words: entries, statistics, warnings, countedBytes, hashedBytes };
}

/** Counts files without a cache. */
export async function countPlain(paths: readonly string[], specialTokens: readonly string[] = []) {
  const corpus = {
    inputs: findInputs(paths),
    cutting: cuttings.plain(pattern, specialTokens),
    workerCount: 1,
  };
  const { words, statistics } = await countWords(corpus, () => {});
  return { words: entriesOf(words), statistics };
}

/** Returns a text of words, with occasional bytes that are not UTF-8. */
export function randomText(seed: number, wordCount: number): Buffer {
  const random = randomNumbers(seed);
  const words = Array.from({ length: wordCount }, () => {
    if (random(200) === 0) return "\xff";
    const length = random(50) === 0 ? 30 : 2 + random(2);
    return Array.from({ length }, () => "abcde"[random(5)]).join("");
  });
  return Buffer.from(words.join(" "), "latin1");
}

/** Returns the visible files of a cache whose names end with `kind`. */
export function filesOf(cachePath: string, kind: string): string[] {
  return readdirSync(cachePath)
    .filter((name) => !name.startsWith(".") && name.endsWith(kind))
    .sort()
    .map((name) => join(cachePath, name));
}
