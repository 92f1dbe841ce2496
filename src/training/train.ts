import { corpusInputs, type Input } from "#corpus";
import { type Report, stageProgress } from "#jobs";
import { learnFromBytes, type learning } from "#merge";
import { UserError } from "#runtime";
import { countWords, type WordTable, wordTables } from "#words";
import { checkParity } from "./parity.ts";
import { type Base, cuttingOf, type Training } from "./training.ts";

/** The corpus, and the receivers of the results. */
type TrainRun<B extends Base | null> = learning.Corpus & {
  /** Called with the words before the merges are learned. */
  readonly saveWords?: (words: WordTable) => Promise<void>;
  /** Writes the result. */
  readonly write?: (trained: TrainedOf<B>) => Promise<void>;
};

type TrainedOf<B extends Base | null> = B extends null ? learning.TrainedVocabulary : learning.Extended;

/** Trains a tokenizer on a corpus. Yields to the event loop between slices of work. */
export async function train<B extends Base | null>(
  training: Training<B>,
  given: TrainRun<B>,
  reportGiven: Report,
): Promise<TrainedOf<B>> {
  const total = given.inputs.length === 0 ? null : corpusInputs.totalBytesOf(given.inputs, given.ranges);
  const { report, rest } = stageProgress.repeat(reportGiven, {
    stage: "counting",
    done: 0,
    total,
    unit: "bytes",
  });
  const run = { ...given, rest };
  const { base, superwords, weights, parity } = training;
  if (superwords) checkReadTwice(run.inputs);
  if (parity && run.languages) checkParity(parity, run.languages);
  const startMs = performance.now();
  // Few trainings need the code for a base.
  const { check, merge } =
    base === null
      ? learnFromBytes(training, run)
      : await (await import("#merge/learn-beyond-base")).learnBeyondBase(base, training, run);

  // 1. Read the corpus, cut it into pretokens, and count each distinct one.
  const corpus = { ...run, cutting: cuttingOf(training) };
  const counted =
    weights === undefined && run.languages === undefined
      ? { tables: undefined, languages: undefined, ...(await countWords(corpus, report, check)) }
      : await (await import("#words/count-groups")).countGroups(corpus, weights ?? [], report, check);
  const { words, pretokenCount, statistics, keepRest } = counted;
  if (run.inputs.length === 0 && pretokenCount === 0 && base?.learns !== false) throw noWords();
  check(wordTables.sizeOf(words));
  await run.saveWords?.(words);
  // From here on the words must not change, because step 5 puts them into the cache.
  const countedMs = performance.now();

  // 2. Merge, some ten thousand times: the most frequent pair of tokens becomes one token.
  const number = await merge({ ...counted, tables: run.languages && counted.tables }, report);
  const mergedMs = performance.now();

  // 3. Number: bytes, special tokens and merges get ids. The tokens of a base keep theirs.
  const { lengths, plainLengths, ...numbered } = await number();
  const trained = {
    ...numbered,
    statistics,
    pretokenCount,
    distinctWordCount: words.wordCount,
    languages: counted.languages?.map((language, k) => {
      const { startCount: byteCount, tokenCount } = lengths![k]!;
      return { ...language, byteCount, tokenCount, plainTokenCount: plainLengths![k]!.tokenCount };
    }),
    countMs: countedMs - startMs,
    mergeMs: mergedMs - countedMs,
  } as TrainedOf<B>;

  // 4. Write the tokenizer's files, which replace the former ones.
  await run.write?.(trained);

  // 5. Store in the cache what the next training on this corpus can use.
  await keepRest?.();
  return trained;
}

const noWords = () =>
  new UserError("there is nothing to train on: the word counts contain no words", {
    hint: "name a text, or word counts that are not empty",
  });

/** Throws a UserError for an input that can be read only once, because superwords read the corpus twice. */
function checkReadTwice(inputs: readonly Input[]): void {
  const once = inputs.find((input) => input.isStream);
  if (once === undefined) return;
  const name = once.path === "-" ? "standard input" : `"${once.path}"`;
  throw new UserError(`superwords read the corpus twice, but ${name} can be read only once`, {
    hint: "write the data to a file and name that file",
  });
}
