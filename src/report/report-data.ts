import type { SampleToken } from "../evaluation/passages.ts";
import { type AddedToken, plainSpecial } from "../text/cutting.ts";
import type { RankedMerges } from "../tokenizer/encoding-model.ts";
import type { TokenTable } from "../tokenizer/token-table.ts";
import { mergesInIds } from "../tokenizer/tokenizer-parts.ts";
import { lastLetters } from "../tokenizer/vocabulary-statistics.ts";
import { intermediates, type Ledger } from "../vocabulary/ledger.ts";
import { copyTokenBytes, notKept, type Vocabulary } from "../vocabulary/vocabulary.ts";
import type { DataTable } from "./html.ts";

/** All that a report shows. What is undefined or empty has no section. Names and texts may be hostile; the page escapes them. */
export type ReportData = ReportFrame & ReportBody;

/** What stands above and below the sections. */
export type ReportFrame = {
  readonly title: string;
  /** The first numbers that a reader sees. */
  readonly highlights: readonly Highlight[];
  readonly warnings?: readonly string[];
  /** What the command says at its end. */
  readonly summary?: readonly Fact[];
  /** What was read. */
  readonly tables?: readonly FrameTable[];
  readonly provenance: readonly Fact[];
};

/** What the sections show. */
export type ReportBody = {
  /** At least one. */
  readonly tokenizers: readonly ReportTokenizer[];
  readonly compression?: Compression | undefined;
  /** Texts cut by the first tokenizer. */
  readonly samples: readonly Sample[];
};

/** A section that is a table of its own. */
export type FrameTable = DataTable & { readonly id: string; readonly title: string; readonly text?: string };

/**
 * What is usual. Intermediate tokens: in trainings of 1,000 to 64,000 tokens on 30 MB of English books, 20 MB of web pages, 20 MB
 * of texts in 46 languages and 12 MB of code (pattern o200k). The others: of GPT-2, GPT-4, GPT-4o, Llama 3, Qwen 3 and
 * DeepSeek V3, on 1 MB each of such books, web pages and code (November 2026).
 */
export const usual = {
  intermediates: "6 to 20\u00a0%",
  notUtf8: "0.7 to 1.1\u00a0%",
  bytes_per_token: "3.6 to 4.5 in English, 3.3 to 4.1 in code",
  fertility: "1.2 to 1.6 in English, 1.9 to 2.4 in code",
  single_token_share: "75 to 82\u00a0% in English, 69 to 72\u00a0% in code",
  vocabulary_utilization: "4 to 33\u00a0% in 1\u00a0MB of text",
};

export type Fact = readonly [name: string, value: string];
export type Highlight = { readonly name: string; readonly value: string; readonly note?: string };

/**
 * A tokenizer as the report draws it.
 *
 *   ARRAY          TYPE          LENGTH   MEANING
 *   lengths        Uint32Array   idLimit  bytes of each token; 0 where an id has none
 *   endCounts      Float64Array  idLimit  occurrences of each token in the text (of the corpus: when all merges are made)
 *   createdCounts  Float64Array  idLimit  occurrences of each token when its merge was made
 */
export type ReportTokenizer = {
  readonly name: string;
  /** Bytes by id. Of a token with more than `tokenBytesMax` bytes it may hold only so many. */
  readonly tokens: TokenTable;
  readonly lengths: Uint32Array;
  readonly addedTokens: readonly AddedToken[];
  /** `scriptClasses`, where they are known, and true to the bytes of each id. */
  readonly classes?: Uint8Array;
  readonly merges: RankedMerges;
  readonly counts?: { readonly of: string; readonly endCounts: Float64Array } | undefined;
  readonly ledger?: ReportLedger | undefined;
};

/** The bytes of a token that a report looks at. */
export const tokenBytesMax = 768;

/** Whether it is known that a token has a letter among its kept bytes. */
export const hasLetters = ({ classes, lengths }: ReportTokenizer, id: number): boolean =>
  classes !== undefined && lengths[id]! <= tokenBytesMax && classes[id]! <= lastLetters;

/** What a training knows of its tokens, by id. */
export type ReportLedger = {
  readonly createdCounts: Float64Array;
  readonly endCounts: Float64Array;
  /** Tokens of the corpus after so many merges, by rank. */
  readonly tokensAfter?: Float64Array;
  /** Whether other tokens used this one up. */
  readonly isIntermediate: (id: number) => boolean;
};

/**
 * Bytes per token over the size of the vocabulary: with k merges the vocabulary has `baseSize + k` tokens, and the corpus is
 * cut into `tokensAfter[k]` of them. `tokensAfter[0]` is its length in bytes.
 */
export type Compression = {
  readonly baseSize: number;
  readonly tokensAfter: Float64Array;
  /** Smaller sizes that were chosen, too, ascending. */
  readonly smallerSizes?: readonly number[];
};

/** The beginning of a text, and how each tokenizer of the report cuts it. */
export type Sample = {
  readonly name: string;
  readonly cuts: readonly (readonly SampleToken[])[];
};

/** A vocabulary that was just trained, with its ledger, as reports draw it. `of`: what the corpus is called. */
export function vocabularyTokenizer(
  name: string,
  vocabulary: Vocabulary,
  ledger: Ledger,
  of: string,
): ReportTokenizer {
  const { size, tokenIds, specialTokens, specialIds } = vocabulary;
  const runs = runsOf(tokenIds);
  const byId = (counts: Float64Array) => inRuns(counts, runs, new Float64Array(size));
  const endCounts = byId(ledger.endCounts);
  const areIntermediate = inRuns(intermediates(ledger), runs, new Uint8Array(size));
  const addedTokens = specialTokens.map((content, s) => ({ id: specialIds[s]!, content, ...plainSpecial }));
  return {
    name,
    ...tokensById(vocabulary, runs),
    addedTokens,
    merges: runs.length === 1 && tokenIds[0] === 0 ? mergesAsTheyAre(vocabulary) : mergesInIds(vocabulary),
    counts: { of, endCounts },
    ledger: {
      createdCounts: byId(ledger.createdCounts),
      endCounts,
      tokensAfter: ledger.tokensAfter,
      isIntermediate: (id) => areIntermediate[id] === 1,
    },
  };
}

/** Tokens [first, end) whose ids follow one another, from `id` on. */
type Run = { readonly first: number; readonly end: number; readonly id: number };

/** The page is made once, and slowly: a run is copied at once, where a loop over all tokens takes milliseconds. */
function runsOf(tokenIds: Int32Array): Run[] {
  const runs: Run[] = [];
  let first = 0;
  for (let end = 1; end <= tokenIds.length; end++) {
    if (tokenIds[end] === tokenIds[end - 1]! + 1) continue;
    runs.push({ first, end, id: tokenIds[first]! });
    first = end;
  }
  return runs;
}

/** Puts what there is of each token where its id is. */
function inRuns<T extends Float64Array | Uint32Array | Uint8Array>(
  ofTokens: T,
  runs: readonly Run[],
  byId: T,
): T {
  for (const { first, end, id } of runs) byId.set(ofTokens.subarray(first, end), id);
  return byId;
}

/** Of a vocabulary whose ids are the numbers of the tokens. */
const mergesAsTheyAre = ({ left, right, tokenIds, mergeCount }: Vocabulary): RankedMerges => ({
  left,
  right,
  merged: tokenIds.subarray(tokenIds.length - mergeCount),
});

/** The bytes of the tokens by id, of long ones the first characters, and their whole lengths. */
function tokensById(
  vocabulary: Vocabulary,
  runs: readonly Run[],
): Pick<ReportTokenizer, "tokens" | "lengths"> {
  const { size, tokenIds, tokenBytes, specialTokens, specialIds } = vocabulary;
  const lengths = inRuns(tokenBytes.lengths, runs, new Uint32Array(size));
  const specials = specialTokens.map((text) => new TextEncoder().encode(text));
  for (const [s, bytes] of specials.entries()) lengths[specialIds[s]!] = bytes.length;
  const starts = new Uint32Array(size + 1);
  let tokenCount = 0;
  let end = 0;
  for (let id = 0; id < size; id++) {
    const length = lengths[id]!;
    if (length > 0) tokenCount++;
    end += length > tokenBytesMax ? tokenBytesMax : length;
    starts[id + 1] = end;
  }
  const bytes = new Uint8Array(starts[size]!);
  for (let token = 0; token < tokenIds.length; ) token = putTokens(vocabulary, token, starts, bytes);
  for (const [s, special] of specials.entries()) {
    bytes.set(special.subarray(0, tokenBytesMax), starts[specialIds[s]!]!);
  }
  return { tokens: { idLimit: size, tokenCount, bytes, starts }, lengths };
}

/** Copies the bytes of a token, and of those behind it whose kept bytes and ids follow one another; returns the next token. */
function putTokens(
  { tokenBytes, tokenIds }: Vocabulary,
  first: number,
  startsById: Uint32Array,
  into: Uint8Array,
): number {
  const { starts, lengths, kept } = tokenBytes;
  const to = startsById[tokenIds[first]!]!;
  const start = starts[first]!;
  if (start === notKept) {
    into.set(copyTokenBytes(tokenBytes, first, tokenBytesMax), to);
    return first + 1;
  }
  let token = first;
  let end = start;
  do end += lengths[token++]!;
  while (starts[token] === end && tokenIds[token] === tokenIds[token - 1]! + 1);
  into.set(kept.subarray(start, end), to);
  return token;
}
