import { escapeBytes } from "../bytes/escape.ts";
import { type Difference, differenceOf, type TextDifference } from "../evaluation/difference.ts";
import { beginningOf, type NamedTokenizer, ratio, sumOf } from "../evaluation/evaluation.ts";
import { placedWordsOf, type TextWords } from "../evaluation/text-words.ts";
import { inTurns } from "../runtime/turns.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import { type EvaluateOptions, type NamedText, readText, startProgress, startThreads } from "./evaluate.ts";
import type { EvaluationThreads } from "./evaluation-threads.ts";
import type { Report } from "./stage-progress.ts";

export type CompareOptions = Omit<EvaluateOptions, "tokenizers" | "texts"> & {
  readonly tokenizers: readonly [a: NamedTokenizer, b: NamedTokenizer];
  readonly text: NamedText | null;
};

/** How many of the words that are cut differently are listed. */
const listedMax = 1000;

/** What differs between two tokenizers, and in how they cut a text, if there is one. */
export async function compareTokenizers(options: CompareOptions, report: Report): Promise<Difference> {
  const { tokenizers, text } = options;
  const [a, b] = tokenizers;
  const difference = await inTurns(differenceOf({ a: a.parts, b: b.parts }));
  return { ...difference, text: text === null ? null : await compareOnText({ ...options, text }, report) };
}

async function compareOnText(
  { text, ...options }: CompareOptions & { readonly text: NamedText },
  report: Report,
): Promise<TextDifference> {
  const run = { ...options, texts: [text] };
  const threads = startThreads(run);
  const progress = startProgress(run, report);
  try {
    const { words, tokens } = await readText(text, run, progress);
    const tokensOf = async (t: number) => {
      const { pretokens, others } = await tokens.prepare(t);
      return sumOf((await threads.encode(t, pretokens, null)).tokenCounts) + sumOf(others);
    };
    const [tokensA, tokensB] = [await tokensOf(0), await tokensOf(1)];
    const isDifferent = await threads.differencesOf([0, 1], placedWordsOf(words));
    const found = differentWords(words, isDifferent);
    return {
      name: text.name,
      inputs: text.paths,
      tokensA,
      tokensB,
      words: words.wordCount,
      differentWords: found.count,
      differentShare: ratio(found.count, words.wordCount),
      distinctDifferentWords: found.placed.length,
      mostFrequent: await listWords(found.placed, words, options.tokenizers, threads),
    };
  } finally {
    threads.close();
  }
}

/** The placed words that differ, and their occurrences. */
function differentWords({ counts }: TextWords, isDifferent: Uint8Array) {
  const placed: number[] = [];
  let count = 0;
  for (let p = 0; p < isDifferent.length; p++) {
    if (isDifferent[p] === 0) continue;
    placed.push(p);
    count += counts[p]!;
  }
  return { placed, count };
}

/** The most frequent of these words; of equally frequent ones the first by their bytes. */
async function listWords(
  placed: readonly number[],
  words: TextWords,
  tokenizers: CompareOptions["tokenizers"],
  threads: EvaluationThreads,
) {
  const { counts, bytes, starts } = words;
  const bytesOf = (p: number) => bytes.subarray(starts[p]!, starts[p + 1]!);
  const listed = placed
    .toSorted((p, q) => counts[q]! - counts[p]! || Buffer.compare(bytesOf(p), bytesOf(q)))
    .slice(0, listedMax);
  const [piecesA, piecesB] = await Promise.all(
    [0, 1].map(async (t) => {
      const { tokens } = tokenizers[t]!.parts;
      const pieces = await threads.piecesOf(t, placedWordsOf(words), { placed: listed, withBlanks: true });
      return pieces.map((ids) => Array.from(ids, (id) => escapeBytes(beginningOf(tokenBytesOf(tokens, id)))));
    }),
  );
  return listed.map((p, i) => ({
    word: escapeBytes(beginningOf(bytesOf(p))),
    count: counts[p]!,
    piecesA: piecesA![i]!,
    piecesB: piecesB![i]!,
  }));
}
