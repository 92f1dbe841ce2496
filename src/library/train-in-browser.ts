import { argument, describeValue, schema, utf8 } from "#bytes";
import { checkPlainText, type Texts } from "#corpus";
import { tokensTsvFiles } from "#formats";
import { Pace, type Report, stageProgress, warnings } from "#jobs";
import { learning } from "#merge";
import { optionTables } from "#options";
import { messages, runSliced, UserError, usageError } from "#runtime";
import { TextChain } from "#text";
import { tokenCounting, vocabularies } from "#tokenizer";
import {
  chosenFiles,
  partsOfTraining,
  type SaveOptions,
  type TrainingStatistics,
  trainedFacts,
  trainings,
} from "#training";
import { WordCounter, type WordTable, wordTables } from "#words";
import { callOptions, parameterOf, readCall, runCall, spellInLibrary } from "./library.ts";
import { TextTokenizer } from "./text-tokenizer.ts";
import type { TrainTokenizerOptions } from "./train-tokenizer-options.ts";

/** The options that also exist in a browser, besides `vocabSize`. */
const optionNames = [
  "texts",
  "specialTokens",
  "specialTokensFirst",
  "pattern",
  "normalize",
  "compat",
  "minFrequency",
  "maxTokenLength",
  "wholeCharacters",
  "seedTokens",
  "wholeTexts",
  "specialTokensAsText",
  "padTo",
  "model",
  "signal",
  "onProgress",
  "onWarning",
] as const;

/** The corpus and options for training in a browser: `files`, or `texts`, or both. */
export type BrowserTrainingOptions = Pick<TrainTokenizerOptions, (typeof optionNames)[number]> & {
  /** Text files from a page (`input.files`). Files that are not plain text are refused. */
  readonly files?: Blob | ArrayLike<Blob> | Iterable<Blob> | null | undefined;
  /** 256 bytes + special tokens + merges. */
  readonly vocabSize: number;
};

/**
 * Trains a tokenizer in this thread. Its merges and ids are those that `bpe train` makes. The call yields to the event
 * loop about every ten milliseconds, so it may run in a page; in a worker, it disturbs the page less.
 *
 * ```ts
 * const tokenizer = await trainTokenizer({ files: input.files, vocabSize: 8_000, onProgress: console.log });
 * const json = tokenizer.files().get("tokenizer.json");
 * ```
 */
export const trainTokenizer = (options: BrowserTrainingOptions): Promise<TrainedTokenizer> =>
  runCall(() => trainHere(options), spellInBrowser);

/** Names options as the library does. `has` is true only for the options that exist in a browser. */
const spellInBrowser: messages.Spelling = /* @__PURE__ */ Object.assign(
  (option: messages.NamedOption) => spellInLibrary(option),
  { has: (option: string) => optionNames.some((name) => name === parameterOf(option)?.split(".")[0]) },
);

async function trainHere(options: BrowserTrainingOptions): Promise<TrainedTokenizer> {
  argument.check("trainTokenizer: options", options, argument.plainObject);
  const { files: given, ...others } = options;
  if (given != null && typeof given !== "object")
    throw usageError(
      `trainTokenizer: files ${schema.describeMismatch(given, "a File, a Blob, or a list of them")}`,
    );
  const files = given == null ? [] : isBlob(given) ? [given] : Array.from(given);
  const training = readOptions(others, files);
  const { texts, signal, onProgress, onWarning } = others;
  signal?.throwIfAborted();
  for (const file of files) await checkFile(file);
  const isAllKnown = texts === undefined || Array.isArray(texts);
  const encoder = new TextEncoder();
  const bytesOfTexts = Array.isArray(texts)
    ? texts.reduce((sum, text) => sum + (typeof text === "string" ? encoder.encode(text).length : 0), 0)
    : 0;
  const byteCount = files.reduce((sum, { size }) => sum + size, bytesOfTexts);
  const trained = await trainInMemory(
    training,
    piecesOf(files, texts),
    isAllKnown ? byteCount : null,
    (progress) => {
      signal?.throwIfAborted();
      onProgress?.(progress);
    },
  );
  for (const warning of warningsOf(training, trained))
    onWarning?.(messages.spell(warnings.format(warning), spellInBrowser));
  return new TrainedTokenizer(training, trained, await chosenFiles.loadFormats());
}

/** Checks the options as `trainTokenizer` of Bun and Node does, and refuses those that a browser lacks. */
function readOptions(
  options: Omit<BrowserTrainingOptions, "files">,
  files: readonly Blob[],
): trainings.Training {
  const call = "trainTokenizer";
  const absent = Object.keys(options).find(
    (name) =>
      options[name as "texts"] !== undefined &&
      name !== "vocabSize" &&
      !(optionNames as readonly string[]).includes(name) &&
      Object.entries(callOptions).some(
        (named) => optionTables.nameInLibrary(...named)?.split(/[.:]/)[0] === name,
      ),
  );
  if (absent !== undefined)
    throw usageError(
      `${call}: ${absent} is not available in a browser`,
      `leave out ${absent}; in a browser, the options are files, vocabSize, ${optionNames.join(", ")}`,
    );
  const wrong = files.find((file) => !isBlob(file));
  if (wrong !== undefined)
    throw usageError(
      `${call}: files contains ${describeValue(wrong)}, but in a browser must contain only File or Blob objects`,
    );
  if (typeof options.vocabSize !== "number" && options.vocabSize !== undefined)
    throw usageError(`${call}: vocabSize ${schema.describeMismatch(options.vocabSize, "a whole number")}`);
  const asked = readCall(options);
  if (files.length === 0 && options.texts === undefined)
    throw usageError(`${call}: there is nothing to train on`, "give files or texts");
  return trainings.settle(asked, {});
}

/**
 * Throws an error for a file that is compressed, or that `bpe train` would not read as plain text. If its bytes were
 * counted as text, the tokenizer would differ from that of `bpe train`.
 */
async function checkFile(file: Blob): Promise<void> {
  const name = nameOf(file);
  await checkPlainText(
    name,
    file.size,
    async (byteCount) => new Uint8Array(await file.slice(0, byteCount).arrayBuffer()),
    messages.ifHas(
      "texts",
      "read the file in your own code, and pass its texts as the option `texts`",
      "choose files of plain text",
    ),
  );
}

/** Whether a value is a Blob or a File, of any realm. */
const isBlob = (value: unknown): value is Blob =>
  /^\[object (Blob|File)\]$/.test(Object.prototype.toString.call(value)) &&
  typeof (value as Blob).stream === "function";

const nameOf = (file: Blob) => (file as Blob & { readonly name?: string }).name ?? "file";

/** Yields the content of the files, one after the other, and then the texts. */
async function* piecesOf(files: readonly Blob[], texts: Texts = []): TextPieces {
  for (const file of files) {
    const reader = file.stream().getReader();
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
    } finally {
      await reader.cancel();
    }
    yield null;
  }
  const encoder = new TextEncoder();
  let textCount = 0;
  for await (const text of texts) {
    const name = `trainTokenizer: texts[${textCount++}]`;
    if (typeof text !== "string") throw new UserError(`${name} ${schema.describeMismatch(text, "a string")}`);
    for (let start = 0; start < text.length; ) {
      const end = utf8.skipSplitPair(text, start + TextChain.pushedBytes);
      yield encoder.encode(text.slice(start, end));
      start = end;
    }
    yield null;
  }
}

function warningsOf(
  training: trainings.Training,
  { vocabulary, invalidByteCount }: TrainedInMemory,
): warnings.Warning[] {
  const { size, reservedCount } = vocabulary;
  const leastSize = vocabularies.baseSize(training.specialTokens, training.compat);
  return [
    ...warnings.invalidBytes({ count: invalidByteCount, became: "was counted as a pretoken of its own" }),
    ...vocabularies.describeSharedIds(vocabulary).map((message) => ({ kind: "note" as const, message })),
    ...warnings.earlyStop(size - reservedCount - leastSize, training.vocabSize - leastSize, "merges"),
  ];
}

/** Texts as they arrive: pieces of bytes, and `null` after the last piece of each text. */
type TextPieces = AsyncIterable<Uint8Array | null>;

type TrainedInMemory = Omit<learning.TrainedVocabulary, "statistics" | "languages"> & {
  readonly words: WordTable;
  readonly invalidByteCount: number;
};

/** Trains in this thread on texts that are read once. Yields to the event loop between slices of work. */
async function trainInMemory(
  training: trainings.Training,
  texts: TextPieces,
  byteCount: number | null,
  reportGiven: Report,
): Promise<TrainedInMemory> {
  const startMs = performance.now();
  const first = { stage: "counting", done: 0, total: byteCount, unit: "bytes" } as const;
  const { report, rest } = stageProgress.repeat(reportGiven, first);
  const counter = new WordCounter(byteCount ?? undefined);
  const chain = new TextChain(trainings.cuttingOf(training), counter);
  await countTexts(texts, chain, (doneBytes) =>
    stageProgress.byBytes(report, "counting", byteCount)(doneBytes, counter.distinctWordCount),
  );
  const { pretokenCount, distinctWordCount } = counter;
  if (pretokenCount === 0)
    throw new UserError("there is nothing to train on: the texts contain no words", {
      hint: "give files or texts that are not empty",
    });
  const words = await runSliced(counter.listWords(), rest);
  const countedMs = performance.now();
  const { specialTokens, specialTokensFirst, compat, padTo, vocabSize } = training;
  const alone = { workerCount: 1 };
  const options = learning.mergeOptionsOf(training, vocabSize, alone);
  const merges = await learning.learnPairs(wordTables.byteWords(words), options, alone, report);
  const mergedMs = performance.now();
  return {
    vocabulary: vocabularies.build({
      ...{ merges, specialTokens, specialTokensFirst, compat, padTo },
      laterTokens: [],
    }),
    smaller: [],
    superwordFacts: undefined,
    tokenCounts: tokenCounting.make(merges),
    ...{ words, pretokenCount, distinctWordCount },
    invalidByteCount: chain.pretokens.invalidByteCount,
    countMs: countedMs - startMs,
    mergeMs: mergedMs - countedMs,
  };
}

async function countTexts(
  texts: TextPieces,
  chain: TextChain,
  report: (doneBytes: number) => void,
): Promise<void> {
  let doneBytes = 0;
  const pace = new Pace();
  const turn = async () => {
    report(doneBytes);
    await pace.turn();
  };
  for await (const piece of texts) {
    if (piece === null) chain.end();
    for (let pos = 0; piece !== null && pos < piece.length; pos += TextChain.pushedBytes) {
      const end = Math.min(piece.length, pos + TextChain.pushedBytes);
      chain.push(piece, pos, end);
      doneBytes += end - pos;
      if (pace.isDue) await turn();
    }
    if (pace.isDue) await turn();
  }
  report(doneBytes);
}

/** A newly trained tokenizer, which is in memory. */
export class TrainedTokenizer extends TextTokenizer {
  /** @internal */
  constructor(
    /** @internal */
    readonly training: trainings.Training,
    /** @internal */
    readonly trained: TrainedInMemory,
    private readonly formats: chosenFiles.LoadedFormats,
  ) {
    super(partsOfTraining(training, trained.vocabulary));
  }

  get statistics(): TrainingStatistics {
    return trainedFacts.statisticsOf(this.trained);
  }

  /** The bytes of the two tokens of each merge, in the order in which the merges were learned. */
  get merges(): [left: Uint8Array<ArrayBuffer>, right: Uint8Array<ArrayBuffer>][] {
    return trainedFacts.mergeBytes(this.trained.vocabulary);
  }

  /**
   * Returns the files of the tokenizer by name, as `bpe train -o` writes them, but without `training.json`:
   * `tokenizer.json`, `vocab.json`, …
   */
  files(options: SaveOptions = {}): Map<string, Uint8Array<ArrayBuffer>> {
    const names = chosenFiles.checkFormatNames("files", options);
    const { vocabulary, tokenCounts } = this.trained;
    return chosenFiles.fileBytes([
      ...chosenFiles.selectFiles(
        this.formats,
        names,
        chosenFiles.finishedTokenizer(this.training, vocabulary),
      ),
      ...tokensTsvFiles(names === undefined ? undefined : false, vocabulary, tokenCounts),
    ]);
  }
}
