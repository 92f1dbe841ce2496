import { UserError } from "../errors.ts";
import { inTurns, nextTurn } from "../runtime/turns.ts";
import { pushedBytes, TextChain } from "../text/text-chain.ts";
import { makeLedger } from "../vocabulary/ledger.ts";
import { buildVocabulary } from "../vocabulary/vocabulary.ts";
import { WordCounter } from "../words/word-counter.ts";
import { byteWords, type WordTable } from "../words/word-table.ts";
import { learnPairs, mergeOptionsOf, type TrainedVocabulary } from "./learn-merges.ts";
import { byBytes, type Report } from "./stage-progress.ts";
import { cuttingOf, type Training } from "./training.ts";

/** Texts as they come: pieces of bytes, and `null` behind the last piece of each text. */
export type TextPieces = AsyncIterable<Uint8Array | null>;

export type TrainedInMemory = Omit<TrainedVocabulary, "statistics" | "languages"> & {
  readonly words: WordTable;
  readonly invalidByteCount: number;
};

/**
 * Trains in this thread, on texts that somebody hands over: without files, other threads, caches and a second look at the
 * text. The merges are those of `train` for the same texts, with the same kernel. The event loop turns between slices of
 * work, so messages are served and `report` may throw to end it.
 */
export async function trainInMemory(
  training: Training,
  texts: TextPieces,
  byteCount: number | null,
  report: Report,
): Promise<TrainedInMemory> {
  const startMs = performance.now();
  const counter = new WordCounter(byteCount ?? undefined);
  const chain = new TextChain(cuttingOf(training), counter);
  await countTexts(texts, chain, (doneBytes) =>
    byBytes(report, "counting", byteCount)(doneBytes, counter.distinctWordCount),
  );
  const { pretokenCount, distinctWordCount } = counter;
  if (pretokenCount === 0) throw new UserError("there is nothing to train on: the texts are empty");
  const words = await inTurns(counter.listWords());
  const countedMs = performance.now();
  const { specialTokens, compat, padTo, vocabSize } = training;
  const alone = { workerCount: 1 };
  const options = mergeOptionsOf(training, vocabSize, alone);
  const merges = await learnPairs(byteWords(words), options, alone, report);
  const mergedMs = performance.now();
  return {
    vocabulary: buildVocabulary({ merges, specialTokens, laterTokens: [], compat, padTo }),
    smaller: [],
    superwordFacts: undefined,
    ledger: makeLedger(merges),
    ...{ words, pretokenCount, distinctWordCount },
    invalidByteCount: chain.pretokens.invalidByteCount,
    countMs: countedMs - startMs,
    mergeMs: mergedMs - countedMs,
  };
}

/** Counts all texts. Many short ones share a slice. */
async function countTexts(
  texts: TextPieces,
  chain: TextChain,
  report: (doneBytes: number) => void,
): Promise<void> {
  let [doneBytes, reportedBytes] = [0, 0];
  for await (const piece of texts) {
    if (piece === null) chain.end();
    for (let pos = 0; piece !== null && pos < piece.length; pos += pushedBytes) {
      const end = Math.min(piece.length, pos + pushedBytes);
      chain.push(piece, pos, end);
      doneBytes += end - pos;
      if (doneBytes - reportedBytes < pushedBytes) continue;
      reportedBytes = doneBytes;
      report(doneBytes);
      await nextTurn();
    }
  }
  report(doneBytes);
}
