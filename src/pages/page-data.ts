import type { Difference, Excerpt, FullEvaluation } from "#evaluation";
import type { TrainingRecord } from "#formats";
import type { AddedToken } from "#text";
import type { Curve } from "./compression-curve.ts";

// What a page holds as JSON: what `--json` or the record of a training says, tokens packed, and where it comes from.

export type Fact = readonly [name: string, value: string];

export type EvalData = {
  readonly view: "eval";
  /** What `bpe eval --json` prints, but of the costliest words only those that the page shows. */
  readonly evaluation: FullEvaluation;
  /** Where it comes from. */
  readonly made: readonly Fact[];
};

/** A tokenizer: that of a training, or one that is inspected. */
export type VocabularyData = {
  readonly view: "train" | "inspect";
  /** `training.json` of a training that just ended. */
  readonly record?: TrainingRecord;
  /** What `bpe inspect --json` prints. */
  readonly inspection?: unknown;
  readonly vocabulary: PackedVocabulary;
  readonly addedTokens: readonly AddedToken[];
  /** What tokens were counted in, if it is not the corpus of the training. */
  readonly textName: string | null;
  readonly curve: Curve | null;
  /** Beginnings of texts: lengths in bytes of their pretokens and added tokens, in which the page makes the merges. */
  readonly samples: readonly {
    readonly text: string;
    readonly content: string;
    readonly pieces: readonly number[];
  }[];
  /** Beginnings of texts, cut by the tokenizer. */
  readonly excerpts: readonly Excerpt[];
  readonly summary: readonly Fact[];
  readonly made: readonly Fact[];
};

/** Two tokenizers, a and b. */
export type DiffData = {
  readonly view: "diff";
  readonly names: readonly [a: string, b: string];
  /** What `bpe diff --json` prints; of long lists the first `listMax` entries. */
  readonly difference: Difference;
  /** How long each list is. */
  readonly counts: Readonly<Record<"tokens" | "merges", ListLengths>>;
  readonly excerpts: readonly Excerpt[];
  readonly made: readonly Fact[];
};

export type ListLengths = Readonly<Record<"onlyInA" | "onlyInB" | "moved", number>>;

/** Entries of a list that a page holds; `--json` has all. */
export const listMax = 500;

export type PageData = EvalData | VocabularyData | DiffData;

/**
 * PackedVocabulary: the tokens and merges of a tokenizer, small enough for a page.
 *
 * `data` is `columns` one after the other, compressed by DEFLATE without a header, in base64. A column has a number for each
 * merge, lowest byte first: a whole number of `width` 1, 2 or 4 bytes, or 8 bytes of floating point.
 *
 *   COLUMN   MEANING
 *   step     from one more than the id that the merge before makes (at first 0) to the id that this one makes, modulo `idLimit`
 *   left     id of the left half of the merge
 *   right    id of its right half
 *   created  occurrences in the corpus when its merge was made; only if the training recorded them
 *   end      occurrences in the corpus at the end; only if the training recorded them. If absent although
 *            `created` is present, each merge takes `created` from its two halves
 *   text     occurrences in a text; only with one
 */
export type PackedVocabulary = {
  readonly mergeCount: number;
  /** The tokens that no merge makes: the first 256 bytes as Latin-1, and counts as in the columns. */
  readonly leaves: readonly (readonly [
    id: number,
    latin1: string,
    lengthBytes: number,
    created: number | null,
    end: number | null,
    text: number | null,
  ])[];
  readonly idLimit: number;
  /** Tokens of the corpus before the first merge, if `created` says how many each merge takes away; null if not. */
  readonly tokensBefore: number | null;
  /** Occurrences of the last pair that was merged; null if no counts are known. */
  readonly lastPairCount: number | null;
  readonly columns: readonly { readonly name: string; readonly width: number }[];
  readonly data: string;
};
