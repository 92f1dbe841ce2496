import { addUp } from "../count/add-up.ts";
import type { CompiledPattern } from "../pattern/pattern.ts";
import { inTurns } from "../runtime/turns.ts";
import { idBytesOf } from "../superwords/lifted-pretokens.ts";
import type { EncodingModel } from "../tokenizer/encoding-model.ts";
import type { TokenWords, TokenWordsSize, WordTable } from "../words/word-table.ts";
import type { CountJob } from "./count-corpus.ts";
import { type CorpusOptions, countParts } from "./count-words.ts";
import type { Report } from "./stage-progress.ts";
import { startLifting } from "./superword-counter.ts";

/**
 * The pretokens of a corpus by `pattern`, as sequences of the ids that the model gives them, counted. The cache, and word
 * counts from elsewhere, know nothing of them. `check` is told how many words and tokens there are.
 */
export async function liftCorpus(
  options: CorpusOptions,
  { pattern, model }: { readonly pattern: CompiledPattern; readonly model: EncodingModel },
  report: Report,
  check: (size: TokenWordsSize) => void,
): Promise<TokenWords> {
  const idBytes = idBytesOf(model);
  const countJob: CountJob = {
    name: "lifting",
    start: startLifting,
    setup: { model, windowBytes: windowIdBytes / idBytes },
  };
  const corpus = { ...options, pattern, cache: undefined, countsFiles: undefined };
  const { parts } = await countParts({ ...corpus, countJob }, report, "lifting");
  const table = await inTurns(
    addUp(parts, ({ wordCount, byteCount }) => check({ wordCount, positionCount: byteCount / idBytes })),
  );
  return asTokenWords(table, idBytes);
}

/** The ids of a window have at most as many bytes as a window that is counted. */
const windowIdBytes = 1 << 20;

/** The same words in the same memory: their bytes are ids, little endian. */
export function asTokenWords({ wordCount, bytes, starts, counts }: WordTable, idBytes: 2 | 4): TokenWords {
  const Ids = idBytes === 2 ? Uint16Array : Uint32Array;
  for (let w = 0; w <= wordCount; w++) starts[w]! /= idBytes;
  const tokens = new Ids(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length / idBytes);
  return { wordCount, tokens, starts, counts };
}
