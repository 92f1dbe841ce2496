import { excerpts } from "#evaluation";
import { rankFiles } from "#formats";
import { jobs, type StageProgress } from "#jobs";
import { partsOfJson, type TrainedTokenizer, trainTokenizer } from "#library";
import { compiledPatterns } from "#pattern";
import { type messages, UserError } from "#runtime";
import { type Compat, TextEncoding, type TokenizerParts, tokenTables, type WordMerger } from "#tokenizer";
import { type TrainingStatistics, trainings } from "#training";
import { countsByScript, type ScriptCounts } from "./cut-comparison.ts";
import { type Exercise, exercisesOf, type Question } from "./exercise-list.ts";
import { type JoinedText, joinWords, mergerOf, TextJoiner } from "./joined-text.ts";
import { type Learned, wordsWith } from "./learned.ts";
import {
  countOfPair,
  countPairs,
  type JoinedWords,
  pairsWithCount,
  type RankedPair,
  topPairs,
} from "./pair-ranking.ts";
import { type Parting, partingOf, type RuleResult, sameMerges } from "./rule-parting.ts";

/** The settings of a training, as the page sends them. */
export type Settings = {
  readonly vocabSize: number;
  readonly pattern: string;
  readonly specialTokens: readonly string[];
  readonly compat: Compat;
};

/** The corpus: the text, followed by the files. */
export type Corpus = { readonly text: string; readonly files: readonly Blob[] };

export type TrainAnswer = {
  readonly learned: Learned;
  readonly statistics: TrainingStatistics;
  readonly warnings: readonly string[];
  /** The beginning of the corpus, cut into tokens. */
  readonly head: JoinedText;
};

export type RuleAnswer = {
  readonly parting: Parting | null;
  /** For any two of the rules, how many merges, from the first on, are the same. */
  readonly same: readonly { readonly rules: readonly [Compat, Compat]; readonly merges: number }[];
  readonly mergeCounts: readonly { readonly rule: Compat; readonly count: number }[];
  /** The rules that cannot be used with the settings, each with the reason: for example, an unsupported pattern. */
  readonly refused: readonly { readonly rule: Compat; readonly reason: string }[];
};

export type CompareRequest = {
  readonly file: Blob;
  readonly name: string;
  /** The pattern for a rank file, which does not contain one. If it is empty, a rank file must be a published one. */
  readonly pattern: string;
  readonly text: Uint8Array;
};

/** How two tokenizers cut a text, or why they cannot be compared. */
export type CompareAnswer =
  | { readonly refusal: string }
  | {
      readonly kind: string;
      /** The passages that differ most. */
      readonly excerpts: readonly excerpts.Excerpt[];
      readonly scripts: readonly ScriptCounts[];
    };

const shownBytesMax = 20_000;
export const rules = ["huggingface", "rustbpe", "cs336"] as const;

/**
 * The job of a worker of the page: trains once, then answers questions about the result. A temporary worker only trains
 * by all rules, to compare them (`rules`).
 */
export class PlaygroundJob {
  private tokenizer: TrainedTokenizer | undefined;
  private merger: WordMerger | undefined;
  private joiner: TextJoiner | undefined;
  private joined: JoinedWords | undefined;
  private asked: readonly Exercise[] = [];

  constructor(private readonly tell: jobs.Tell<StageProgress>) {}

  async train({ corpus, settings }: { corpus: Corpus; settings: Settings }): Promise<TrainAnswer> {
    const warnings: string[] = [];
    const tokenizer = await trainOn(corpus, settings, {
      onProgress: (progress) => this.tell(progress),
      onWarning: (warning) => warnings.push(warning),
    });
    this.tokenizer = tokenizer;
    this.merger = mergerFor(tokenizer);
    this.joiner = new TextJoiner(trainings.cuttingOf(tokenizer.training), this.merger);
    const head = await headOf(corpus);
    const { statistics } = tokenizer;
    return { learned: learnedBy(tokenizer), statistics, warnings, head: this.cut(head) };
  }

  /**
   * The words of the corpus, and the merges that join the bytes of each. These merges are found on first use, so that
   * the page shows the result of the training earlier.
   */
  private get words(): JoinedWords {
    this.joined ??= wordsOf(this.tokenizer!, this.merger!);
    return this.joined;
  }

  /** Returns the text as training cuts it. */
  cut(text: Uint8Array): JoinedText {
    return this.joiner!.join(wholeCharacters(text));
  }

  /** Returns the most frequent pairs after some merges: the pair that is merged next, if any, then the runners-up. */
  pairs({ merges, most }: { merges: number; most: number }): { top: RankedPair[]; tiedCount: number } {
    const { left, right } = this.tokenizer!.trained.vocabulary;
    const counts = countPairs(this.words, merges);
    const isNext = (pair: RankedPair) => pair.left === left[merges] && pair.right === right[merges];
    const others = topPairs(counts, most + 1).filter((pair) => !isNext(pair));
    const next = { left: left[merges]!, right: right[merges]!, count: 0 };
    if (merges === left.length) return { top: others.slice(0, most), tiedCount: 0 };
    next.count = countOfPair(counts, next.left, next.right);
    return { top: [next, ...others].slice(0, most), tiedCount: pairsWithCount(counts, next.count) };
  }

  wordsWith({ token, most }: { token: number; most: number }) {
    return wordsWith(this.words, token, most);
  }

  /** Returns the exercises on a text. Answers stay in the worker until requested. */
  exercises(text: string): Question[] {
    const { pattern } = trainings.cuttingOf(this.tokenizer!.training);
    this.asked = exercisesOf(text, pattern);
    return this.asked.map(({ id, title, question, given }) => ({ id, title, question, given }));
  }

  /** Returns null if the answer is right, otherwise what is wrong. */
  check({ id, typed }: { id: string; typed: string }): string | null {
    return this.exercise(id).check(typed);
  }

  answer(id: string): string {
    return this.exercise(id).answer;
  }

  private exercise(id: string): Exercise {
    return this.asked.find((exercise) => exercise.id === id)!;
  }

  files(): [name: string, bytes: Uint8Array][] {
    return [...this.tokenizer!.files()];
  }

  async rules({ corpus, settings }: { corpus: Corpus; settings: Settings }): Promise<RuleAnswer> {
    const results: RuleResult[] = [];
    const refused: { rule: Compat; reason: string }[] = [];
    for (const rule of rules) {
      try {
        const trained = await trainOn(corpus, { ...settings, compat: rule }, { onProgress: this.tell });
        results.push({ rule, learned: learnedBy(trained), words: wordsOf(trained, mergerFor(trained)) });
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        refused.push({ rule, reason: error.message });
      }
    }
    const [first, ...others] = results;
    const same = results.flatMap((a, i) =>
      results.slice(i + 1).map((b) => {
        return { rules: [a.rule, b.rule] as const, merges: sameMerges(a.learned, b.learned) };
      }),
    );
    return {
      parting: first === undefined || others.length === 0 ? null : partingOf([first, ...others]),
      mergeCounts: results.map(({ rule, learned }) => ({ rule, count: learned.left.length })),
      ...{ same, refused },
    };
  }

  async compare({ file, name, pattern, text }: CompareRequest): Promise<CompareAnswer> {
    try {
      const other = await partsOfFile(new Uint8Array(await file.arrayBuffer()), name, pattern);
      const left = tokensOf(this.tokenizer!.parts, text);
      const right = tokensOf(other, text);
      const texts = [{ name: "Where they cut most differently", cuts: [left, right] }];
      return {
        kind: other.description.kind,
        excerpts: excerpts.select(texts),
        scripts: countsByScript(text, left, right),
      };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const { message, hint = "choose a tokenizer.json or a rank file (.tiktoken)" } =
        error.spelled(spellInPage);
      return { refusal: `${message}. ${hint}` };
    }
  }
}

/** The fields of the page, by the options that they set. */
const fields: Readonly<Record<string, string>> = {
  "vocab-size": "size of the vocabulary",
  pattern: "pattern",
  "special-token": "special tokens",
  compat: "trainer's rule",
};

/** Names options as the labels of the page do. */
const spellInPage: messages.Spelling = Object.assign(
  ({ option, value }: messages.NamedOption) =>
    `${fields[option] ?? option}${value === undefined ? "" : ` ${value}`}`,
  { has: (option: string) => option in fields },
);

async function trainOn(
  { text, files }: Corpus,
  settings: Settings,
  told: { onProgress: (progress: StageProgress) => void; onWarning?: (warning: string) => void },
): Promise<TrainedTokenizer> {
  if (text === "" && files.length === 0)
    throw new UserError("there is no text", { hint: "enter a text, or choose files" });
  if (!Number.isSafeInteger(settings.vocabSize) || settings.vocabSize < 1)
    throw new UserError("the size of the vocabulary must be a whole number, at least 256");
  const pasted = text === "" ? [] : [new Blob([text])];
  try {
    return await trainTokenizer({ ...settings, ...told, files: [...pasted, ...files] });
  } catch (error) {
    throw UserError.respell(error, spellInPage);
  }
}

function learnedBy({ trained: { vocabulary, tokenCounts } }: TrainedTokenizer): Learned {
  const { left, right, tokenIds: ids, specialTokens, specialIds } = vocabulary;
  const { createdCounts, endCounts, pairCounts, tokensAfter } = tokenCounts;
  return {
    ...{ left, right, ids, specialTokens, specialIds },
    ...{ createdCounts, endCounts, pairCounts, tokensAfter },
  };
}

const mergerFor = ({ trained: { vocabulary } }: TrainedTokenizer) =>
  mergerOf(vocabulary.left, vocabulary.right);

function wordsOf({ trained: { words } }: TrainedTokenizer, merger: WordMerger): JoinedWords {
  const { starts, counts } = words;
  return { ...joinWords(words, merger), starts, counts };
}

async function headOf({ text, files }: Corpus): Promise<Uint8Array> {
  const all = new Blob([text, ...files]);
  return new Uint8Array(await all.slice(0, shownBytesMax).arrayBuffer());
}

/** Removes an incomplete character at the end. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > bytes.length - 4 && end > 0 && (bytes[end - 1]! & 0xc0) === 0x80) end--;
  const lead = bytes[end - 1] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return end - 1 + length > bytes.length ? bytes.subarray(0, end - 1) : bytes;
}

/** Reads a tokenizer from the bytes of a tokenizer.json or of a rank file. */
async function partsOfFile(
  bytes: Uint8Array<ArrayBuffer>,
  name: string,
  pattern: string,
): Promise<TokenizerParts> {
  if (bytes.length === 0) throw new UserError(`"${name}" is empty`);
  if (/^\s*\{/.test(String.fromCharCode(...bytes.subarray(0, 100)))) return partsOfJson(bytes, name);
  if (pattern !== "") return rankFiles.partsOf(bytes, name, { pattern: compiledPatterns.resolve(pattern) });
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const known = rankFiles.findKnownBySum(
    Array.from(sum, (byte) => byte.toString(16).padStart(2, "0")).join(""),
  );
  if (rankFiles.scan(bytes) !== null && known === undefined)
    throw new UserError(`"${name}" is a rank file, and rank files do not contain a pattern`, {
      hint: "choose the pattern that it was trained with: bpe knows only the patterns of published rank files",
    });
  return rankFiles.partsOf(bytes, name, {}, known);
}

function tokensOf(parts: TokenizerParts, text: Uint8Array): excerpts.SampleToken[] {
  const encoding = new TextEncoding(parts);
  encoding.pushText(text, 0, text.length);
  const tokens = Array.from(encoding.out.flush(), (id) => ({
    id,
    bytes: tokenTables.bytesOf(parts.tokens, id),
  }));
  if (tokens.reduce((sum, { bytes }) => sum + bytes.length, 0) === text.length) return tokens;
  throw new UserError(
    "this tokenizer changes the text before splitting it, so its tokens cannot be compared",
    { hint: "choose another tokenizer, or another text" },
  );
}

/** Serves the page from a worker: answers its messages. */
export function servePlayground(scope: {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  onmessage: ((event: { data: never }) => void) | null;
}): void {
  const serve = jobs.serve<StageProgress>(
    (tell) => new PlaygroundJob(tell),
    (message, transfer = []) => scope.postMessage(message, transfer),
  );
  scope.onmessage = ({ data }) => serve(data);
}
