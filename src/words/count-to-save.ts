import type { Report } from "#jobs";
import type { ByteSink, machine } from "#runtime";
import {
  type CorpusOptions,
  type CountedWords,
  checkNotEmpty,
  countParts,
  type KeepRest,
} from "./count-parts.ts";
import { countWords } from "./count-words.ts";
import { isText } from "./counts-file-reader.ts";
import { countsChunks } from "./counts-files.ts";
import type { CountsOptions } from "./counts-format.ts";
import { sortBytesPerWord } from "./sort-by-bytes.ts";
import * as sortedWords from "./sorted-words.ts";
import { type SavedSum, writeSum } from "./sum-of-parts.ts";
import * as wordTables from "./word-table.ts";

type SaveOptions = {
  /** The paths of the files; "-" is standard output. */
  readonly places: readonly string[];
  readonly countsOptions: CountsOptions;
  /** Words that occur fewer times are left out. */
  readonly minCount: number;
  readonly budget: machine.MemoryBudget;
};

type CountedToSave = Pick<CountedWords, "statistics"> &
  KeepRest &
  (
    | {
        /** Writes the counts of the only place, word by word. */
        readonly stream: (out: ByteSink) => Generator<undefined, SavedSum>;
      }
    | {
        readonly stream?: undefined;
        readonly saved: SavedSum;
        /** Returns the content of the file at a place. */
        readonly chunks: (place: string) => Iterable<Uint8Array>;
      }
  );

/**
 * Counts the words of a corpus to save them. Without a cache, a single compact file is written word by word. A cache,
 * text (a .tsv file or standard output) or several files need a table of all words.
 */
export async function countToSave(
  corpus: CorpusOptions,
  { places, countsOptions, minCount, budget }: SaveOptions,
  report: Report,
): Promise<CountedToSave> {
  if (places.length === 1 && !isText(places[0]!) && corpus.cache === undefined) {
    const { parts, statistics } = await countParts(corpus, report);
    checkNotEmpty(corpus, statistics);
    return { statistics, stream: (out) => writeSum(parts, out, countsOptions, minCount) };
  }
  const counted = await countWords(corpus, report, sortingFits(budget));
  const { statistics, keepRest } = counted;
  const leftOut = sortedWords.noWordsLeftOut();
  const words = minCount > 1 ? sortedWords.commonWordsOf(counted.words, minCount, leftOut) : counted.words;
  return {
    statistics,
    ...(keepRest && { keepRest }),
    saved: { totals: wordTables.totalsOf(words), leftOut },
    chunks: (place) => countsChunks(place, words, countsOptions),
  };
}

function sortingFits(budget: machine.MemoryBudget): (size: wordTables.Size) => void {
  return (size) => {
    const neededBytes = wordTables.bytesOf(size) + sortBytesPerWord * size.wordCount;
    const remedy = "write one file with a name that does not end in .tsv: its compact form needs no sorting";
    budget.check("sorting all words by their counts", neededBytes, remedy);
  };
}
