import { join } from "node:path";
import { argument } from "#bytes";
import { inputSearch } from "#corpus";
import { tokenizerFiles } from "#formats";
import { warnings } from "#jobs";
import { optionTables, type RequestedTraining, trainingOptions } from "#options";
import { messages, usageError } from "#runtime";
import { outputLock, outputPlaces, placesToWrite, stagedFile, writtenPlaces } from "#store";
import { changes, type TokenizerParts, tokenizers } from "#tokenizer";
import {
  chosenFiles,
  type Finished,
  partsOfTraining,
  results,
  runTraining,
  type SaveOptions,
  type TrainingHost,
  type TrainingStatistics,
  trainedFacts,
} from "#training";
import { openCounts } from "#words";
import { pathArgument } from "./check-arguments.ts";
import { readCall, runCall, spellInLibrary } from "./library.ts";
import { Tokenizer } from "./tokenizer.ts";
import type { TrainTokenizerOptions } from "./train-tokenizer-options.ts";

/**
 * Trains a tokenizer.
 *
 * ```ts
 * const tokenizer = await trainTokenizer({ files: "corpus.txt", vocabSize: 32_000, specialTokens: ["<|endoftext|>"] });
 * await tokenizer.save("tokenizer");
 * ```
 *
 * Rejects with a {@link UserError} for wrong options, for files that cannot be read or written, and for a corpus
 * without text.
 */
export const trainTokenizer = (options: TrainTokenizerOptions): Promise<TrainedTokenizer> =>
  runCall(() => trainHere(options));

async function trainHere(options: TrainTokenizerOptions): Promise<TrainedTokenizer> {
  const asked = readCall(options);
  checkCall(options, asked);
  options.signal?.throwIfAborted();
  const { files = [], texts, wordCounts, signal } = options;
  const command = { command: "trainTokenizer", arguments: [] };
  const given = { files: [files].flat(), texts, wordCounts, signal, command };
  const finished = await runTraining(asked, given, hostOf(options, placesToBeWritten(asked)));
  if (finished === undefined) {
    const sizes = asked.vocabSize!.map(({ count }) => count);
    const path = sizes.length === 1 ? asked.output! : join(asked.output!, String(Math.max(...sizes)));
    return new TrainedTokenizer(await tokenizerFiles.load(path, {}), undefined);
  }
  const { result, product } = finished;
  const { training, trained } = result;
  const isPlain = training.like === null && !("extensions" in trained);
  const parts = isPlain ? partsOfTraining(training, trained.vocabulary) : await partsAsWritten(finished);
  const ended = { ...result, endMs: performance.now() };
  return new TrainedTokenizer(parts, { result: ended, product, formats: await chosenFiles.loadFormats() });
}

/** Returns the host of a training, with whose functions the library reads, locks, writes and reports. */
function hostOf(options: TrainTokenizerOptions, written: writtenPlaces.WrittenPlaces): TrainingHost {
  const { signal, onWarning, onProgress } = options;
  const warn = (warning: warnings.Warning) =>
    onWarning?.(messages.spell(warnings.format(warning), spellInLibrary));
  return {
    warn,
    report(progress) {
      signal?.throwIfAborted();
      onProgress?.(progress);
    },
    guard: stagedFile.noGuard,
    async lock(directory, files) {
      const locks: outputLock.Lock[] = [];
      const unlock = () => {
        for (const lock of locks) lock.release();
      };
      try {
        for (const place of placesToWrite.check(directory, files)) locks.push(outputLock.takeNow(place));
      } catch (error) {
        unlock();
        throw error;
      }
      return unlock;
    },
    find(names, reading) {
      const found = inputSearch.findCorpus(names, reading);
      written.refuseOverlap(found.inputs);
      for (const file of found.skipped)
        warn({ kind: "skipped file", path: file.path, reason: inputSearch.reasonSkipped(file) });
      return found;
    },
    writeFile: (path, chunks) =>
      stagedFile.write(path, stagedFile.noGuard, async (out) => {
        for (const chunk of chunks) out.write(chunk);
      }),
    onLearned: () => signal?.throwIfAborted(),
  };
}

/**
 * Reads the tokenizer back from the files that were made in memory, because with `like` or `extend` only these files
 * have all of its settings.
 */
async function partsAsWritten({ result, product }: Finished): Promise<TokenizerParts> {
  const { training, trained } = result;
  const { base } = training;
  const formats = await chosenFiles.loadFormats();
  const files =
    "extensions" in trained
      ? product.filesOf(product.sizes.length - 1)
      : chosenFiles.selectFiles(
          formats,
          ["huggingface"],
          chosenFiles.finishedTokenizer(training, trained.vocabulary),
        );
  const bytesOf = (name: string) =>
    chosenFiles.fileBytes(files.filter((file) => file.name === name)).get(name)!;
  const [format, names] =
    base === null
      ? [formats.get("huggingface")!, ["tokenizer.json"]]
      : [base.files.sources[0]!.code, base.files.sources[0]!.files.map(({ name }) => name)];
  const read = names.map((name) => ({ name, path: name, bytes: bytesOf(name) }));
  const newSpecials = "extensions" in trained ? changes.newSpecials(trained.extensions.at(-1)!) : [];
  // The files of an extension have the format of its base. If that is not tokenizer.json, they may state neither the
  // pattern nor all special tokens, so both are passed as options.
  const options =
    base === null || names[0]!.endsWith("tokenizer.json")
      ? {}
      : {
          pattern: training.pattern,
          specialTokens: [...tokenizers.allAddedTokens(base.parts), ...newSpecials].map(
            ({ content: text, id }) => ({ text, id }),
          ),
        };
  const parts = format.read([read[0]!, ...read.slice(1)], options);
  return { ...parts, description: { ...parts.description, path: "", kind: "trained in this process" } };
}

/** Returns all places to which the training writes. Refuses outputs that are nested, or that an option also reads. */
function placesToBeWritten(asked: RequestedTraining): writtenPlaces.WrittenPlaces {
  const places = new writtenPlaces.WrittenPlaces(
    Object.entries(trainingOptions).flatMap(([key, option]) => {
      const path = asked[key as keyof RequestedTraining];
      return option.writes === undefined || typeof path !== "string"
        ? []
        : [{ name: `${optionTables.nameInLibrary(key, option)} "${path}"`, path, kind: option.writes }];
    }),
  );
  places.refuseNesting();
  const tokenizers = [asked.like, asked.extend].flatMap((path) =>
    path === undefined ? [] : tokenizerFiles.pathsReadAt(path),
  );
  places.refuseOverlap([...openCounts.pathsOf(asked), ...tokenizers].map((path) => ({ path })));
  return places;
}

/**
 * Checks that there is a corpus if `vocabSize` is given (an extension without it learns nothing), and an output if
 * `ifChanged` is given. The table of options cannot state this.
 */
function checkCall(
  options: TrainTokenizerOptions,
  { output, ifChanged, vocabSize }: RequestedTraining,
): void {
  const { files, texts, languages, counts, wordCounts } = options;
  const sources = [files, texts, languages, counts, wordCounts];
  const isEmpty =
    vocabSize !== undefined &&
    sources.every((source) => source === undefined || (Array.isArray(source) && source.length === 0));
  if (isEmpty) {
    throw usageError(
      "trainTokenizer: there is nothing to train on",
      "give files, texts, languages, counts or wordCounts",
    );
  }
  if (ifChanged && output === undefined)
    throw usageError("ifChanged needs output", "give the directory of the earlier result as output");
}

/** The result of a training. Unless `isUnchanged`, `save` writes it into a directory. */
export class TrainedTokenizer extends Tokenizer {
  /** @internal */
  constructor(
    parts: TokenizerParts,
    private readonly made:
      | (Pick<Finished, "result" | "product"> & { readonly formats: chosenFiles.LoadedFormats })
      | undefined,
  ) {
    super(parts);
  }

  /**
   * Whether nothing was trained because `output` was up to date (`ifChanged`). Then the tokenizer was loaded from
   * `output`.
   */
  get isUnchanged(): boolean {
    return this.made === undefined;
  }

  private get finished() {
    if (this.made !== undefined) return this.made;
    throw usageError(
      "statistics, merges, files and save are not available: output was up to date, so nothing was trained",
      "check isUnchanged first, or leave out ifChanged",
    );
  }

  get statistics(): TrainingStatistics {
    const { trained } = this.finished.result;
    if (!("extensions" in trained)) return trainedFacts.statisticsOf(trained);
    const { pretokenCount: wordCount, distinctWordCount, countMs, mergeMs, pretokenBytes } = trained;
    const mergeCount = trained.extensions.at(-1)!.merges.left.length;
    const sizes = { byteCount: pretokenBytes, tokenCount: trained.tokenCounts.at(-1)! };
    return { wordCount, distinctWordCount, mergeCount, ...sizes, countMs, mergeMs };
  }

  /**
   * The bytes of the two tokens of each merge, in the order in which the merges were learned. For an
   * extension, only the new merges.
   */
  get merges(): [left: Uint8Array<ArrayBuffer>, right: Uint8Array<ArrayBuffer>][] {
    const { trained } = this.finished.result;
    if ("extensions" in trained) {
      const { left, right } = trained.extensions.at(-1)!.merges;
      return Array.from(left, (token, m) => [this.tokenBytes(token), this.tokenBytes(right[m]!)]);
    }
    return trainedFacts.mergeBytes(trained.vocabulary);
  }

  /**
   * Returns the files of the tokenizer by name, as `save` would write them, but without `training.json`:
   * `tokenizer.json`, `vocab.json`, … If there are several sizes, returns the files of the largest.
   */
  files(options: SaveOptions = {}): Map<string, Uint8Array<ArrayBuffer>> {
    const product = this.productFor("files", options);
    return chosenFiles.fileBytes(product.filesOf(product.sizes.length - 1));
  }

  /**
   * Writes the tokenizer's files into a directory, like `bpe train -o`: completely or not at all. The
   * directory may be missing or empty, or the result of an earlier training, which is replaced.
   */
  async save(directory: string, options: SaveOptions = {}): Promise<void> {
    argument.check("save: directory", directory, pathArgument);
    const product = this.productFor("save", options);
    placesToWrite.checkDirectory(directory);
    const lock = outputLock.takeNow(outputPlaces.placeOf(directory));
    try {
      await results.writeProduct(directory, product, this.finished.result);
    } finally {
      lock.release();
    }
  }

  private productFor(call: string, options: SaveOptions): results.AnyProduct {
    const formatNames = chosenFiles.checkFormatNames(call, options);
    const { result, product, formats } = this.finished;
    const { trained } = result;
    if (!("extensions" in trained)) return results.productOf({ ...result, trained, formatNames }, formats);
    if (formatNames === undefined) return product;
    throw usageError(
      `${call}: formats cannot be chosen for an extended tokenizer, which is always written in the formats of its base`,
      "leave out formats",
    );
  }
}
