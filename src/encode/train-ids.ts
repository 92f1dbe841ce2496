import { outputFiles, type trainingRecords } from "#formats";
import { idMerges, idReaders } from "#ids";
import type { Report } from "#jobs";
import { learning } from "#merge";
import { type machine, UserError, yieldToEventLoop } from "#runtime";
import type { stagedFile } from "#store";
import type { Compat } from "#tokenizer";
import { results } from "#training";
import { wordTables } from "#words";

/** A file of ids. */
export type IdInput = { readonly path: string; readonly sizeBytes: number };

/**
 * The options for learning merges over ids. `maxTokenLength` is a number of symbols, which are the ids in the inputs.
 */
export type TrainIdsOptions = trainingRecords.TokenLimits & {
  readonly inputs: readonly IdInput[];
  /** The type of ids in `.bin` files. */
  readonly binaryType: idReaders.BinaryType;
  /**
   * Returns the number of merges. Called when the size of the alphabet, one more than the largest id, is known.
   */
  readonly mergeCountFor: (alphabetSize: number) => number;
  /** The trainer whose rule for `maxTokenLength` applies. With either trainer, ties go to smaller ids. */
  readonly compat: Exclude<Compat, "cs336">;
  readonly threadCount: number;
  readonly budget: machine.MemoryBudget;
  readonly tellMemory: NonNullable<learning.MergeRun["tellMemory"]>;
};

export type TrainedIds = {
  readonly merges: idMerges.IdMerges;
  /** The number of documents in each input. */
  readonly documentCounts: readonly number[];
  readonly symbolCount: number;
  readonly tokenCount: number;
  readonly countMs: number;
  readonly mergeMs: number;
};

/** Learns merges over ids: each document is a word, and its symbols are start tokens without bytes. */
export async function trainIds(options: TrainIdsOptions, report: Report): Promise<TrainedIds> {
  const { mergeCountFor, compat, threadCount, budget, tellMemory, minFrequency, maxTokenLength } = options;
  const startMs = performance.now();
  const { sequences, documentCounts } = await readAll(options, report);
  if (sequences.count === 0)
    throw new UserError("there is nothing to train on: the input contains no ids", {
      hint: "give files that contain ids; to learn from text, use bpe train",
    });
  const alphabetSize = sequences.idMax + 1;
  const words = wordsOf(sequences, alphabetSize);
  const limits = { mergeCount: mergeCountFor(alphabetSize), minFrequency, maxTokenLength };
  const mergeOptions = { ...limits, threadCount, compat, startTokens: { count: alphabetSize } };
  const run = { workerCount: threadCount, memory: { budget }, tellMemory };
  learning.mergeRoom(run, wordTables.sizeOfWords(words), mergeOptions);
  const readMs = performance.now();
  const merges = await learning.learnPairs(words, mergeOptions, run, report);
  const { left, right, replacedCounts } = merges;
  return {
    merges: { alphabetSize, left, right },
    documentCounts,
    symbolCount: words.tokens.length,
    tokenCount: words.tokens.length - replacedCounts.reduce((sum, count) => sum + count, 0),
    countMs: readMs - startMs,
    mergeMs: performance.now() - readMs,
  };
}

async function readAll({ inputs, binaryType, budget }: TrainIdsOptions, report: Report) {
  const sequences = new idReaders.SequenceList((byteCount) =>
    budget.check("reading ids", byteCount, "train on a part of the corpus"),
  );
  const documentCounts: number[] = [];
  const total = inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let doneBytes = 0;
  for (const { path, sizeBytes } of inputs) {
    const documentsBefore = sequences.documentCount;
    for await (const readBytes of idReaders.readSequences(path, binaryType, sequences)) {
      report({ stage: "counting", done: Math.min(doneBytes + readBytes, total), total, unit: "bytes" });
      await yieldToEventLoop();
    }
    doneBytes += sizeBytes;
    documentCounts.push(sequences.documentCount - documentsBefore);
  }
  return { sequences, documentCounts };
}

function wordsOf(
  { tokens, starts: all, count }: idReaders.SequenceList,
  alphabetSize: number,
): wordTables.TokenWords {
  const ids = tokens.subarray(0, count);
  // Empty documents are not words, so their starts are dropped.
  const starts = all.filter((start, d) => d === 0 || start > all[d - 1]!);
  const wordCount = starts.length - 1;
  return {
    wordCount,
    tokens: alphabetSize > 0x10000 ? ids : Uint16Array.from(ids),
    starts: Uint32Array.from(starts),
    counts: new Float64Array(wordCount).fill(1),
  };
}

type IdsResult = results.Run & {
  readonly trained: TrainedIds;
  readonly inputs: readonly IdInput[];
  readonly options: Omit<trainingRecords.Ids["options"], "alphabetSize" | "vocabSize">;
};

/**
 * Writes `merges.txt` over ids, the record and, unless `charactersObstacle` gives a reason not to, a `tokenizer.json`
 * in which a character represents each symbol.
 */
export async function writeIds(path: string, result: IdsResult, guard: stagedFile.Guard) {
  const { trained, inputs, options } = result;
  const { merges, documentCounts, symbolCount, tokenCount } = trained;
  const { alphabetSize, left } = merges;
  const files: outputFiles.OutputFile[] = [
    { name: "merges.txt", chunks: () => idMerges.idMergesFile(merges) },
  ];
  const obstacle = idMerges.charactersObstacle(merges);
  if (obstacle === null)
    files.push({ name: "tokenizer.json", chunks: () => idMerges.idTokenizerJson(merges) });
  const vocabSize = alphabetSize + left.length;
  const product: results.Product<trainingRecords.FieldsOf<trainingRecords.Ids>> = {
    sizes: [vocabSize],
    filesOf: () => files,
    fieldsOf: () => ({
      options: { ...options, alphabetSize, vocabSize },
      inputs: inputs.map(({ path, sizeBytes }, i) => ({
        path,
        sizeBytes,
        documents: documentCounts[i]!,
        format: "ids",
      })),
      symbolCount,
      tokenCount,
      mergeCount: left.length,
    }),
    mergesSha256Of: () => outputFiles.sha256Of(idMerges.linesOf(merges)),
  };
  return { ...(await results.writeProduct(path, product, result, guard)), obstacle };
}
