import { basename, dirname, join, resolve } from "node:path";
import {
  amount,
  type Check,
  checkOr,
  fieldsOf,
  flag,
  listOf,
  oneOf,
  oneOrMore,
  optional,
  orNull,
  parseJson,
  text,
  wholeNumber,
} from "#bytes";
import { inputFormats, type Reading } from "#corpus";
import type { Compat, Parity, TokenLimits } from "#merge";
import { asOption, isFile, phrase, readText, UserError } from "#runtime";
import { type Normalization, normalizationCheck } from "#text";
import type { ModelSettings, Roles, TokenCountFacts } from "#tokenizer";
import type { OutputFile } from "./output-file.ts";

/** The name of the record, which lists the files of a result. */
export const recordName = "training.json";
/** The table of tokens next to the record: tokens-tsv.ts. */
export const tokensTsvName = "tokens.tsv";

/** The version of the record's schema, its first field. */
export const recordFormat = 1;

/** `training.json`: what was requested, read and learned. Each field is part of the command line's contract. */
export type TrainingRecord = TokenCountFacts &
  RunRecord &
  CorpusRecord & {
    readonly options: TrainingOptionsRecord;
    /** The requested formats; null means all that can hold the tokenizer. */
    readonly formats: readonly string[] | null;
    /** A digest of the ids of the probe text. */
    readonly fingerprint: string;
  };

/** The record of an extended tokenizer. Merges and their checksum are the new ones only. */
export type ExtensionRecord = RunRecord &
  CorpusRecord & {
    /** The tokenizer that was extended; `vocabSize` is one more than its largest id. */
    readonly base: {
      readonly path: string;
      readonly kind: string;
      readonly files: readonly {
        readonly path: string;
        readonly sizeBytes: number;
        readonly sha256: string;
      }[];
      readonly vocabSize: number;
      readonly bytesPerToken: number | null;
    };
    /** A digest of the ids of the probe text. */
    readonly fingerprint: string;
    /** On the corpus, with the new tokens; null if it has no bytes. */
    readonly bytesPerToken: number | null;
    readonly options: {
      /** One more than the largest id; and the number of new tokens requested. */
      readonly vocabSize: number;
      readonly newTokens: number;
      /**
       * The base's, then new ones, then the reserved ones of `padTo`; `specialIds` has their ids in the same
       * order.
       */
      readonly specialTokens: readonly string[];
      readonly specialIds: readonly number[];
      /** The normal form that the base applies to text before cutting it. */
      readonly normalization: string | null;
      /** Texts that ended documents. */
      readonly documentsEndAt: readonly string[];
      /** Present only if requested: new texts of the base's special tokens, by the old ones. */
      readonly rename?: Readonly<Record<string, string>>;
      readonly compat: Compat | "extension";
    } & AskedOfBoth;
  };

/** `sizes` are the requested ones; `reservedTokens` are the `specialTokens` that only fill the vocabulary. */
type AskedOfBoth = TokenLimits &
  Pick<
    TrainingOptionsRecord,
    "weights" | "sizes" | "seedTokens" | "padTo" | "reservedTokens" | "pattern" | "workers"
  >;

/** The record of merges over ids (docs/extend.md). */
export type IdsRecord = RunRecord &
  Pick<CorpusRecord, "mergeCount"> & {
    readonly options: {
      /** One more than the largest id; and the vocabulary size: the alphabet and one token for each merge. */
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
type PatternRecord = {
  readonly name: string | null;
  readonly regex: string | readonly string[];
  /** `new RegExp(javascript, "gu")` finds the same pieces; null if there is none (`javascriptSource`). */
  readonly javascript: string | null;
};

type TrainingOptionsRecord = TokenLimits & {
  /** Present only if requested. */
  readonly weights?: readonly InputWeight[];
  /** The largest, if there are several. */
  readonly vocabSize: number;
  /**
   * Only in the record of several vocabularies: their sizes, ascending. Each has a directory with a record of
   * its own.
   */
  readonly sizes?: readonly number[];
  readonly specialTokens: readonly string[];
  /** Present only if requested: special tokens have the first ids. */
  readonly specialTokensFirst?: true;
  /** Present only if given: texts that become tokens regardless of their counts; their merges come first. */
  readonly seedTokens?: readonly string[];
  /** Present only if settings other than the texts' lengths decide between languages. */
  readonly parity?: Parity;
  /** Reserved tokens fill the vocabulary up to a multiple of this. */
  readonly padTo: number;
  readonly reservedTokens: readonly string[];
  readonly pattern: PatternRecord;
  /** The normalization before the pattern cuts text, if any: steps separated by commas. */
  readonly normalization?: string;
  /** Only with superwords; `pattern` is then that of the second stage, which encoding uses. */
  readonly superwords?: SuperwordRecord;
  readonly compat: Compat;
  /** Present only if texts were cut neither at line ends nor at special tokens, as when HF trains on an iterator. */
  readonly wholeTexts?: true;
  /** Present only if texts were not cut at special tokens, as when HF trains on files. */
  readonly specialTokensAsText?: true;
  /** Present only if another tokenizer provided the settings: its path, as typed. */
  readonly like?: string;
  /** Settings for a model: the special token of each role, and the rest of `ModelSettings`. */
  readonly model: Roles & Omit<ModelSettings, "roles" | "proposed" | "fromTemplate">;
  readonly workers: number;
};

/** The fields specific to a record, between the head and the files of a `RunRecord`. */
export type FieldsOf<R extends RunRecord> = Omit<R, keyof RunRecord>;

/** What was read and learned. */
type CorpusRecord = {
  readonly inputs: readonly InputRecord[];
  /** The languages of the corpus, in order, if it has any. */
  readonly languages?: readonly LanguageRecord[];
  /** Skipped files of directories, each with the reason. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** Word count files that were added. */
  readonly counts: readonly CountsRecord[];
  readonly wordCount: number;
  readonly distinctWordCount: number;
  readonly mergeCount: number;
};

/** Fields of every record. */
export type RunRecord = {
  readonly format: typeof recordFormat;
  readonly version: string;
  readonly bunVersion: string;
  readonly commit: string;
  /** The command line for people to read, its typed arguments, and the directory of relative paths. */
  readonly command: string;
  readonly arguments: readonly string[];
  readonly workingDirectory: string;
  /** UTC, in the form of ISO 8601. */
  readonly startedAt: string;
  /** Every file of the result, including this one. */
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
  /** The pattern of the first stage, in the form of `pattern`. */
  readonly wordPattern: PatternRecord;
  /** Pretokens of the second stage. */
  readonly pretokenCount: number;
  readonly distinctWordCount: number;
  /** Merges of the first stage that were kept, and those that occur in no pretoken of the second. */
  readonly inheritedCount: number;
  readonly droppedCount: number;
};

type InputRecord = {
  readonly path: string;
  readonly sizeBytes: number;
  /** Size of the decompressed text, without the other fields of records. */
  readonly textBytes: number;
  readonly documents: number;
  readonly invalidBytes: number;
  /** `text`, `jsonl`, `json` or `parquet`. */
  readonly format: string;
  /** How the format was determined: `option`, `name` or `content`. */
  readonly formatFrom: string;
  /** The field, or column, with the text of records; only for records. */
  readonly textField?: string;
  /** The weight of its words; present only if any input is weighted. */
  readonly weight?: number;
} & Partial<LanguageOfInput>;

/** Present only for a corpus of languages. `isDev`: used to compare languages, not to learn from. */
export type LanguageOfInput = { readonly language: string; readonly isDev: boolean };

/** What was read of a language, or of its dev text. */
export type LanguageRecord = LanguageOfInput & {
  readonly textBytes: number;
  /** Pretokens. */
  readonly wordCount: number;
  readonly distinctWordCount: number;
  /**
   * The number of bytes, of tokens after all merges, and of tokens after as many merges learned without
   * languages. Weights are applied.
   */
  readonly byteCount: number;
  readonly tokenCount: number;
  readonly plainTokenCount: number;
};

export type CountsRecord = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  /** Like that of an input. */
  readonly weight?: number;
};

/** Multiplies the count of each word of the inputs that the glob matches (docs/inputs.md, "Weights"). */
export type InputWeight = {
  /** A label for people. */
  readonly name: string | null;
  readonly glob: string;
  /** At least 0, with at most six decimals. */
  readonly weight: number;
};

/** Written last: `record` is called once the other files are written, to state how long that took. */
export function trainingFile(record: () => object): OutputFile {
  return {
    name: recordName,
    chunks: () => [new TextEncoder().encode(`${JSON.stringify(record(), null, 2)}\n`)],
  };
}

export const readJson = (path: string): unknown => parseJson(readText(path), path);

/** What the training record adds to the files next to it. */
export type RecordedTraining = {
  readonly patternSources: readonly string[];
  readonly specialTokens: readonly string[];
  /**
   * The ids of special tokens in the record of an extended or pruned tokenizer; otherwise `compat` determines
   * them.
   */
  readonly specialIds: readonly number[] | undefined;
  /** The setting that gives special tokens the first ids; `compat` may do the same. */
  readonly specialTokensFirst: boolean;
  /** Null if text is not normalized. */
  readonly normalization: Normalization | null | undefined;
  /**
   * Tokens that fill the vocabulary, with the last ids. If `specialIds` is present, the special tokens
   * include them.
   */
  readonly reservedTokens: readonly string[];
  readonly compat: Compat | "extension";
  /** The special token that is prepended to a text. */
  readonly bosInFront: string | undefined;
};

const recordFields = fieldsOf({
  files: listOf(text),
  options: fieldsOf({
    specialTokens: optional(listOf(text)),
    specialIds: optional(listOf(wholeNumber())),
    specialTokensFirst: optional(flag),
    reservedTokens: optional(listOf(text)),
    normalization: optional(orNull(normalizationCheck)),
    compat: optional(oneOf<Compat | "extension">(["cs336", "huggingface", "rustbpe", "extension"])),
    pattern: fieldsOf({ name: orNull(text), regex: oneOrMore(text) }),
    model: optional(fieldsOf({ bos: optional(text), addsBos: optional(flag) })),
  }),
});

/** Reads the record next to the file; null if there is none, it is not one of ours, or it does not list the file. */
export function readTrainingRecord(path: string): RecordedTraining | null {
  const recordPath = join(dirname(path), recordName);
  if (!isFile(recordPath)) return null;
  const root = readJson(recordPath);
  if (typeof root !== "object" || root === null || !("files" in root || "options" in root)) return null;
  const { files, options } = checkOr(recordFields, root, (what) => {
    throw new UserError(`"${recordPath}" is not a training record: ${what}`, {
      hint: phrase`train again, or move it away and give ${asOption("pattern")} and ${asOption("special-token")}`,
    });
  });
  if (!files.includes(basename(path))) return null;
  return {
    patternSources: options.pattern.regex,
    specialTokens: options.specialTokens ?? [],
    specialIds: options.specialIds,
    specialTokensFirst: options.specialTokensFirst ?? false,
    normalization: options.normalization,
    reservedTokens: options.reservedTokens ?? [],
    compat: options.compat ?? "cs336",
    bosInFront: options.model?.addsBos ? options.model.bos : undefined,
  };
}

/** Returns the first record next to these files that lists one of them, or undefined. */
export const findTrainingRecord = (paths: readonly string[]): RecordedTraining | undefined =>
  paths.map(readTrainingRecord).find((record) => record !== null) ?? undefined;

const point = fieldsOf({ vocabSize: wholeNumber(), bytesPerToken: amount });
const tokenCountFields = fieldsOf({
  files: listOf(text),
  tokenCount: wholeNumber(),
  bytesPerToken: orNull(amount),
  half: orNull(point),
  curve: listOf(point),
  residueCount: wholeNumber(),
  neverReachedCount: wholeNumber(),
});

/** Reads the facts about corpus and tokens from a tokenizer's record; null if it has none. */
export function readTokenCountFacts(path: string): TokenCountFacts | null {
  const record = recordOf(path, tokenCountFields);
  if (record === null) return null;
  const { files: _, ...facts } = record;
  return facts;
}

const role = optional(text);
const roleFields = fieldsOf({
  files: listOf(text),
  options: fieldsOf({ model: fieldsOf({ bos: role, eos: role, pad: role, unk: role }) }),
});

/** Returns the special tokens that a training gave roles, by the names of `transformers`; empty without a record. */
export function readRecordedRoles(path: string): Readonly<Record<string, string | undefined>> {
  const roles: Partial<Record<string, string | undefined>> = recordOf(path, roleFields)?.options.model ?? {};
  return Object.fromEntries(Object.entries(roles).map(([role, token]) => [`${role}_token`, token]));
}

const inputFields = fieldsOf({
  files: listOf(text),
  inputs: listOf(fieldsOf({ format: oneOf(inputFormats), textField: optional(text) })),
});

/**
 * Returns how the inputs of a training were read, if all were read alike, from the first of these tokenizers
 * with a record.
 */
export function readRecordedReading(paths: readonly string[]): Reading | undefined {
  for (const path of paths) {
    const [first, ...others] = recordOf(path, inputFields)?.inputs ?? [];
    const isOne = others.every(
      ({ format, textField }) => format === first!.format && textField === first!.textField,
    );
    if (first !== undefined && isOne) return first;
  }
  return undefined;
}

const corpusFields = fieldsOf({
  files: listOf(text),
  workingDirectory: text,
  inputs: listOf(fieldsOf({ path: text, isDev: optional(flag) })),
});

/** Returns the paths of the files that a tokenizer was trained on, from its record; empty without one. */
export function readRecordedInputs(path: string): string[] {
  const record = recordOf(path, corpusFields);
  if (record === null) return [];
  const { workingDirectory, inputs } = record;
  return inputs.flatMap(({ path, isDev }) =>
    isDev || path === "-" ? [] : [resolve(workingDirectory, path)],
  );
}

/**
 * Reads the record in a tokenizer's directory, or next to its file, which it must list. Returns null for a
 * missing record, another kind or an older version: it is only used for display and defaults.
 */
function recordOf<Fields extends { readonly files: readonly string[] }>(
  path: string,
  fields: Check<Fields>,
): Fields | null {
  const isInside = isFile(path);
  const recordPath = join(isInside ? dirname(path) : path, recordName);
  if (!isFile(recordPath)) return null;
  try {
    const record = checkOr(fields, readJson(recordPath), (what) => {
      throw new UserError(what);
    });
    return isInside && !record.files.includes(basename(path)) ? null : record;
  } catch {
    return null;
  }
}

/** Returns the sizes in the record of several vocabularies; undefined for any other file. */
export function readRecordedSizes(path: string): readonly number[] | undefined {
  if (!isFile(path)) return undefined;
  const record = readJson(path) as { options?: { sizes?: unknown } } | null;
  const sizes = record?.options?.sizes;
  return Array.isArray(sizes) && sizes.length > 0 && sizes.every(Number.isSafeInteger) ? sizes : undefined;
}

/** Returns the files that a record lists, including itself; undefined for any other file. */
export function readRecordedFiles(path: string): readonly string[] | undefined {
  if (!isFile(path)) return undefined;
  const files = (readJson(path) as { files?: unknown } | null)?.files;
  return Array.isArray(files) && files.includes(recordName) ? files : undefined;
}
