import type { trainingRecords } from "#formats";
import { kernels, memoryPages } from "#runtime";
import type { Merges } from "#tokenizer";
import { type WordTable, wordTables } from "#words";
import { mergeInSlices, prepareEngine, rebuildIndex } from "./merge-engine.ts";
import {
  createMergeEngine,
  createWorkBudget,
  type MergeEngine,
  type MergeMemory,
  type MergeProgress,
  spend,
  type WorkBudget,
} from "./merge-memories.ts";
import {
  byteTokens,
  cellCountBound,
  checkCellCount,
  defaultTuning,
  type MergeOptions,
  type MergeTuning,
  type TieOrder,
  type TokenPair,
} from "./merge-options.ts";
import { readMerges, readStartCounts } from "./read-merges.ts";
import { tooLarge, trainMerges } from "./train-merges.ts";

/**
 * Merges, and the length of each text in tokens, before the first merge and after the last. The texts are the words of
 * each language, then the dev text of each language, if there is any.
 */
export type ParityMerges = Merges & { readonly lengths: readonly Length[] };
export type Length = { readonly startCount: number; readonly tokenCount: number };

/**
 * Learns merges from several languages. After the given first merges and the global ones, each merge is the best pair
 * of the language that `chooseLanguages` chooses: usually the one that is worst off. Every merge is made in all
 * languages.
 *
 * @param all the words of all languages together, from which global merges are learned
 * @param dev the words of each language that decide which language is worst off; if null, the words of `tables` decide
 *   that
 */
export function* trainParityMerges(
  all: WordTable | wordTables.TokenWords,
  tables: readonly (WordTable | wordTables.TokenWords)[],
  dev: readonly (WordTable | wordTables.TokenWords)[] | null,
  parity: trainingRecords.Parity,
  requested: MergeOptions,
  tuning: MergeTuning = defaultTuning,
): Generator<MergeProgress, ParityMerges> {
  const words = tables.map(tokensOf);
  const devWords = dev?.map(tokensOf) ?? [];
  const texts = [...words, ...devWords];
  for (const table of texts) checkCellCount(cellCountBound(wordTables.sizeOfWords(table)), requested);
  const { firstMerges = [] } = requested;
  // Each learned merge removes at least one position, which limits the number of merges.
  const mergeCountMax = words.reduce((total, { tokens }) => total + tokens.length, firstMerges.length);
  const options: MergeOptions = {
    ...requested,
    mergeCount: Math.min(requested.mergeCount, mergeCountMax),
    ties: requested.ties ?? parityTies[requested.compat],
    // No special tokens: HF's parity trainer also counts merges that spell one.
    specialTokens: [],
  };
  const namedCount = Math.min(firstMerges.length + parity.globalMerges, options.mergeCount);
  const named =
    parity.globalMerges > 0
      ? pairsOf(yield* trainMerges(all, { ...options, mergeCount: namedCount }, tuning))
      : firstMerges;

  const budget = createWorkBudget(tuning.sliceWork);
  const languages: LanguageEngine[] = [];
  const engineTuning = tuningOfEngines(tuning, texts.length);
  for (const table of texts) languages.push(yield* startLanguage(table, options, engineTuning, budget));
  const trained = languages.slice(0, words.length);
  // Dev text, if given, decides which language is worst off.
  const startCounts = texts.map(countTokens);
  const tokenCounts = Float64Array.from(startCounts);
  const lengths = dev ? tokenCounts.subarray(words.length) : tokenCounts;
  const choice = chooseLanguages(lengths, parity);
  const countMin = Math.max(1, options.minFrequency ?? 1);
  const { count: startCount } = options.startTokens ?? byteTokens;
  const merges: MadeMerge[] = [];
  const sumOf = (field: "lastCount" | "lastReplaced") => trained.reduce((sum, { [field]: n }) => sum + n, 0);
  while (merges.length < options.mergeCount) {
    const mergeCount = merges.length;
    let pair: TokenPair | undefined = named[mergeCount];
    if (pair === undefined) {
      // If all languages together have no pair left, no single language has one.
      const language = mergeCount < namedCount ? undefined : choice.next();
      if (language === undefined) break;
      pair = yield* bestPair(trained[language]!, countMin);
      if (pair === undefined) {
        choice.exhaust(language);
        continue;
      }
    }
    const [left, right] = pair;
    const token = startCount + mergeCount;
    for (const language of languages) {
      if (!mergeAtOnce(language, left, right, token)) yield* mergeLarge(language, left, right, token);
      if (budget.workLeft <= 0) {
        budget.progress = { phase: "merge", mergeCount };
        spend(budget, 0);
        yield budget.progress;
      }
    }
    merges.push({ pair, count: sumOf("lastCount"), replacedCount: sumOf("lastReplaced") });
    for (let k = 0; k < languages.length; k++) tokenCounts[k]! -= languages[k]!.lastReplaced;
  }
  const memories = trained.flatMap(({ engine }) => engine.memories);
  return {
    startCount,
    ...arraysOf(merges),
    startCounts: readStartCounts(memories, startCount),
    lengths: startCounts.map((startCount, k) => ({ startCount, tokenCount: tokenCounts[k]! })),
  };
}

type MadeMerge = { readonly pair: TokenPair; readonly count: number; readonly replacedCount: number };

const arraysOf = (merges: readonly MadeMerge[]) => ({
  mergeCount: merges.length,
  left: Int32Array.from(merges, ({ pair }) => pair[0]),
  right: Int32Array.from(merges, ({ pair }) => pair[1]),
  counts: Float64Array.from(merges, ({ count }) => count),
  replacedCounts: Float64Array.from(merges, ({ replacedCount }) => replacedCount),
});

/**
 * The tie rules with languages. Only that of `huggingface` differs from the usual rule: HF's parity trainer takes the
 * pair with the greater characters, but its usual trainer the one with the smaller ids.
 */
const parityTies = {
  cs336: "greater bytes",
  huggingface: "greater characters",
  rustbpe: "smaller id",
} as const satisfies Record<MergeOptions["compat"], TieOrder>;

const tokensOf = (table: WordTable | wordTables.TokenWords) =>
  "tokens" in table ? table : wordTables.byteWords(table);

/** The number of tokens in the words, weighted by the words' counts. */
function countTokens({ wordCount, starts, counts }: wordTables.TokenWords): number {
  let total = 0;
  for (let w = 0; w < wordCount; w++) total += counts[w]! * (starts[w + 1]! - starts[w]!);
  return total;
}

const pairsOf = ({ left, right }: Merges): TokenPair[] => Array.from(left, (id, k) => [id, right[k]!]);

/**
 * The engine of one language. Besides the start tokens, it has only tokens that occur in the language's words, with ids
 * of its own, so that in most engines 16 bits are enough for an id.
 */
type LanguageEngine = {
  readonly words: wordTables.TokenWords;
  readonly options: MergeOptions;
  readonly tuning: MergeTuning;
  readonly budget: WorkBudget;
  /** The engine's id for each token number of the training, or -1. */
  readonly ownIds: Int32Array;
  /** The token number in the training for each id of the engine. */
  readonly ids: number[];
  engine: MergeEngine;
  exports: MergeMemory["exports"];
  /** The count of each pair when it was merged, by the engine's id of the new token. A view of the kernel's memory. */
  counts: Float64Array;
  /** The number of occurrences that each merge replaced, in the same layout. */
  replacedCounts: Float64Array;
  /** The count of the pair of the last merge. */
  lastCount: number;
  /** The number of occurrences that the last merge replaced. */
  lastReplaced: number;
};

/**
 * Each engine indexes all pairs, because another language may choose a pair that is rare in this one. The address space
 * is divided among the engines.
 */
const tuningOfEngines = (tuning: MergeTuning, engineCount: number): MergeTuning => ({
  ...tuning,
  threshold: 1,
  memoryBytesMax: Math.min(tuning.memoryBytesMax, kernels.wholeMemoryBytes(2 ** 32, engineCount)),
});

function* startLanguage(
  words: wordTables.TokenWords,
  options: MergeOptions,
  tuning: MergeTuning,
  budget: WorkBudget,
): Generator<MergeProgress, LanguageEngine> {
  const { count: startCount } = options.startTokens ?? byteTokens;
  const ownIds = new Int32Array(startCount + options.mergeCount).fill(-1);
  for (let id = 0; id < startCount; id++) ownIds[id] = id;
  const few = Math.max(1, tuning.fewTokens - startCount);
  const engine = yield* startEngine({ words, options, tuning, budget }, few);
  return {
    words,
    options,
    tuning,
    budget,
    ownIds,
    ids: [...ownIds.subarray(0, startCount)],
    ...engine,
    lastCount: 0,
    lastReplaced: 0,
  };
}

function* startEngine(
  { words, options, tuning, budget }: Pick<LanguageEngine, "words" | "options" | "tuning" | "budget">,
  mergeCountMax: number,
) {
  const mergeCount = Math.min(options.mergeCount, mergeCountMax);
  const engineOptions = { ...options, mergeCount, minFrequency: 1, firstMerges: [], threadCount: 1 };
  const created = createMergeEngine(words, 1, engineOptions, tuning);
  const engine = created && { ...created, budget };
  if (engine === undefined || !(yield* prepareEngine(engine, words, tuning))) throw tooLarge(words, options);
  const [{ exports, memory, plan }] = engine.memories as [MergeMemory];
  exports.limitRecords();
  const floatsAt = ({ value }: WebAssembly.Global) =>
    new Float64Array(memory.buffer, value >>> 0, plan.tokenCapacity);
  return {
    engine,
    exports,
    counts: floatsAt(exports.mergeCounts),
    replacedCounts: floatsAt(exports.replacedCounts),
  };
}

/** Starts an engine again with a capacity for all possible tokens, and repeats its merges. */
function* startWide(language: LanguageEngine): Generator<MergeProgress, void> {
  const [memory] = language.engine.memories as [MergeMemory];
  const { mergeCount, left, right } = readMerges([memory], memory.plan.startCount);
  memoryPages.release(new Int32Array(memory.memory.buffer));
  Object.assign(language, yield* startEngine(language, Number.POSITIVE_INFINITY));
  for (let k = 0; k < mergeCount; k++) yield* mergeOwn(language, left[k]!, right[k]!);
}

/** The best pair of a language; undefined if no pair occurs at least `countMin` times. */
function* bestPair(
  { exports, ids, budget }: LanguageEngine,
  countMin: number,
): Generator<MergeProgress, TokenPair | undefined> {
  for (;;) {
    const count = exports.bestCount(budget.workLeft);
    budget.workLeft = exports.workLeftOfSlice();
    if (count >= countMin) return [ids[exports.largeLeft()]!, ids[exports.largeRight()]!];
    if (count >= 0) return undefined;
    if (spend(budget, 0)) yield budget.progress;
  }
}

// Results of the kernel's `mergeChosen` (src/kernel/merge/merge-loop.ts).
const absent = 0;
const merged = 1;
const tooManyRecords = 3;

/**
 * Merges a pair into `token` if the pair occurs in this language. `left`, `right` and `token` are token numbers of the
 * training. Returns false, without a merge, if the merge is too much work for one call, or if the engine may lack room
 * for lists, pairs or tokens.
 */
function mergeAtOnce(language: LanguageEngine, left: number, right: number, token: number): boolean {
  const { exports, ownIds, budget } = language;
  language.lastCount = 0;
  language.lastReplaced = 0;
  const [ownLeft, ownRight] = [ownIds[left]!, ownIds[right]!];
  if (ownLeft < 0 || ownRight < 0) return true;
  if (language.ids.length === language.counts.length) return false;
  const end = exports.mergeChosen(ownLeft, ownRight, budget.workLeft);
  if (end > merged) return false;
  budget.workLeft = exports.workLeftOfSlice();
  if (end !== absent) noteMerge(language, token);
  return true;
}

function* mergeLarge(
  language: LanguageEngine,
  left: number,
  right: number,
  token: number,
): Generator<MergeProgress, void> {
  const { ownIds, ids, counts } = language;
  if (ids.length === counts.length) yield* startWide(language);
  if ((yield* mergeOwn(language, ownIds[left]!, ownIds[right]!)) !== absent) noteMerge(language, token);
}

/** Merges a pair, by the engine's ids, in slices. Returns `absent` or `merged`; throws if a memory is too small. */
function* mergeOwn(language: LanguageEngine, left: number, right: number): Generator<MergeProgress, number> {
  const { exports, engine, words, options } = language;
  const end = exports.mergeChosen(left, right, 0);
  if (end <= merged) return end;
  let hasRoom = true;
  if (end === tooManyRecords) {
    hasRoom = yield* rebuildIndex(engine);
    exports.limitRecords();
  }
  hasRoom &&= exports.startNamedMerge(left, right) === 1 && (yield* mergeInSlices(engine, () => {}));
  if (!hasRoom) throw tooLarge(words, options);
  return merged;
}

function noteMerge(language: LanguageEngine, token: number): void {
  const { ownIds, ids, counts, replacedCounts } = language;
  const own = ids.length;
  ownIds[token] = own;
  ids.push(token);
  language.lastCount = counts[own]!;
  language.lastReplaced = replacedCounts[own]!;
}

type LanguageChoice = {
  /** The language whose best pair is merged next, by the current lengths; undefined if none has a pair left. */
  next(): number | undefined;
  /** Must be called when a language has no pair left. */
  exhaust(language: number): void;
};

/**
 * Chooses languages exactly as HF's ParityBpeTrainer does, with the same arithmetic: the one that is worst off, and of
 * several equal ones the first.
 *
 * With a window, a language is passed over while it has more than its share of the last `window.size` choices. That
 * share is `window.alpha`, divided by the number of languages.
 */
function chooseLanguages(lengths: Float64Array, { ratio, window }: trainingRecords.Parity): LanguageChoice {
  const count = lengths.length;
  const startLengths = [...lengths];
  const exhausted = new Set<number>();
  // With ratios, a language without text counts as exhausted.
  if (ratio) for (let k = 0; k < count; k++) if (startLengths[k] === 0) exhausted.add(k);
  const needOf = (k: number) => (ratio ? -(startLengths[k]! / lengths[k]! / ratio[k]!) : lengths[k]!);
  const worstOff = (isOut: (language: number) => boolean): number | undefined => {
    let worst: number | undefined;
    for (let k = 0; k < count; k++) {
      if (!isOut(k) && (worst === undefined || needOf(k) > needOf(worst))) worst = k;
    }
    return worst;
  };
  const recent: number[] = [];
  let recentStart = 0;
  const recentCounts = new Float64Array(count);
  const isOverShare = (k: number) => recentCounts[k]! / window!.size > window!.alpha / count;
  const inWindow = (): number => {
    const masked = new Set<number>();
    for (;;) {
      const worst = worstOff((k) => masked.has(k) || exhausted.has(k));
      // If no language is left, HF's trainer chooses the first one, even if that is exhausted itself.
      if (worst === undefined) return 0;
      if (!isOverShare(worst)) return worst;
      masked.add(worst);
      // If all languages have more than their share, HF's trainer chooses the last one that it checked.
      if (masked.size === count) return worst;
    }
  };
  return {
    exhaust: (language) => exhausted.add(language),
    next() {
      if (exhausted.size === count) return undefined;
      if (window === null) return worstOff((k) => exhausted.has(k));
      const language = inWindow();
      recent.push(language);
      recentCounts[language]!++;
      if (recent.length - recentStart > window.size) recentCounts[recent[recentStart++]!]!--;
      return language;
    },
  };
}
