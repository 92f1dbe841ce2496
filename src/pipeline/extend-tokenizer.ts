import { normalize } from "node:path";
import { UserError } from "../errors.ts";
import { newMergeLines } from "../formats/gpt2.ts";
import { type BaseFiles, readBase } from "../formats/load-tokenizer.ts";
import { sha256Of } from "../formats/output-file.ts";
import { type ExtensionRecord, type FieldsOf, recordedBeside } from "../formats/training-json.ts";
import { tokenLimits } from "../merge/merge-options.ts";
import type { MergeOptions } from "../merge/train-merges.ts";
import type { ResolvedPattern } from "../pattern/pattern.ts";
import { inTurns, nextTurn } from "../runtime/turns.ts";
import { segmentWords } from "../tokenizer/encoding-kernel.ts";
import {
  asLearned,
  checkReachable,
  firstTokens,
  numberExtension,
  padExtension,
  ranksObstacle,
  startTokensOf,
} from "../tokenizer/extend-vocabulary.ts";
import { haveAllBytes } from "../tokenizer/token-table.ts";
import {
  allAddedTokens,
  checkSameTokenizer,
  type Extension,
  type TokenizerParts,
} from "../tokenizer/tokenizer-parts.ts";
import { byteWordsSize } from "../words/word-table.ts";
import {
  type Corpus,
  type Extended,
  type Learner,
  learnPairs,
  mergeRoom,
  mergeThreads,
} from "./learn-merges.ts";
import { loadInWorker } from "./load-in-worker.ts";
import type { Base, Training } from "./training.ts";
import { corpusFacts, type Product, type Result, recordedPattern } from "./write-result.ts";

type Warn = (message: string) => void;

/**
 * The tokenizer that a path names, as a base, and what the record of its training says of it. `pattern` is for files that do
 * not say it. A UserError if it cannot be extended.
 */
export async function openBase(path: string, pattern: ResolvedPattern | undefined, warn: Warn) {
  const loaded = await loadInWorker({ path, options: { pattern }, isDecoded: true });
  for (const note of loaded.notes) warn(note);
  checkBase(loaded);
  await nextTurn();
  const files = await readBase(path);
  for (const { path } of files.sources.slice(1)) {
    checkSameTokenizer(loaded, await loadInWorker({ path, options: {}, isDecoded: false }));
  }
  await nextTurn();
  const recorded = recordedBeside(files.sources.flatMap(({ paths }) => paths));
  return { parts: asLearned(loaded), files, recorded };
}

export type OpenBase = Awaited<ReturnType<typeof openBase>>;

/** A UserError if the base is a tokenizer that cannot be extended. */
export function checkBase({ model, tokens, description }: TokenizerParts): void {
  if (haveAllBytes(model.byteIds, tokens)) return;
  throw new UserError(`"${description.path}" cannot be extended: its vocabulary lacks some bytes`);
}

/** How the merges of a base go on: its tokens keep their ids, new ones come behind them. */
export async function beyondBase(base: Base, training: Training, run: Corpus): Promise<Learner> {
  const { parts } = base;
  const startTokens = await inTurns(startTokensOf(parts));
  const newTokenCounts = newTokenCountsOf(base, training);
  const mergeOptions: MergeOptions = {
    mergeCount: newTokenCounts.at(-1)!,
    ...tokenLimits(training),
    threadCount: mergeThreads(run),
    compat: training.compat,
    ...(base.rule === "extension" && { ties: "smaller characters" }),
    startTokens,
  };
  return {
    check: (size) => mergeRoom(run, byteWordsSize(size), mergeOptions),
    async merge(words, report) {
      // What the base's merges leave of a word is what the new ones begin with.
      const segmented = await inTurns(segmentWords(words, parts.model, parts.tokens));
      const merges = await learnPairs(segmented, mergeOptions, run, report);
      return async () => {
        const all = numberExtension(parts, merges, startTokens.known!);
        const extensions = newTokenCounts.map((count) =>
          padExtension(parts, firstTokens(all, count), training.padTo),
        );
        // Each new token has to come about.
        for (const extension of extensions) await inTurns(checkReachable(parts, extension));
        const tokenCountBefore = weightedLength(segmented.starts, words.counts);
        return {
          extensions,
          pretokenBytes: weightedLength(words.starts, words.counts),
          tokenCountBefore,
          // The merges of each size are the first of all.
          tokenCounts: extensions.map(({ merges: { left } }) =>
            merges.replacedCounts
              .subarray(0, left.length)
              .reduce((sum, count) => sum - count, tokenCountBefore),
          ),
        };
      };
    },
  };
}

/** How many new tokens each size takes, ascending. */
const newTokenCountsOf = ({ parts }: Base, { smallerSizes, vocabSize }: Training) =>
  [...smallerSizes, vocabSize].map((size) => size - parts.tokens.idLimit);

function weightedLength(starts: Uint32Array, counts: Float64Array): number {
  let sum = 0;
  for (let w = 0; w < counts.length; w++) sum += (starts[w + 1]! - starts[w]!) * counts[w]!;
  return sum;
}

/** The extended tokenizers as the kinds of file that their base came as. `warn` is told which of them cannot say one. */
export async function extensionProduct(
  result: Result<Extended>,
  base: Base,
  warn: Warn,
): Promise<Product<FieldsOf<ExtensionRecord>>> {
  const { training, trained } = result;
  const { parts } = base;
  const { extensions } = trained;
  const bytesPerToken = (tokenCount: number) =>
    tokenCount === 0 ? null : trained.pretokenBytes / tokenCount;
  const baseFiles: BaseFiles[] = [];
  for (const extension of extensions) baseFiles.push(await expressible(base, extension, warn));
  const facts = new Map(
    filesIn(base.files).map((file) => {
      const { path, bytes } = file;
      return [file, { path: normalize(path), sizeBytes: bytes.length, sha256: sha256Of([bytes]) }];
    }),
  );
  return {
    sizes: [...training.smallerSizes, training.vocabSize],
    filesOf(index) {
      const { sources, beside } = baseFiles[index]!;
      return [
        ...sources.flatMap(({ code, files }) => code.extend!(files, parts, extensions[index]!)),
        ...beside.map(({ name, bytes }) => ({ name, chunks: () => [bytes] })),
      ];
    },
    fieldsOf(index, sizes) {
      const { idLimit, merges, reservedTokens } = extensions[index]!;
      const special = [...allAddedTokens(parts), ...reservedTokens];
      return {
        base: {
          path: base.path,
          kind: parts.description.kind,
          files: filesIn(baseFiles[index]!).map((file) => facts.get(file)!),
          vocabSize: parts.tokens.idLimit,
          bytesPerToken: bytesPerToken(trained.tokenCountBefore),
        },
        options: {
          vocabSize: idLimit,
          newTokens: newTokenCountsOf(base, training)[index]!,
          ...(sizes && { sizes }),
          specialTokens: special.map(({ content }) => content),
          specialIds: special.map(({ id }) => id),
          normalization: parts.normalization,
          padTo: training.padTo,
          reservedTokens: [...base.reservedTokens, ...reservedTokens.map(({ content }) => content)],
          documentsEndAt: training.specialTokens,
          pattern: recordedPattern(training.pattern),
          compat: base.rule,
          ...tokenLimits(training),
          ...(training.weights && { weights: training.weights }),
          workers: result.workerCount,
        },
        ...corpusFacts(result),
        mergeCount: merges.left.length,
        bytesPerToken: bytesPerToken(trained.tokenCounts[index]!),
      };
    },
    mergesSha256Of: (index) => sha256Of([newMergeLines(parts, extensions[index]!)]),
  };
}

const filesIn = ({ sources, beside }: BaseFiles) => [...sources.flatMap(({ files }) => files), ...beside];

/** The files of the base that can say what was learned; a UserError if none of them can. */
async function expressible({ parts, files }: Base, extension: Extension, warn: Warn): Promise<BaseFiles> {
  const ranks = files.sources.find(({ format }) => format.name === "tiktoken");
  const obstacle = ranks === undefined ? null : await inTurns(ranksObstacle(parts, extension));
  if (obstacle === null) return files;
  if (files.sources.length === 1) {
    throw new UserError(`a file of ranks cannot store the extended tokenizer: ${obstacle}`, {
      hint: "train with fewer new tokens, or extend the same tokenizer as a tokenizer.json",
    });
  }
  warn(`${ranks!.files[0].name} is left out: ${obstacle}`);
  return { ...files, sources: files.sources.filter((source) => source !== ranks) };
}
