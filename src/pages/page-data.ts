import type { differences, evaluations, excerpts } from "#evaluation";
import type { trainingRecords } from "#formats";
import type { AddedToken } from "#text";
import type { Curve } from "./compression-curve.ts";

// The content of a page: its data, as JSON (`PageData`), and its static text (`PageText`).

export type Fact = readonly [name: string, value: string];

export type EvalData = {
  readonly view: "eval";
  /**
   * The output of `bpe eval --json`, shortened: it has only the costliest words that the page shows, and for each of
   * these words only the tokens that the page shows.
   */
  readonly evaluation: evaluations.FullEvaluation;
  /** Where the data comes from. */
  readonly made: readonly Fact[];
};

/** A newly trained or an inspected tokenizer. */
export type VocabularyData = {
  readonly view: "train" | "inspect";
  /** `training.json` of a training that just finished. */
  readonly record?: trainingRecords.TrainingRecord;
  /** The output of `bpe inspect --json`. */
  readonly inspection?: unknown;
  readonly vocabulary: PackedVocabulary;
  readonly addedTokens: readonly AddedToken[];
  /** The name of the text that was given to count tokens in; null without one. */
  readonly textName: string | null;
  readonly curve: Curve | null;
  /** Passages of texts, cut by the tokenizer. */
  readonly excerpts: readonly excerpts.Excerpt[];
  readonly summary: readonly Fact[];
  readonly made: readonly Fact[];
};

/** The data of two tokenizers, a and b. */
export type DiffData = {
  readonly view: "diff";
  readonly names: readonly [a: string, b: string];
  /** The output of `bpe diff --json`, with lists limited to `listMax` entries. */
  readonly difference: differences.Difference;
  /** The full length of each list. */
  readonly counts: Readonly<Record<"tokens" | "merges", ListLengths>>;
  readonly excerpts: readonly excerpts.Excerpt[];
  readonly made: readonly Fact[];
};

export type ListLengths = Readonly<Record<"onlyInA" | "onlyInB" | "moved", number>>;

/** The maximum number of a list's entries in a page; `--json` has all. */
export const listMax = 500;

export type PageData = EvalData | VocabularyData | DiffData;

/** A piece of a sentence. The name of a tokenizer is shown in a colour. */
export type Phrase = string | { readonly text: string; readonly colour: number };

export type PageText = {
  readonly title: string;
  /**
   * The command, the tokenizer in pages of `train` and `inspect`, and the date: "bpe inspect · tokenizer gpt2 · 27
   * November 2026".
   */
  readonly origin: string;
  readonly finding: readonly Phrase[];
  readonly more: readonly Phrase[];
  /** Reasons to doubt a number, warnings of the run, and notes on the tokenizer. */
  readonly cautions: readonly string[];
  readonly table: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };
  /** How to read the table. */
  readonly reading: string;
};

/**
 * PackedVocabulary: the tokens and merges of a tokenizer, small enough for a page.
 *
 * `data` is the concatenated `columns`, compressed as raw DEFLATE, in base64. A column has one little-endian number per
 * merge: an unsigned integer if `width` is 1, 2 or 4 bytes, a double if it is 8.
 *
 *   COLUMN   MEANING
 *   step     this merge's id, minus the previous merge's id (-1 for the first merge), minus 1, modulo `idLimit`
 *   left     id of the left half of the merge
 *   right    id of its right half
 *   created  occurrences of the new token in the corpus when the merge was made; only if the training recorded them
 *   end      its occurrences in the corpus at the end; only if the training recorded them. If this column is absent
 *            although `created` is present, it is computed: each merge takes `created` occurrences from each half
 *   text     its occurrences in a text; only if a text was given
 */
export type PackedVocabulary = {
  readonly mergeCount: number;
  /** Tokens that no merge creates. `latin1` has their first 256 bytes as Latin-1; the counts are as in the columns. */
  readonly leaves: readonly (readonly [
    id: number,
    latin1: string,
    lengthBytes: number,
    created: number | null,
    end: number | null,
    text: number | null,
  ])[];
  readonly idLimit: number;
  /**
   * The number of tokens in the corpus before the first merge; null if there are no counts, or if they do not add up.
   */
  readonly tokensBefore: number | null;
  /** Occurrences of the last merged pair; null if unknown. */
  readonly lastPairCount: number | null;
  readonly columns: readonly { readonly name: string; readonly width: number }[];
  readonly data: string;
};
