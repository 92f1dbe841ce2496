import type { FoundInputs } from "../corpus/find-inputs.ts";
import { checkUnchanged, totalBytesOf, wholeRange } from "../corpus/input.ts";
import { UserError, usageError } from "../errors.ts";
import { inTurns } from "../runtime/turns.ts";
import type { RangeStatistics } from "../text/task-texts.ts";
import { SumOfWords, TableWords, totalsOfSum, wordTableOfSum } from "../words/sorted-words.ts";
import { sizeOf, tableBytes, totalsOf, type WordTable } from "../words/word-table.ts";
import { type CorpusOptions, type CountedWords, checkNotEmpty, countWords } from "./count-words.ts";
import type { Report, StageProgress } from "./stage-progress.ts";
import { type InputWeight, weightParts, weightsOf } from "./weights.ts";

/** A language of a corpus: the indices of its inputs, and of those by which languages are compared. */
export type Language = {
  readonly name: string;
  readonly inputIndices: readonly number[];
  /** None, if languages are compared by what is trained on. */
  readonly devIndices: readonly number[];
};

/** What names the inputs of a language: a path, a glob, a directory. */
export type LanguageFile = { readonly language: string; readonly isDev: boolean; readonly file: string };

/** A usage error unless all languages have dev text, or none. `what` names it. */
export function checkDev(what: string, train: readonly LanguageFile[], dev: readonly LanguageFile[]): void {
  const [names, devNames] = [train, dev].map((files) => [...new Set(files.map(({ language }) => language))]);
  const unknown = devNames!.find((name) => !names!.includes(name));
  if (unknown !== undefined) {
    throw usageError(`${what}: there is no language "${unknown}"`, `they are ${names!.join(", ")}`);
  }
  const bare = names!.find((name) => !devNames!.includes(name));
  if (dev.length > 0 && bare !== undefined) {
    throw usageError(`${what}: "${bare}" has none`, "give it for all languages, or for none");
  }
}

/** The words of each language. */
export type LanguageTables = {
  readonly train: readonly WordTable[];
  /** Null, if languages are compared by what is trained on. */
  readonly dev: readonly WordTable[] | null;
};

/** What was read of a language, or of its dev text. */
export type LanguageFacts = TextFacts & { readonly name: string; readonly dev?: TextFacts };
type TextFacts = {
  readonly textBytes: number;
  /** Pretokens. */
  readonly wordCount: number;
  readonly distinctWordCount: number;
};

export function languageFacts(
  languages: readonly Language[],
  { train, dev }: LanguageTables,
  statistics: readonly RangeStatistics[],
): LanguageFacts[] {
  const factsOf = (indices: readonly number[], table: WordTable): TextFacts => ({
    textBytes: indices.reduce((sum, i) => sum + statistics[i]!.textBytes, 0),
    wordCount: totalsOf(table).pretokenCount,
    distinctWordCount: table.wordCount,
  });
  return languages.map(({ name, inputIndices, devIndices }, k) => ({
    name,
    ...factsOf(inputIndices, train[k]!),
    ...(dev && { dev: factsOf(devIndices, dev[k]!) }),
  }));
}

/**
 * The languages whose files were found: `inputCounts` says how many inputs each file stands for. Warns of an input that is
 * there twice.
 */
export function languagesOf(
  files: readonly LanguageFile[],
  { inputs, inputCounts = [] }: Pick<FoundInputs, "inputs" | "inputCounts">,
  warn: (message: string) => void,
): Language[] {
  const owners = files.flatMap((file, i) => Array<LanguageFile>(inputCounts[i]!).fill(file));
  const textOf = ({ language, isDev }: LanguageFile) => `${isDev ? "the dev text of " : ""}"${language}"`;
  const seen = new Map<string, LanguageFile>();
  for (const [i, { path, isStream, device, inode }] of inputs.entries()) {
    const owner = owners[i]!;
    const before = seen.get(`${device} ${inode}`) ?? owner;
    if (textOf(before) !== textOf(owner)) warn(`"${path}" is in ${textOf(before)} and in ${textOf(owner)}`);
    if (!isStream && inode !== 0) seen.set(`${device} ${inode}`, before);
  }
  return [...new Set(files.map(({ language }) => language))].map((name) => {
    const indicesOf = (isDev: boolean) =>
      [...inputs.keys()].filter((i) => owners[i]!.language === name && owners[i]!.isDev === isDev);
    return { name, inputIndices: indicesOf(false), devIndices: indicesOf(true) };
  });
}

export type CountedGroups = CountedWords & {
  /** Only of a corpus of languages. */
  readonly tables?: LanguageTables;
  /** To be called when the result is written: the cache keeps what is new. Nobody may change the tables before. */
  readonly keepRest: () => Promise<void>;
};

/**
 * The words of a corpus whose inputs have weights or languages. Each group of inputs of one weight, and of one language, is
 * counted as in a run on its inputs alone. Arguments are as of `countWords`.
 */
export async function countGroups(
  options: CorpusOptions & { readonly languages?: readonly Language[] | undefined },
  weights: readonly InputWeight[],
  report: Report,
  check?: Parameters<typeof countWords>[2],
): Promise<CountedGroups> {
  const { inputs, countsFiles, languages, memory } = options;
  const groups = groupsOf(options, weights);
  const tables: WordTable[] = [];
  const statistics: RangeStatistics[] = [];
  const rests: (() => Promise<void>)[] = [];
  const bytesTotal = totalBytesOf(inputs);
  let bytesBefore = 0;
  let heldBytes = 0;
  for (const { inputIndices, counts } of groups) {
    const ranges = inputIndices.map((index) => wholeRange(inputs[index]!, index));
    const ofAll = (progress: StageProgress) => {
      if (progress.stage !== "counting") return report(progress);
      report({ ...progress, done: bytesBefore + progress.done, total: bytesTotal });
    };
    const part = {
      ...options,
      memory: memory && { ...memory, budget: memory.budget.beside(heldBytes) },
      ranges,
      countsFiles: counts.size === 0 ? undefined : countsFiles!.among((path) => counts.has(path)),
      partCount: groups.length,
    };
    const counted = await countWords(part, ofAll, check);
    tables.push(counted.words);
    heldBytes += tableBytes(sizeOf(counted.words));
    for (const index of inputIndices) statistics[index] = counted.statistics[index]!;
    if (counted.keepRest !== undefined) rests.push(counted.keepRest);
    bytesBefore += ranges.reduce((sum, { endByte }) => sum + endByte, 0);
  }
  for (const input of inputs) checkUnchanged(input);
  checkNotEmpty(options, statistics);

  const ofSets: WordTable[] = [];
  for (let set = 0; set <= groups.at(-1)!.set; set++) {
    const own = [...groups.keys()].filter((i) => groups[i]!.set === set);
    const weightsOfSet = own.map((i) => groups[i]!.weight);
    ofSets.push(
      await inTurns(
        weigh(
          own.map((i) => tables[i]!),
          weightsOfSet,
        ),
      ),
    );
  }
  const ofLanguages = languages && languageTables(languages, ofSets);
  if (ofSets[0]!.wordCount === 0 && tables.some(({ wordCount }) => wordCount > 0)) {
    throw new UserError("the weights leave nothing: every word's count is rounded to 0", {
      hint: "give larger weights",
    });
  }
  const words = ofLanguages
    ? await inTurns(weigh(ofLanguages.train, Array(ofLanguages.train.length).fill(1)))
    : ofSets[0]!;
  return {
    words,
    pretokenCount: totalsOf(words).pretokenCount,
    statistics,
    ...(ofLanguages && { tables: ofLanguages }),
    async keepRest() {
      for (const keep of rests) await keep();
    },
  };
}

/** Inputs of one weight; those of one set, which is a language or its dev text, become one table. */
type Group = {
  readonly set: number;
  readonly weight: number;
  readonly inputIndices: readonly number[];
  /** Paths of files of word counts. */
  readonly counts: ReadonlySet<string>;
};

function groupsOf(
  { inputs, countsFiles, languages }: Parameters<typeof countGroups>[0],
  weights: readonly InputWeight[],
): Group[] {
  const paths = [...inputs.map(({ path }) => path), ...(countsFiles?.paths ?? [])];
  const weightOfEach = weights.length === 0 ? paths.map(() => 1) : weightsOf(paths, weights);
  const hasDev = languages?.some(({ devIndices }) => devIndices.length > 0) ?? false;
  // Behind the inputs come the files of word counts.
  const sets = languages
    ? [...languages.map((of) => of.inputIndices), ...(hasDev ? languages.map((of) => of.devIndices) : [])]
    : [[...paths.keys()]];
  return sets.flatMap((indices, set) =>
    [...new Set(indices.map((i) => weightOfEach[i]!))].map((weight) => {
      const own = indices.filter((i) => weightOfEach[i] === weight);
      const counts = new Set(own.filter((i) => i >= inputs.length).map((i) => paths[i]!));
      return { set, weight, inputIndices: own.filter((i) => i < inputs.length), counts };
    }),
  );
}

/** A UserError for a language without words. */
function languageTables(languages: readonly Language[], tables: readonly WordTable[]): LanguageTables {
  const empty = tables.findIndex(({ wordCount }) => wordCount === 0);
  if (empty >= 0) {
    const { length } = languages;
    const what = empty < length ? "" : "the dev text of ";
    throw new UserError(`${what}language "${languages[empty % length]!.name}" has no words`, {
      hint: "each language needs text, and a weight that leaves some of it",
    });
  }
  const [train, dev] = [tables.slice(0, languages.length), tables.slice(languages.length)];
  return { train, dev: dev.length === 0 ? null : dev };
}

/** The sum of the tables, each times its weight: exact, then rounded once, half up. A word that is left with 0 is gone. */
export function* weigh(
  tables: readonly WordTable[],
  weights: readonly number[],
): Generator<undefined, WordTable> {
  if (tables.length === 1 && weights[0] === 1) return tables[0]!;
  const parts = weights.map((weight) => Math.round(weight * weightParts));
  const unit = parts.reduce(greatestDivisor, weightParts);
  const sorted: TableWords[] = [];
  for (const table of tables) sorted.push(yield* TableWords.sort(table));
  const sum = () => {
    const summands = sorted.map((words, i) => ({ words, times: parts[i]! / unit }));
    for (const words of sorted) words.restart();
    return new SumOfWords(summands, weightParts / unit);
  };
  const totals = yield* totalsOfSum(sum());
  return yield* wordTableOfSum(sum(), totals);
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
