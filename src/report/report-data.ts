import type { TokenTable } from "../tokenizer/token-table.ts";
import type { AddedToken } from "../tokenizer/tokenizer-parts.ts";

/** All that a report shows. What is undefined or empty has no section. Names and texts may be hostile; the page escapes them. */
export type ReportData = ReportFrame & ReportBody;

/** What stands above and below the sections. */
export type ReportFrame = {
  readonly title: string;
  /** The first numbers that a reader sees. */
  readonly highlights: readonly Highlight[];
  readonly provenance: readonly Fact[];
};

/** What the sections show. */
export type ReportBody = {
  /** At least one. */
  readonly tokenizers: readonly ReportTokenizer[];
  readonly compression?: Compression | undefined;
  readonly matrix?: Matrix | undefined;
  readonly samples: readonly Sample[];
};

export type Fact = readonly [name: string, value: string];
export type Highlight = { readonly name: string; readonly value: string; readonly note?: string };

/**
 * A tokenizer as the report draws it.
 *
 *   ARRAY      TYPE          LENGTH       MEANING
 *   lengths    Uint32Array   idLimit      bytes of each token; 0 where an id has none
 *   endCounts  Float64Array  idLimit      occurrences of each token in the text (of the corpus: when all merges are made)
 *   birthCounts Float64Array idLimit      occurrences of each token when its merge was made
 */
export type ReportTokenizer = {
  readonly name: string;
  /** Bytes by id. Of a token with more than `tokenBytesMax` bytes it may hold only so many. */
  readonly tokens: TokenTable;
  readonly lengths: Uint32Array;
  readonly addedTokens: readonly AddedToken[];
  readonly merges: ReportMerges;
  readonly counts?: { readonly of: string; readonly endCounts: Float64Array } | undefined;
  readonly ledger?: ReportLedger | undefined;
};

/** The bytes of a token that a report looks at. */
export const tokenBytesMax = 768;

/** Ids of the halves and of what they become, in the order of the merges. */
export type ReportMerges = {
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly merged: Int32Array;
};

/** What a training knows of its tokens, by id. */
export type ReportLedger = {
  readonly birthCounts: Float64Array;
  readonly endCounts: Float64Array;
  /** Whether other tokens used this one up. */
  readonly isResidue: (id: number) => boolean;
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

/** Measures of each tokenizer on each text: `values[tokenizer][text]`, null where there is none. */
export type Matrix = {
  readonly tokenizers: readonly string[];
  readonly texts: readonly string[];
  readonly measures: readonly {
    readonly name: string;
    readonly note: string;
    readonly best: "high" | "low";
    readonly values: readonly (readonly (number | null)[])[];
  }[];
};

/** The beginning of a text, and how each tokenizer of the report cuts it. */
export type Sample = {
  readonly name: string;
  readonly cuts: readonly (readonly SampleToken[])[];
};

export type SampleToken = { readonly id: number; readonly bytes: Uint8Array };
