import { corpusInputs, type Input } from "#corpus";
import { corpusEncoding } from "#encoding";
import { differences, evaluations, type measures, type modelCosts, textWords } from "#evaluation";
import { type Report, type StageProgress, stageProgress } from "#jobs";
import { Tokenizer } from "#library";
import { type CompiledPattern, compiledPatterns, patternDigest } from "#pattern";
import { host, machine, runSliced, scaled } from "#runtime";
import type { ScratchDirectory } from "#store";
import { cuttings } from "#text";
import type { TokenizerParts } from "#tokenizer";
import { type CountedWords, countWords, type WordTable, wordTables } from "#words";
import { EvaluationThreads, encodersMax } from "./evaluation-threads.ts";
import type { WordEncoding } from "./word-encoder.ts";

export type EvaluateOptions = {
  readonly tokenizers: readonly evaluations.NamedTokenizer[];
  readonly texts: readonly evaluations.NamedText[];
  /** Further texts, whose tokens are only counted. */
  readonly terms?: readonly string[];
  /** Whether to measure how numbers are cut. */
  readonly numbers?: boolean;
  /** The model whose costs are computed. */
  readonly model?: modelCosts.Shape | undefined;
  /** Returns the number of threads for this much text. */
  readonly workerCountFor: (textBytes: number) => number;
  /** The number of a text's words for which one thread is enough. */
  readonly partWordsLeast?: number;
  readonly budget: machine.MemoryBudget;
  /** The directory for words that do not fit into memory. The caller removes it. */
  readonly scratch: ScratchDirectory;
};

/** Reads a text. Returns its words, and an object that counts its tokens. */
async function readText(
  { inputs }: evaluations.NamedText,
  options: EvaluateOptions,
  progress: EvaluationProgress,
) {
  const { tokenizers } = options;
  const workerCount = options.workerCountFor(corpusInputs.expectedTextBytes(inputs));
  const encodersBudget = options.budget.withReserved(encodersBytes(options));
  const pass = { ...options, inputs, workerCount, budget: encodersBudget };
  const { words, invalidBytes } = await countPlacedWords(pass, progress);
  // Counting the words has left two large tables, which are garbage by now.
  if (corpusInputs.expectedTextBytes(inputs) > smallTextBytes) host.collectGarbage();
  const wordsBytes =
    wordTables.bytesOf(wordTables.sizeOf(words.placed)) + factsBytes * words.placed.wordCount;
  const budgetWithTables = (tablesBytes: number) => encodersBudget.withReserved(wordsBytes + tablesBytes);
  const count: CountPretokens = async (tablesBytes, ...cuts) => {
    const budget = budgetWithTables(tablesBytes);
    // Fewer threads may fit than in the first pass, because the words now take memory.
    const threads = { budget, workerCount: Math.min(workerCount, budget.workerCountMax) };
    const neededFor = (size: wordTables.Size) => 2 * wordTables.bytesOf(size);
    return (await countPass({ ...pass, ...threads, neededFor }, cuts, progress)).words;
  };
  const counting = { tokenizers, inputs, words, workerCount, budgetWithTables, count };
  return { words, invalidBytes, tokens: await TokenCounting.begin(counting, progress) };
}

type PassOptions = Pick<EvaluateOptions, "tokenizers" | "budget" | "scratch"> & {
  readonly inputs: readonly Input[];
  readonly workerCount: number;
};

/** Counts placed words: words, each with the whitespace character before it (text-words.ts). */
async function countPlacedWords(
  options: PassOptions & Pick<EvaluateOptions, "numbers">,
  progress: EvaluationProgress,
) {
  const neededFor = (size: wordTables.Size) =>
    tablesPerText * wordTables.bytesOf(size) + factsBytes * size.wordCount;
  const cuts: PretokenCuts = [
    compiledPatterns.compile([textWords.placedWordPattern]),
    [textWords.placedWordPattern],
    [],
  ];
  const { words: table, statistics } = await countPass({ ...options, neededFor }, cuts, progress);
  const words = await runSliced(textWords.gather(table, options.numbers));
  return { words, invalidBytes: statistics.reduce((sum, found) => sum + found.invalidByteCount, 0) };
}

/** Reads a text once and counts its pretokens. Throws a UserError if memory is too small for measuring them. */
async function countPass(
  options: PassOptions & { readonly neededFor: (size: wordTables.Size) => number },
  [pattern, sources, specialTokens]: PretokenCuts,
  progress: EvaluationProgress,
): Promise<CountedWords> {
  const { inputs, workerCount, budget, scratch, tokenizers, neededFor } = options;
  const countsOptions = { patterns: sources, specialTokens, isLinewise: false };
  const check = (size: wordTables.Size) =>
    budget.check("measuring a text", neededFor(size), "measure a part of the text");
  const cutting = cuttings.plain(pattern, specialTokens);
  const corpus = { inputs, cutting, workerCount, memory: { budget, scratch, countsOptions } };
  const counted = await countWords(corpus, progress.passReport, check);
  checkLongest(counted.words, { budget, tokenizers }, workerCount);
  progress.endPass(sizeOf(inputs));
  return counted;
}

/** Throws a UserError if encoding the longest word needs too much memory. Below `longWordBytes` it is not checked. */
function checkLongest(
  words: WordTable,
  { budget, tokenizers }: Pick<EvaluateOptions, "budget" | "tokenizers">,
  threadCount: number,
): void {
  const { wordCount, starts, bytes } = words;
  let longestBytes = 0;
  for (let w = 0; w < wordCount; w++) longestBytes = Math.max(longestBytes, starts[w + 1]! - starts[w]!);
  if (longestBytes < longWordBytes) return;
  const tablesBytes = tablesPerText * wordTables.bytesOf({ wordCount, byteCount: bytes.length });
  const perByte = Math.max(...tokenizers.map(({ parts }) => corpusEncoding.encodingBytesPerByte(parts)));
  const wordBytes = Math.min(threadCount, wordCount) * perByte * longestBytes;
  budget.check("the longest word of a text", tablesBytes + wordBytes, "measure a part of the text");
}

/** Encoding a word of fewer bytes than this takes so little memory that it is not checked. */
const longWordBytes = scaled(1 << 18, 16);

/**
 * Starts the progress of a run that reads each text once for its words, and then usually at most `passCount` more times
 * for its tokens.
 */
function startProgress(options: EvaluateOptions, report: Report): EvaluationProgress {
  const { texts, tokenizers } = options;
  const goCount = 1 + passCount(tokenizers.map(({ parts }) => parts));
  const textBytes = texts.reduce((sum, { inputs }) => sum + sizeOf(inputs), 0);
  return new EvaluationProgress(goCount * textBytes, report);
}

/**
 * The number of tables in memory for a text. Placed words (text-words.ts) and pretokens have two each: the table that
 * was counted, and a copy that the threads share.
 */
const tablesPerText = 4;

/** The bytes that a word takes besides those in tables: for its facts, its tokens, and its slots in a hash table. */
const factsBytes = 40;

/** Starts the threads that encode the words of all texts. The caller must close them. */
function startThreads(options: EvaluateOptions) {
  const { texts, tokenizers, workerCountFor, partWordsLeast } = options;
  const textBytes = Math.max(...texts.map(({ inputs }) => corpusInputs.expectedTextBytes(inputs)));
  // Workers do long work, because the main thread cannot handle signals while it works.
  const mainWorks =
    textBytes <= smallTextBytes && tokenizers.every(({ parts }) => corpusEncoding.hasOnlyQuickSteps(parts));
  const cacheShrinkBits = cacheShrinkBitsOf(options);
  const encodings = tokenizers.map(({ parts }) => wordEncodingOf(parts, cacheShrinkBits));
  return new EvaluationThreads(encodings, workerCountFor(textBytes), mainWorks, partWordsLeast);
}

/**
 * The main thread may measure texts up to this size, in bytes, because encoding even a single word of this size takes
 * only some 0.1 s.
 */
const smallTextBytes = 4e6;

/** The approximate size in bytes of a full-size cache of words (src/kernel/encode/word-cache.ts). */
const cacheBytes = 46e6;
/** How many times a cache may be halved. */
const cacheShrinkBitsMax = scaled(5, 0);

const threadCountOf = ({ texts, workerCountFor }: EvaluateOptions) =>
  workerCountFor(Math.max(...texts.map(({ inputs }) => corpusInputs.expectedTextBytes(inputs))));

/**
 * Returns how many times the caches of the encoders are halved, so that all of them together take at most an eighth of
 * the memory that the budget leaves. They take more if halving them `cacheShrinkBitsMax` times is not enough.
 */
function cacheShrinkBitsOf(options: EvaluateOptions): number {
  const cacheCount = threadCountOf(options) * Math.min(encodersMax, options.tokenizers.length);
  const sharedBytes = options.budget.shareBytes(1) / 8;
  let bits = 0;
  while (bits < cacheShrinkBitsMax && (cacheCount * cacheBytes) / 2 ** bits > sharedBytes) bits++;
  return bits;
}

/**
 * Returns the default maximum number of threads: a third of those that fit into memory, so that counting takes a third
 * of the memory; but at least one.
 */
export const evaluatingThreadsMax = (budget: machine.MemoryBudget) =>
  Math.max(1, Math.floor(budget.workerCountMax / 3));

/** Estimates the memory of tokenizers and threads, in bytes. For small texts, caches and workers are left out. */
function encodersBytes(options: EvaluateOptions): number {
  const { texts, tokenizers } = options;
  const textBytes = Math.max(...texts.map(({ inputs }) => corpusInputs.expectedTextBytes(inputs)));
  const mergeCounts = tokenizers.map(({ parts }) => parts.model.merges.left.length).sort((a, b) => b - a);
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  const loadedBytes = loadedMergeBytes * sum(mergeCounts);
  const modelBytes = corpusEncoding.mergeBytesOfThread * sum(mergeCounts.slice(0, encodersMax));
  if (textBytes <= smallTextBytes) return loadedBytes + modelBytes;
  const cachesBytes =
    (Math.min(encodersMax, tokenizers.length) * cacheBytes) / 2 ** cacheShrinkBitsOf(options);
  return loadedBytes + threadCountOf(options) * (machine.workerBytes + modelBytes + cachesBytes);
}

/** The bytes of a loaded tokenizer for each merge. Measured with five tokenizers of 100,000 merges. */
const loadedMergeBytes = 65;

function wordEncodingOf(parts: TokenizerParts, cacheShrinkBits: number): WordEncoding {
  const { idLimit, tokenCount, ...table } = parts.tokens;
  const starts = new Uint32Array(new SharedArrayBuffer(table.starts.byteLength));
  const bytes = new Uint8Array(new SharedArrayBuffer(table.bytes.byteLength));
  starts.set(table.starts);
  bytes.set(table.bytes);
  return {
    parts: corpusEncoding.encodingParts(parts),
    tokens: { idLimit, tokenCount, bytes, starts },
    cacheShrinkBits,
  };
}

export type Evaluated = {
  readonly evaluation: evaluations.Evaluation;
  /** How often each token occurs, by tokenizer, text and id. */
  readonly tokenCounts: readonly (readonly evaluations.CountsById[])[];
};

/** Measures tokenizers on texts. A text is read once for its words, and then for its tokens (`TokenCounting`). */
export async function evaluate(options: EvaluateOptions, report: Report): Promise<Evaluated> {
  const { tokenizers, texts, terms = [], model = null } = options;
  const measures = tokenizers.map(
    (tokenizer) => new evaluations.TokenizerMeasures(tokenizer, termTokens(tokenizer, terms), model),
  );
  const tokenCounts: evaluations.CountsById[][] = tokenizers.map(() => []);
  const facts: evaluations.TextFacts[] = [];
  const threads = startThreads(options);
  const progress = startProgress(options, report);
  try {
    for (const text of texts) {
      const { words, invalidBytes, tokens } = await readText(text, options, progress);
      const textFact = evaluations.textFacts(
        { name: text.name, inputs: text.paths, invalidBytes, trainedBy: text.trainedBy ?? [] },
        words,
      );
      facts.push(textFact);
      const measuring: Promise<void>[] = [];
      for (const t of tokenizers.keys()) {
        // Waits until tokenizer t - threadCount has been measured. Before that, the threads have enough work, and
        // another table of pretokens would only take memory.
        await measuring[t - threads.threadCount];
        const { pretokens, others } = await tokens.prepare(t);
        // Not awaited here, so that with several threads, the next tokenizer is prepared while these words are encoded.
        const measured = threads.measure(t, pretokens, words).then((found) => {
          tokens.release(t);
          const { tokenCounts: counts, numbers, costs } = found;
          evaluations.addCounts(counts, others);
          measures[t]!.add(textFact, counts, costs!, options.numbers === true ? numbers : null);
          tokenCounts[t]!.push(counts);
        });
        measured.catch(() => {});
        measuring.push(measured);
      }
      await Promise.all(measuring);
    }
  } finally {
    threads.close();
  }
  return { evaluation: evaluations.of(facts, measures, model), tokenCounts };
}

function termTokens({ parts }: evaluations.NamedTokenizer, terms: readonly string[]): measures.TermTokens[] {
  if (terms.length === 0) return [];
  const tokenizer = new Tokenizer(parts);
  const tokensOf = (text: string) => tokenizer.encode(text).length;
  return terms.map((term) => ({ term, tokens: tokensOf(term), tokensBehindSpace: tokensOf(` ${term}`) }));
}

export type CompareOptions = Omit<EvaluateOptions, "tokenizers" | "texts"> & {
  readonly tokenizers: readonly [a: evaluations.NamedTokenizer, b: evaluations.NamedTokenizer];
  readonly text: evaluations.NamedText | null;
};

/** A difference, and the number of characters of its text; 0 without a text. */
export type Comparison = { readonly difference: differences.Difference; readonly characters: number };

/** Compares two tokenizers, and how they cut a text, if there is one. */
export async function compareTokenizers(options: CompareOptions, report: Report): Promise<Comparison> {
  const { tokenizers, text } = options;
  const [a, b] = tokenizers;
  const mergeCount = a.parts.model.merges.left.length + b.parts.model.merges.left.length;
  const comparedBytes = comparedMergeBytes * mergeCount;
  options.budget.check("comparing these tokenizers", comparedBytes, "compare smaller ones");
  const difference = await runSliced(differences.of(a.parts, b.parts));
  if (comparedBytes > garbageBytesMax) host.collectGarbage();
  if (text === null) return { difference: { ...difference, text: null }, characters: 0 };
  const { tokens, merges } = difference;
  const lists = [tokens.onlyInA, tokens.onlyInB, tokens.moved, merges.onlyInA, merges.onlyInB, merges.moved];
  const listedBytes = listedItemBytes * lists.reduce((sum, { length }) => sum + length, 0);
  const budget = options.budget.withReserved(listedBytes);
  const compared = await compareOnText({ ...options, text, budget }, report);
  return { difference: { ...difference, text: compared.text }, characters: compared.characters };
}

/**
 * The bytes that comparing two tokenizers takes for each of their merges. Measured with two tokenizers of 100,000
 * merges.
 */
const comparedMergeBytes = 900;
/** Garbage is collected if comparing tokenizers took more bytes than this. */
const garbageBytesMax = 10e6;

/** The bytes of a token or merge in the lists of a difference. Measured. */
const listedItemBytes = 600;

async function compareOnText(
  { text, ...options }: CompareOptions & { readonly text: evaluations.NamedText },
  report: Report,
): Promise<{ readonly text: differences.TextDifference; readonly characters: number }> {
  const run = { ...options, texts: [text] };
  const threads = startThreads(run);
  try {
    const { words, tokens } = await readText(text, run, startProgress(run, report));
    const tokensOf = async (t: number) => {
      const { pretokens, others } = await tokens.prepare(t);
      const { tokenCounts } = await threads.measure(t, pretokens, null);
      tokens.release(t);
      return evaluations.sumOf(tokenCounts) + evaluations.sumOf(others);
    };
    const [tokensA, tokensB] = [await tokensOf(0), await tokensOf(1)];
    const { wordCount, characterCount } = words;
    const { differentWords, ...listed } = await threads.compare(words);
    return {
      characters: characterCount,
      text: {
        name: text.name,
        inputs: text.paths,
        tokensA,
        tokensB,
        words: wordCount,
        differentWords,
        differentShare: evaluations.ratio(differentWords, wordCount),
        ...listed,
      },
    };
  } finally {
    threads.close();
  }
}

/** The progress of an evaluation, in bytes of all passes through its texts. */
export class EvaluationProgress {
  private doneBytes = 0;

  /** @param totalBytes the bytes of all passes */
  constructor(
    private readonly totalBytes: number,
    private readonly report: Report,
  ) {}

  /** Receives the progress of a pass through a text. */
  readonly passReport: Report = ({ done }: StageProgress) =>
    this.report({ stage: "measuring", done: this.doneBytes + done, total: this.totalBytes, unit: "bytes" });

  /** Ends a pass through this many bytes. */
  endPass(bytes: number): void {
    this.doneBytes += bytes;
  }
}

/** The pattern and the special tokens that cut a text into pretokens. */
type PretokenCuts = readonly [
  pattern: CompiledPattern,
  sources: readonly string[],
  specialTokens: readonly string[],
];

/** Counts the pretokens of a text. `tablesBytes` is the memory that other tables take. */
type CountPretokens = (tablesBytes: number, ...cuts: PretokenCuts) => Promise<WordTable>;

type TokenCountingOptions = {
  readonly tokenizers: readonly evaluations.NamedTokenizer[];
  readonly inputs: readonly Input[];
  readonly workerCount: number;
  readonly words: textWords.TextWords;
  readonly budgetWithTables: (tablesBytes: number) => machine.MemoryBudget;
  readonly count: CountPretokens;
};

/** The tokens of a text: `pretokens` must still be encoded, and `others` are tokens that are already counted. */
export type PreparedTokens = {
  readonly pretokens: WordTable | null;
  readonly others: evaluations.CountsById;
};

/**
 * Counts the tokens of a text for one tokenizer after the other. If possible, distinct pretokens are counted and
 * encoded, not the text. Tokenizers that cut the text alike share a table of pretokens.
 */
export class TokenCounting {
  /**
   * For each key (`keyOf`), a table of pretokens, which is undefined until they are counted, and the number of
   * tokenizers that have not released it yet.
   */
  private readonly counted = new Map<string, { table: WordTable | undefined; usersLeft: number }>();

  private constructor(
    private readonly options: TokenCountingOptions,
    private readonly progress: EvaluationProgress,
    /** The special tokens at which each tokenizer cuts the text; null if it can only encode the text as a whole. */
    private readonly cuts: readonly (SpecialCuts | null)[],
  ) {
    for (const [t, cut] of cuts.entries()) {
      if (cut === null) continue;
      const key = keyOf(options.tokenizers[t]!.parts, cut.tokens);
      const entry = this.counted.get(key);
      if (entry === undefined) this.counted.set(key, { table: undefined, usersLeft: 1 });
      else entry.usersLeft++;
    }
  }

  /** Creates the counting of a text, after finding the special tokens in it. */
  static async begin(options: TokenCountingOptions, progress: EvaluationProgress): Promise<TokenCounting> {
    const { tokenizers, words, inputs } = options;
    const cuts: (SpecialCuts | null)[] = [];
    for (const { parts } of tokenizers) {
      cuts.push(cuttings.canBeCut(parts) ? await specialCutsOf(parts, words) : null);
    }
    const counting = new TokenCounting(options, progress, cuts);
    const parts = tokenizers.map((tokenizer) => tokenizer.parts);
    const passes = counting.counted.size + cuts.filter((cut) => cut === null).length;
    for (let saved = passCount(parts) - passes; saved > 0; saved--) {
      progress.endPass(sizeOf(inputs));
    }
    return counting;
  }

  /** Counts the pretokens of the text for a tokenizer, or encodes the whole text. */
  async prepare(tokenizer: number): Promise<PreparedTokens> {
    const { words, tokenizers } = this.options;
    const { parts } = tokenizers[tokenizer]!;
    const cut = this.cuts[tokenizer]!;
    const wholeText = async () => ({ pretokens: null, others: await this.tokensOfWholeText(parts) });
    // `cut` is null if the bytes alone do not say where to cut the text, so the text is encoded as a whole.
    if (cut === null) return wholeText();
    const pretokens = await this.pretokensOf(parts, cut.tokens);
    const others = new Float64Array(parts.tokens.idLimit);
    const specialBytes = words.textBytes - bytesOf(pretokens);
    if (specialBytes === 0) return { pretokens, others };
    const { tokens, occurrences } = cut;
    if (occurrences === null) return wholeText();
    const foundBytes = tokens.reduce((sum, text, i) => sum + Buffer.byteLength(text) * occurrences[i]!, 0);
    // If the special tokens that were found in the words do not have exactly the bytes that the pretokens leave over,
    // it is not certain how often each of them occurs. So the text is encoded as a whole.
    if (foundBytes !== specialBytes) return wholeText();
    const idOf = new Map(parts.addedTokens.map(({ content, id }) => [content, id]));
    tokens.forEach((text, i) => {
      others[idOf.get(text)!]! += occurrences[i]!;
    });
    return { pretokens, others };
  }

  /** Frees the pretokens of a tokenizer, unless another one still needs them. */
  release(tokenizer: number): void {
    const cut = this.cuts[tokenizer]!;
    if (cut === null) return;
    const key = keyOf(this.options.tokenizers[tokenizer]!.parts, cut.tokens);
    if (--this.counted.get(key)!.usersLeft === 0) this.counted.delete(key);
  }

  /** The memory of all tables of pretokens. */
  private get tablesBytes(): number {
    let byteCount = 0;
    for (const { table } of this.counted.values())
      if (table !== undefined) byteCount += wordTables.bytesOf(wordTables.sizeOf(table));
    return byteCount;
  }

  private async pretokensOf(parts: TokenizerParts, specialTokens: readonly string[]): Promise<WordTable> {
    const entry = this.counted.get(keyOf(parts, specialTokens))!;
    const { patternSources } = parts.description;
    entry.table ??= await runSliced(
      textWords.scatterTable(
        await this.options.count(this.tablesBytes, parts.pattern, patternSources, specialTokens),
      ),
    );
    return entry.table;
  }

  /** Encodes the whole text, and counts the ids. */
  private async tokensOfWholeText(parts: TokenizerParts): Promise<evaluations.CountsById> {
    const { inputs, workerCount, budgetWithTables } = this.options;
    const tell = stageProgress.byBytes(this.progress.passReport, "encoding", null);
    const budget = budgetWithTables(this.tablesBytes);
    const threads = { budget, workerCount: Math.min(workerCount, budget.workerCountMax) };
    const { counts } = await corpusEncoding.countIds({ inputs, parts, ...threads }, ({ bytesDone }) =>
      tell(bytesDone),
    );
    this.progress.endPass(sizeOf(inputs));
    return counts;
  }
}

/** Returns the added tokens at which a text is cut, sorted. This file calls all of them special tokens. */
const specialTokensOf = (parts: TokenizerParts): string[] =>
  [...new Set(cuttings.cuttingTokens(parts))].filter((token) => token !== "").sort();

/**
 * The special tokens at which a text must be cut, and how often each occurs. `occurrences` is null if a token contains
 * whitespace, so that its occurrences are unknown, or if `tokens` is empty.
 */
type SpecialCuts = { readonly tokens: readonly string[]; readonly occurrences: Float64Array | null };

async function specialCutsOf(parts: TokenizerParts, words: textWords.TextWords): Promise<SpecialCuts> {
  const tokens = specialTokensOf(parts);
  // Occurrences are searched for in the words of the text, so a token with whitespace cannot be found.
  if (tokens.some(textWords.holdsWhiteSpace)) return { tokens, occurrences: null };
  const contents = tokens.map((text) => Buffer.from(text));
  const occurrences = await runSliced(textWords.countSpecialTokens(words, contents));
  // If none of them occurs, the text is cut as if there were none.
  return occurrences.some((count) => count > 0) ? { tokens, occurrences } : { tokens: [], occurrences: null };
}

/** Returns a key. Tokenizers with the same key cut texts into the same pretokens. */
const keyOf = (parts: TokenizerParts, specialTokens: readonly string[]) =>
  JSON.stringify([patternDigest(parts.pattern), specialTokens]);

/**
 * Returns how many passes through a text it takes at most to count the tokens of these tokenizers. A tokenizer takes
 * one more pass if the text has to be encoded as a whole after its pretokens were counted.
 */
function passCount(tokenizers: readonly TokenizerParts[]): number {
  const counted = tokenizers.filter((parts) => cuttings.canBeCut(parts));
  const keys = new Set(counted.map((parts) => keyOf(parts, specialTokensOf(parts))));
  return keys.size + tokenizers.length - counted.length;
}

/** Returns the number of bytes of all occurrences of the words. */
function bytesOf({ wordCount, starts, counts }: WordTable): number {
  let byteCount = 0;
  for (let word = 0; word < wordCount; word++)
    byteCount += counts[word]! * (starts[word + 1]! - starts[word]!);
  return byteCount;
}

/** Returns the total size of the inputs in bytes. */
export const sizeOf = (inputs: readonly Input[]) => inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
