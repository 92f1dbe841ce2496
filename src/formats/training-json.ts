import type { TokenLimits } from "../merge/merge-options.ts";
import type { Compat } from "../merge/merges.ts";
import type { LedgerFacts } from "../vocabulary/ledger.ts";
import type { ModelSettings, Roles } from "../vocabulary/model-settings.ts";
import type { OutputFile } from "./output-file.ts";

/** The name of the record, which lists the files of a result. */
export const recordName = "training.json";

/** The version of the record's schema, its first field. */
export const recordFormat = 1;

/** `training.json`: what was asked, what was read, what came out. Each field is part of the command line's contract. */
export type TrainingRecord = LedgerFacts &
  RunRecord & {
    readonly options: TrainingOptionsRecord;
    /** The formats asked for; null: all that can hold the tokenizer. */
    readonly formats: readonly string[] | null;
  };

/** The same of a tokenizer that was extended. Merges and their checksum are those that are new. */
export type ExtensionRecord = RunRecord & {
  /** The tokenizer that was extended; `vocabSize` is one more than its largest id. */
  readonly base: {
    readonly path: string;
    readonly kind: string;
    readonly files: readonly { readonly path: string; readonly sizeBytes: number; readonly sha256: string }[];
    readonly vocabSize: number;
  };
  readonly options: {
    /** One more than the largest id; and how many new tokens were asked for. */
    readonly vocabSize: number;
    readonly newTokens: number;
    /** Only in the record of several: their sizes, ascending, as they were asked for. */
    readonly sizes?: readonly number[];
    /** The base's, then the reserved ones of `padTo`; each with its id at the same place. */
    readonly specialTokens: readonly string[];
    readonly specialIds: readonly number[];
    /** The normal form that the base brings text into before it cuts it. */
    readonly normalization: string | null;
    /** The vocabulary is filled with reserved tokens to a multiple of this. */
    readonly padTo: number;
    /** Those of `specialTokens` that only fill it. */
    readonly reservedTokens: readonly string[];
    /** Texts that ended documents, whether they are tokens of the base or not. */
    readonly documentsEndAt: readonly string[];
    readonly pattern: PatternRecord;
    readonly compat: Compat | "extension";
    readonly workers: number;
  } & TokenLimits;
};

/** The same of merges over ids (docs/ids.md). */
export type IdsRecord = Omit<
  RunRecord,
  "inputs" | "skipped" | "counts" | "wordCount" | "distinctWordCount"
> & {
  readonly options: {
    /** One more than the largest id; and the size of the vocabulary: the alphabet and a token for each merge. */
    readonly alphabetSize: number;
    readonly vocabSize: number;
    readonly compat: Compat;
    readonly workers: number;
  } & TokenLimits;
  readonly inputs: readonly Pick<InputRecord, "path" | "sizeBytes" | "documents" | "format">[];
  readonly symbolCount: number;
  readonly tokenCount: number;
};

/** `name` is null for a user's own pattern. `regex` is a list if the pattern is a sequence of splits. */
type PatternRecord = { readonly name: string | null; readonly regex: string | readonly string[] };

type TrainingOptionsRecord = TokenLimits & {
  /** The largest, if there are several. */
  readonly vocabSize: number;
  /** Only in the record of several vocabularies: their sizes, ascending. Each has a directory with a record of its own. */
  readonly sizes?: readonly number[];
  readonly specialTokens: readonly string[];
  /** The vocabulary is filled with reserved tokens to a multiple of this. */
  readonly padTo: number;
  readonly reservedTokens: readonly string[];
  readonly pattern: PatternRecord;
  /** Only with superwords; `pattern` is then that of the second stage, by which text is encoded. */
  readonly superwords?: SuperwordRecord;
  readonly compat: Compat;
  /** What a model needs to know: the special token of each role, and the rest of `ModelSettings`. */
  readonly model: Roles & Omit<ModelSettings, "roles" | "proposed">;
  readonly workers: number;
};

/** What every record has. */
type RunRecord = {
  readonly format: typeof recordFormat;
  readonly version: string;
  readonly bunVersion: string;
  readonly commit: string;
  /** The command line for people to read, its arguments as typed, and the directory where relative paths begin. */
  readonly command: string;
  readonly arguments: readonly string[];
  readonly workingDirectory: string;
  /** UTC, in the form of ISO 8601. */
  readonly startedAt: string;
  /** 1 for the first result of a place, then one more than that of any result there or kept beside it. Needs no clock. */
  readonly generation: number;
  readonly inputs: readonly InputRecord[];
  /** Files in directories that were not read, each with what it is. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** Files of word counts that were added. */
  readonly counts: readonly CountsRecord[];
  readonly wordCount: number;
  readonly distinctWordCount: number;
  readonly mergeCount: number;
  /** Every file of the result, this one too. */
  readonly files: readonly string[];
  readonly timings: {
    readonly countMs: number;
    readonly mergeMs: number;
    readonly writeMs: number;
    readonly totalMs: number;
  };
  readonly peakMemoryBytes: number;
  readonly mergesSha256: string;
};

type SuperwordRecord = {
  readonly fromVocabSize: number;
  /** The pattern of the first stage, as `pattern` has it. */
  readonly wordPattern: { readonly name: string | null; readonly regex: string | readonly string[] };
  /** Pretokens of the second stage. */
  readonly pretokenCount: number;
  readonly distinctWordCount: number;
  /** Merges of the first stage that stayed, and those that no pretoken of the second has. */
  readonly inheritedCount: number;
  readonly droppedCount: number;
};

type InputRecord = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly documents: number;
  readonly invalidBytes: number;
  /** `text`, `jsonl`, `json` or `parquet`. */
  readonly format: string;
  /** What the format was known by: `option`, `name` or `content`. */
  readonly formatFrom: string;
  /** The field, or column, that held the texts of records; only for records. */
  readonly textField?: string;
};

export type CountsRecord = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string | null;
};

/** Written last: `record` is called when the other files are written, and says how long that took. */
export function trainingFile(record: () => TrainingRecord | ExtensionRecord | IdsRecord): OutputFile {
  return {
    name: recordName,
    chunks: () => [new TextEncoder().encode(`${JSON.stringify(record(), null, 2)}\n`)],
  };
}
