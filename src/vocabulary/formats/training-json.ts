import type { Compat } from "../../merge/merges.ts";
import type { OutputFile } from "./output-file.ts";

/** The name of the record; what it lists is what belongs to a result. */
export const recordName = "training.json";

/** The version of the record's schema, its first field. */
export const recordFormat = 1;

/** `training.json`: what was asked, what was read, what came out. Field for field the command line's contract. */
export type TrainingRecord = {
  readonly format: typeof recordFormat;
  readonly version: string;
  readonly bunVersion: string;
  readonly commit: string;
  /** The command line, to be read by people; the same as typed, and where: relative paths begin there. */
  readonly command: string;
  readonly arguments: readonly string[];
  readonly workingDirectory: string;
  /** UTC, as ISO 8601 has it. */
  readonly startedAt: string;
  /** One more than that of any result that stood at its place, or was kept beside it; 1 for the first. No clock is asked. */
  readonly generation: number;
  readonly options: {
    readonly vocabSize: number;
    readonly specialTokens: readonly string[];
    /** `name` is null for a user's own; `regex` has several where text is split several times over. */
    readonly pattern: { readonly name: string | null; readonly regex: string | readonly string[] };
    readonly compat: Compat;
    readonly minFrequency: number;
    readonly maxTokenLength: number | null;
    readonly workers: number;
  };
  /** The formats asked for; null: all that can say the tokenizer. */
  readonly formats: readonly string[] | null;
  readonly inputs: readonly InputRecord[];
  /** Files that directories hold and that were not read, each with what it is. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** Word counts from elsewhere. */
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

type InputRecord = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly documents: number;
  readonly invalidBytes: number;
  /** `text`, `jsonl`, `json` or `parquet`. */
  readonly format: string;
  /** What told it: `option`, `name` or `content`. */
  readonly formatFrom: string;
  /** The field, or column, that held the texts of records; not there for a text. */
  readonly textField?: string;
};

export type CountsRecord = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string | null;
};

/** Written last: `record` is called when the other files are, so that it can say how long they took. */
export function trainingFile(record: () => TrainingRecord): OutputFile {
  return {
    name: recordName,
    chunks: () => [new TextEncoder().encode(`${JSON.stringify(record(), null, 2)}\n`)],
  };
}
