import { groupBy } from "#bytes";
import { corpusInputs, type RangeStatistics } from "#corpus";
import type { trainingRecords } from "#formats";
import type { Report, StageProgress } from "#jobs";
import { asOption, phrase, runSliced, UserError } from "#runtime";
import { type CorpusOptions, checkNotEmpty } from "./count-parts.ts";
import { countWords } from "./count-words.ts";
import * as sortedWords from "./sorted-words.ts";
import { forPaths, weightParts } from "./weights.ts";
import type { WordTable } from "./word-table.ts";
import * as wordTables from "./word-table.ts";

/** The words of each language's training text and of its dev text; `dev` is null without dev texts. */
export type LanguageTables = {
  readonly train: readonly WordTable[];
  readonly dev: readonly WordTable[] | null;
};

/** Counts the words of a corpus in groups of inputs that have the same weight and language. */
export async function countGroups(
  options: CorpusOptions & { readonly languages?: readonly trainingRecords.LanguageOfInput[] | undefined },
  weights: readonly trainingRecords.InputWeight[],
  report: Report,
  check?: Parameters<typeof countWords>[2],
) {
  const { inputs, countsFiles, memory, rest } = options;
  const bytesTotal = corpusInputs.totalBytesOf(inputs);
  const texts = textsOf(options, weights);
  const partCount = texts.flatMap(({ groups }) => groups).length;
  const statistics: RangeStatistics[] = [];
  const rests: (() => Promise<void>)[] = [];
  const tables: WordTable[] = [];
  let bytesBefore = 0;
  let heldBytes = 0;
  for (const { groups } of texts) {
    const parts: WordTable[] = [];
    for (const { inputIndices, counts } of groups) {
      const ranges = inputIndices.map((index) => corpusInputs.wholeRange(inputs[index]!, index));
      const part = {
        ...options,
        memory: memory && { ...memory, budget: memory.budget.withReserved(heldBytes) },
        ranges,
        countsFiles: counts.size === 0 ? undefined : countsFiles!.subset((path) => counts.has(path)),
        partCount,
      };
      const ofAll = (progress: StageProgress) =>
        report(
          progress.stage === "counting"
            ? { ...progress, done: bytesBefore + progress.done, total: bytesTotal }
            : progress,
        );
      const counted = await countWords(part, ofAll, check);
      parts.push(counted.words);
      heldBytes += wordTables.bytesOf(wordTables.sizeOf(counted.words));
      for (const index of inputIndices) statistics[index] = counted.statistics[index]!;
      if (counted.keepRest !== undefined) rests.push(counted.keepRest);
      bytesBefore += corpusInputs.sizeOfRanges(ranges);
    }
    tables.push(
      await runSliced(
        addWeighted(
          parts,
          groups.map(({ weight }) => weight),
        ),
        rest,
      ),
    );
  }
  for (const input of inputs) corpusInputs.checkUnchanged(input);
  checkNotEmpty(options, statistics);
  checkLeft(texts, tables);
  const dev = tables.filter((_, i) => texts[i]!.isDev);
  const train = tables.slice(0, tables.length - dev.length);
  const words = await runSliced(addWeighted(train, Array(train.length).fill(1)), rest);
  return {
    words,
    pretokenCount: wordTables.totalsOf(words).pretokenCount,
    statistics,
    tables: { train, dev: dev.length === 0 ? null : dev },
    languages: texts.flatMap(({ language, isDev, groups }, i): CountedLanguage[] => {
      if (language === undefined) return [];
      const indices = groups.flatMap(({ inputIndices }) => inputIndices);
      const textBytes = indices.reduce((sum, index) => sum + statistics[index]!.textBytes, 0);
      const { pretokenCount: wordCount, wordCount: distinctWordCount } = wordTables.totalsOf(tables[i]!);
      return [{ language, isDev, textBytes, wordCount, distinctWordCount }];
    }),
    /** Puts new words into the cache. Call it when the result is written; until then the tables must not change. */
    async keepRest() {
      for (const keep of rests) await keep();
    },
  };
}

/** What counting finds for a language: its entry in training.json, without the fields that training adds. */
type CountedLanguage = Omit<trainingRecords.Language, "byteCount" | "tokenCount" | "plainTokenCount">;

/** The text that is counted into one table: all inputs, or a language's text or dev text. */
type CountedText = {
  readonly language: string | undefined;
  readonly isDev: boolean;
  readonly groups: readonly {
    readonly weight: number;
    readonly inputIndices: readonly number[];
    /** Paths of files of word counts. */
    readonly counts: ReadonlySet<string>;
  }[];
};

/** Returns the training text of each language, then the dev texts; without languages, all text as one. */
function textsOf(
  { inputs, countsFiles, languages }: Parameters<typeof countGroups>[0],
  weights: readonly trainingRecords.InputWeight[],
): CountedText[] {
  // Files of word counts come after the inputs.
  const paths = [...inputs.map(({ path }) => path), ...(countsFiles?.paths ?? [])];
  const weightOfEach = weights.length === 0 ? paths.map(() => 1) : forPaths(paths, weights);
  const names = languages === undefined ? [undefined] : new Set(languages.map(({ language }) => language));
  const hasDev = languages?.some(({ isDev }) => isDev) ?? false;
  return (hasDev ? [false, true] : [false]).flatMap((isDev) =>
    Array.from(names, (language) => {
      const isOwn = (i: number) => languages?.[i]?.language === language && languages?.[i]?.isDev !== !isDev;
      const byWeight = groupBy([...paths.keys()].filter(isOwn), (i) => weightOfEach[i]!);
      const groups = Array.from(byWeight, ([weight, indices]) => ({
        weight,
        inputIndices: indices.filter((i) => i < inputs.length),
        counts: new Set(indices.filter((i) => i >= inputs.length).map((i) => paths[i]!)),
      }));
      return { language, isDev, groups };
    }),
  );
}

/** Throws a UserError if a language has no words or, without languages, if no words are left with the weights. */
function checkLeft(texts: readonly CountedText[], tables: readonly WordTable[]): void {
  const empty = texts[tables.findIndex(({ wordCount }) => wordCount === 0)];
  if (empty === undefined) return;
  const { language, isDev } = empty;
  if (language === undefined) {
    const what = "the weights leave nothing to train on: every word's count is rounded to 0";
    throw new UserError(what, { hint: "give larger weights" });
  }
  throw new UserError(`${isDev ? "the dev text of " : ""}language "${language}" has no words`, {
    hint: phrase`give it text or, if ${asOption("weight")} rounds its counts to 0, a larger weight`,
  });
}

/** Returns the weighted sum of the tables, rounded once, half up. Words whose count becomes 0 are removed. */
export function* addWeighted(
  tables: readonly WordTable[],
  weights: readonly number[],
): Generator<undefined, WordTable> {
  if (tables.length === 1 && weights[0] === 1) return tables[0]!;
  const parts = weights.map((weight) => Math.round(weight * weightParts));
  const unit = parts.reduce(greatestDivisor, weightParts);
  const sorted: sortedWords.TableWords[] = [];
  for (const table of tables) sorted.push(yield* sortedWords.TableWords.sort(table));
  const sum = () => {
    const summands = sorted.map((words, i) => ({ words, times: parts[i]! / unit }));
    for (const words of sorted) words.restart();
    return new sortedWords.SumOfWords(summands, weightParts / unit);
  };
  const totals = yield* sortedWords.totalsOfSum(sum());
  return yield* sortedWords.wordTableOfSum(sum(), totals);
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
