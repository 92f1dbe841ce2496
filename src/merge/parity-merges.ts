import { wholeMemoryBytes } from "../runtime/kernel.ts";
import { byteWords, sizeOfWords, type TokenWords, type WordTable } from "../words/word-table.ts";
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
  cellCountBound,
  checkCellCount,
  defaultTuning,
  type MergeOptions,
  type MergeTuning,
  type TieOrder,
  type TokenPair,
} from "./merge-options.ts";
import { type Merges, readMerges } from "./merges.ts";
import { tooLarge, trainMerges } from "./train-merges.ts";

/** How merges are shared out among languages (docs/languages.md). */
export type Parity = {
  /** How many times shorter the text of each language shall get, in proportion; null: lengths are compared as they are. */
  readonly ratio: readonly number[] | null;
  /** Of the last `size` choices no language has more than `alpha` times its share, if another one is left. */
  readonly window: { readonly size: number; readonly alpha: number } | null;
  /** So many merges come first that the counts of all languages together choose. */
  readonly globalMerges: number;
};

/**
 * Learns the merges of several languages, as `trainMerges` does of one table. Each merge is the best pair of one language, the
 * one that is worst off, and is made in all of them. A language has an engine of its own, with all its pairs.
 *
 * @param dev words of each language, which say who is worst off; null: those that are trained on
 */
export function* trainParityMerges(
  tables: readonly (WordTable | TokenWords)[],
  dev: readonly (WordTable | TokenWords)[] | null,
  parity: Parity,
  asked: MergeOptions,
  tuning: MergeTuning = defaultTuning,
): Generator<MergeProgress, Merges> {
  const words = tables.map(tokensOf);
  const devWords = dev?.map(tokensOf) ?? [];
  for (const table of [...words, ...devWords]) checkCellCount(cellCountBound(sizeOfWords(table)));
  const { firstMerges = [] } = asked;
  // Each merge that is learned takes at least one position away.
  const mergeCountMax = words.reduce((total, { tokens }) => total + tokens.length, firstMerges.length);
  const options: MergeOptions = {
    ...asked,
    mergeCount: Math.min(asked.mergeCount, mergeCountMax),
    ties: asked.ties ?? parityTies[asked.compat],
    // HF counts merges here, also one that spells a special token.
    specialTokens: [],
  };
  const namedCount = Math.min(firstMerges.length + parity.globalMerges, options.mergeCount);
  const named =
    parity.globalMerges > 0
      ? pairsOf(yield* trainMerges(joinWords(words), { ...options, mergeCount: namedCount }, tuning))
      : firstMerges;

  const budget = createWorkBudget(tuning.sliceWork);
  const engines: LanguageEngine[] = [];
  const engineTuning = tuningOfEngines(tuning, words.length + devWords.length);
  for (const table of [...words, ...devWords]) {
    engines.push(yield* startLanguage(table, options, engineTuning, budget));
  }
  const trained = engines.slice(0, words.length);
  // Their lengths are compared.
  const measured = dev ? engines.slice(words.length) : trained;
  const lengths = (dev ? devWords : words).map(countTokens);
  const choice = startChoice(lengths, parity);
  const countMin = Math.max(1, options.minFrequency ?? 1);
  const startCount = trained[0]!.memory.plan.startCount;
  for (let mergeCount = 0; mergeCount < options.mergeCount; ) {
    let pair = named[mergeCount];
    if (pair === undefined) {
      // Where all languages together have no pair left, none has.
      const language = mergeCount < namedCount ? undefined : choice.next();
      if (language === undefined) break;
      const { exports } = trained[language]!.memory;
      if (exports.bestCount() < countMin) {
        choice.exhaust(language);
        continue;
      }
      pair = [exports.largeLeft(), exports.largeRight()];
    }
    const [left, right] = pair;
    for (const engine of engines) {
      const end = mergeAtOnce(engine, left, right);
      if (end >= large && !(yield* mergeLarge(engine, left, right, end)))
        throw tooLarge(engine.words, options);
      if (budget.workLeft <= 0) {
        budget.progress = { phase: "merge", mergeCount, shareDone: mergeCount / options.mergeCount };
        spend(budget, 0);
        yield budget.progress;
      }
    }
    const token = startCount + mergeCount++;
    for (let k = 0; k < lengths.length; k++) lengths[k]! -= measured[k]!.replacedCounts[token]!;
  }
  return addUp(trained.map(({ memory }) => readMerges(memory, startCount)));
}

/** Who wins a tie: HF's trainer of this kind takes the greatest pair, its other one the smallest. */
const parityTies = {
  cs336: "greater bytes",
  huggingface: "greater characters",
  rustbpe: "smaller id",
} as const satisfies Record<MergeOptions["compat"], TieOrder>;

const tokensOf = (table: WordTable | TokenWords) => ("tokens" in table ? table : byteWords(table));

/** How many tokens the words are, each as often as it occurs. */
function countTokens({ wordCount, starts, counts }: TokenWords): number {
  let total = 0;
  for (let w = 0; w < wordCount; w++) total += counts[w]! * (starts[w + 1]! - starts[w]!);
  return total;
}

/** All words of several tables; equal ones stand there more than once. */
function joinWords(tables: readonly TokenWords[]): TokenWords {
  const wordCount = tables.reduce((total, table) => total + table.wordCount, 0);
  const positionCount = tables.reduce((total, table) => total + table.tokens.length, 0);
  const [{ tokens: firstTokens }] = tables as [TokenWords];
  const tokens = new (firstTokens.constructor as Uint8ArrayConstructor)(positionCount);
  const starts = new Uint32Array(wordCount + 1);
  const counts = new Float64Array(wordCount);
  let word = 0;
  let position = 0;
  for (const table of tables) {
    tokens.set(table.tokens, position);
    counts.set(table.counts, word);
    for (let w = 0; w < table.wordCount; w++) starts[word + w + 1] = position + table.starts[w + 1]!;
    word += table.wordCount;
    position += table.tokens.length;
  }
  return { wordCount, tokens, starts, counts };
}

const pairsOf = ({ left, right }: Merges): TokenPair[] => Array.from(left, (id, k) => [id, right[k]!]);

/** The engine of a language, in one memory. */
type LanguageEngine = MergeEngine & {
  readonly words: TokenWords;
  readonly memory: MergeMemory;
  /** By token, in the kernel's memory. */
  readonly replacedCounts: Float64Array;
};

/**
 * A pair that is rare in one language may be chosen by another: so each has records of all pairs. The address space of the machine
 * is shared out.
 */
const tuningOfEngines = (tuning: MergeTuning, engineCount: number): MergeTuning => ({
  ...tuning,
  threshold: 1,
  memoryBytesMax: Math.min(tuning.memoryBytesMax, wholeMemoryBytes(2 ** 32, engineCount)),
});

function* startLanguage(
  words: TokenWords,
  options: MergeOptions,
  tuning: MergeTuning,
  budget: WorkBudget,
): Generator<MergeProgress, LanguageEngine> {
  const engineOptions = {
    ...options,
    minFrequency: 1,
    firstMerges: [],
    isOneOfSeveral: true,
    threadCount: 1,
  };
  const created = createMergeEngine(words, 1, engineOptions, tuning);
  const engine = created && { ...created, budget };
  if (engine === undefined || !(yield* prepareEngine(engine, words, tuning))) throw tooLarge(words, options);
  const memory = engine.memories[0]!;
  const { exports, plan } = memory;
  exports.limitRecords();
  const address = exports.replacedCounts.value >>> 0;
  const replacedCounts = new Float64Array(memory.memory.buffer, address, plan.tokenCapacity);
  return { ...engine, words, memory, replacedCounts };
}

// How the kernel's `mergeChosen` ends (src/kernel/merge/merge-loop.ts): 0 and 1: the merge is made.
const large = 2;
const tooManyRecords = 3;

/** How that ended. */
function mergeAtOnce({ memory: { exports }, budget }: LanguageEngine, left: number, right: number): number {
  const end = exports.mergeChosen(left, right, budget.workLeft);
  if (end < large) budget.workLeft = exports.workLeftOfSlice();
  return end;
}

/** What a call could not merge at once. False if the memory is too small. */
function* mergeLarge(
  engine: LanguageEngine,
  left: number,
  right: number,
  end: number,
): Generator<MergeProgress, boolean> {
  const { exports } = engine.memory;
  if (end === tooManyRecords) {
    if (!(yield* rebuildIndex(engine))) return false;
    exports.limitRecords();
  }
  return exports.startNamedMerge(left, right) === 1 && (yield* mergeInSlices(engine, () => {}));
}

/** Each engine has all tokens, and what was counted in its own language. */
function addUp(merges: readonly Merges[]): Merges {
  const [first, ...others] = merges as [Merges, ...Merges[]];
  for (const { counts, replacedCounts } of others) {
    for (let k = 0; k < first.mergeCount; k++) {
      first.counts[k]! += counts[k]!;
      first.replacedCounts[k]! += replacedCounts[k]!;
    }
  }
  return first;
}

type LanguageChoice = {
  /** The language whose best pair comes next, by the lengths as they are now; undefined: none has a pair left. */
  next(): number | undefined;
  /** A language has no pair left. */
  exhaust(language: number): void;
};

/**
 * Which language is worst off: as HF's ParityBpeTrainer says it, with its arithmetic. Equal ones: the first.
 *
 * With a window: where all are over their share it is the last one looked at, but the first of all if some are exhausted, even
 * if that is exhausted itself; it then counts as chosen.
 */
function startChoice(lengths: readonly number[], { ratio, window }: Parity): LanguageChoice {
  const count = lengths.length;
  const startLengths = [...lengths];
  const exhausted = new Set<number>();
  // By ratio a language without text has no place.
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
      if (worst === undefined) return 0;
      if (!isOverShare(worst)) return worst;
      masked.add(worst);
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
