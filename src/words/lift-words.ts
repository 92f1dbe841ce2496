import type { Report } from "#jobs";
import type { EncodingModel } from "#tokenizer";
import { addUp } from "./add-up.ts";
import { type CorpusOptions, countParts } from "./count-parts.ts";
import { idBytesOf } from "./lifted-pretokens.ts";
import type { Parts } from "./parts.ts";
import type { RecordWords } from "./word-counter.ts";
import type { TokenWords, TokenWordsSize, WordTable } from "./word-table.ts";

/** The pretokens of a corpus, lifted to sequences of ids and counted, but not added up yet. */
export type LiftedWords = {
  /** How often each id of the model occurs in the pretokens. */
  readonly idCounts: Float64Array;
  /**
   * Whether the counter of the parts (parts.ts) has no words. None are left after merging from the records of
   * `toRecords`, because merging overwrites the words in the same memory.
   */
  readonly isConsumed: boolean;
  /**
   * Converts the words to contiguous word records, in the memory where they were counted. Returns undefined if they are
   * not all in one counter, or if the memory has no room.
   */
  toRecords(): Generator<undefined, RecordWords | undefined>;
  /**
   * Adds up the words into a table. If some words are in files, `check` receives upper bounds of the table's size
   * before the table is allocated, and may throw.
   */
  toTable(check: (size: TokenWordsSize) => void): Generator<undefined, TokenWords>;
};

/**
 * Lifts and counts the pretokens of the corpus. The cache and counts files hold no lifted pretokens, so neither is
 * used.
 */
export async function liftWords(
  options: CorpusOptions,
  liftingModel: EncodingModel,
  report: Report,
): Promise<LiftedWords> {
  const corpus = { ...options, liftingModel, cache: undefined, countsFiles: undefined };
  const { parts, idCounts: countsOfThreads } = await countParts(corpus, report, "lifting");
  const { idLimit } = liftingModel;
  const idBytes = idBytesOf(liftingModel);
  const idCounts = new Float64Array(idLimit);
  for (const counts of countsOfThreads) for (let id = 0; id < idLimit; id++) idCounts[id]! += counts[id]!;
  return {
    idCounts,
    get isConsumed() {
      return parts.counter.words.distinctWordCount === 0;
    },
    *toRecords() {
      return isInOneCounter(parts)
        ? yield* parts.counter.words.convertToRecords(idLimit, idBytes)
        : undefined;
    },
    *toTable(check) {
      const table = yield* addUp(parts, ({ wordCount, byteCount }) =>
        check({ wordCount, positionCount: byteCount / idBytes }),
      );
      return toTokenWords(table, idBytes);
    },
  };
}

const isInOneCounter = ({ slices = [], sources }: Parts) => sources.length === 0 && slices.length === 0;

/** Reinterprets the bytes of the words as ids, in place. */
function toTokenWords({ wordCount, bytes, starts, counts }: WordTable, idBytes: 2 | 4): TokenWords {
  const Ids = idBytes === 2 ? Uint16Array : Uint32Array;
  for (let w = 0; w <= wordCount; w++) starts[w]! /= idBytes;
  const tokens = new Ids(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length / idBytes);
  return { wordCount, tokens, starts, counts };
}
