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

/** The record of an extended tokenizer. Merges and their checksum are those of the new merges only. */
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
    /** Bytes per token of the corpus, with the new tokens; null if the corpus has no bytes. */
    readonly bytesPerToken: number | null;
    readonly options: {
      /** One more than the largest id. */
      readonly vocabSize: number;
      /** The number of new tokens that were requested. */
      readonly newTokens: number;
      /**
       * The special tokens of the base, then new ones, then the reserved tokens of `padTo`. `specialIds` has
       * their ids in the same order.
       */
      readonly specialTokens: readonly string[];
      readonly specialIds: readonly number[];
      /** The normal form that the base applies to text before cutting it. */
      readonly normalization: string | null;
      /** The special tokens that ended documents. */
      readonly documentsEndAt: readonly string[];
      /** Present only if requested: new texts of the base's special tokens, by the old ones. */
      readonly rename?: Readonly<Record<string, string>>;
      readonly compat: Compat | "extension";
    } & AskedOfBoth;
  };

/** `sizes` are the requested sizes. `reservedTokens` are those of `specialTokens` that only fill the vocabulary. */
type AskedOfBoth = TokenLimits &
  Pick<
    TrainingOptionsRecord,
    "weights" | "sizes" | "seedTokens" | "padTo" | "reservedTokens" | "pattern" | "workers"
  >;

/** The record of merges over ids (docs/extend.md). */
export type IdsRecord = RunRecord &
  Pick<CorpusRecord, "mergeCount"> & {
    readonly options: {
      /**
       * One more than the largest id in the input, and the size of the vocabulary: the alphabet and one token
       * for each merge.
       */
      readonly alphabetSize: number;
      readonly vocabSize: number;
      readonly compat: Compat;
      readonly workers: number;
    } & TokenLimits;
    readonly inputs: readonly Pick<InputRecord, "path" | "sizeBytes" | "documents" | "format">[];
    readonly symbolCount: number;
    readonly tokenCount: number;
  };

/** A pattern. `name` is null if it is the user's own. `regex` is a list if the pattern is a sequence of splits. */
type PatternRecord = {
  readonly name: string | null;
  readonly regex: string | readonly string[];
  /** The expression for HF's engine from which `regex` was translated, if it is another. */
  readonly huggingface?: string;
  /**
   * `new RegExp(javascript, "gu")` finds the same pretokens; null if there is no such expression
   * (`javascriptSource`).
   */
  readonly javascript: string | null;
};

type TrainingOptionsRecord = TokenLimits & {
  /** Present only if requested. */
  readonly weights?: readonly InputWeight[];
  /** The size of the vocabulary; in the record of several, the largest size. */
  readonly vocabSize: number;
  /**
   * Present only in the record of several vocabularies: their sizes, ascending. Each has a directory with a
   * record of its own.
   */
  readonly sizes?: readonly number[];
  readonly specialTokens: readonly string[];
  /** Whether special tokens have the first ids. Present only if requested. */
  readonly specialTokensFirst?: true;
  /** Texts that became tokens regardless of their counts: their merges come first. Present only if given. */
  readonly seedTokens?: readonly string[];
  /** How merges were balanced among languages. Present only if anything but the lengths of their texts decided. */
  readonly parity?: Parity;
  /** The vocabulary is filled with reserved tokens to a multiple of this number. */
  readonly padTo: number;
  readonly reservedTokens: readonly string[];
  readonly pattern: PatternRecord;
  /**
   * The normalization that is applied before the pattern cuts text: steps separated by commas. Absent if
   * there is none.
   */
  readonly normalization?: string;
  /** Present only with superwords. `pattern` is then the pattern of the second stage, which encoding uses. */
  readonly superwords?: SuperwordRecord;
  readonly compat: Compat;
  /** Present only if texts were cut neither at line ends nor at special tokens, as when HF trains on an iterator. */
  readonly wholeTexts?: true;
  /** Present only if texts were not cut at special tokens, as when HF trains on files. */
  readonly specialTokensAsText?: true;
  /** The path, as typed, of the tokenizer whose settings were used. Present only if there is one. */
  readonly like?: string;
  /** Settings for a model: the special token of each role, and the other fields of `ModelSettings`. */
  readonly model: Roles & Omit<ModelSettings, "roles" | "proposed" | "fromTemplate">;
  readonly workers: number;
};

/** The fields of a record other than those of `RunRecord`, which come before and after them. */
export type FieldsOf<R extends RunRecord> = Omit<R, keyof RunRecord>;

/** What was read and learned. */
type CorpusRecord = {
  readonly inputs: readonly InputRecord[];
  /** The languages of the corpus, in order. Present only if it has any. */
  readonly languages?: readonly LanguageRecord[];
  /** Files in directories that were skipped, with the reasons. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** The files of word counts that were added. */
  readonly counts: readonly CountsRecord[];
  readonly wordCount: number;
  readonly distinctWordCount: number;
  readonly mergeCount: number;
};

/** The fields that every record has. */
export type RunRecord = {
  readonly format: typeof recordFormat;
  readonly version: string;
  readonly bunVersion: string;
  readonly commit: string;
  /** The command line as people read it. */
  readonly command: string;
  /** The arguments as they were typed. */
  readonly arguments: readonly string[];
  /** The directory from which relative paths start. */
  readonly workingDirectory: string;
  /** When the run started: UTC, in the form of ISO 8601. */
  readonly startedAt: string;
  /** Every file of the result, including this one. */
  readonly files: readonly string[];
  /** SHA-256 of the others, in hex by name; those of tokenizers made from others have none. */
  readonly filesSha256?: Readonly<Record<string, string>>;
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
  /** Number of pretokens in the second stage. */
  readonly pretokenCount: number;
  readonly distinctWordCount: number;
  /**
   * Merges of the first stage that were kept; and those that were dropped, because they occur in no pretoken
   * of the second stage.
   */
  readonly inheritedCount: number;
  readonly droppedCount: number;
};

type InputRecord = {
  readonly path: string;
  readonly sizeBytes: number;
  /** Size of the decompressed text; of records, only their text fields. */
  readonly textBytes: number;
  readonly documents: number;
  readonly invalidBytes: number;
  /**
   * CRC-32 of the `textBytes` bytes of text, those of records one after the other; absent if their words came from
   * a cache of an older version.
   */
  readonly crc32?: string;
  /** `text`, `jsonl`, `json` or `parquet`. */
  readonly format: string;
  /** How the format was determined: `option`, `name` or `content`. */
  readonly formatFrom: string;
  /** The field, or column, that has the text of a record. Present only for records. */
  readonly textField?: string;
  /** The weight of the input's words. Present only if some input has a weight. */
  readonly weight?: number;
} & Partial<LanguageOfInput>;

/**
 * The language of an input. Present only if the corpus has languages. `isDev`: the input was used to compare
 * languages, not to learn from.
 */
export type LanguageOfInput = { readonly language: string; readonly isDev: boolean };

/** What was read of a language's training text, or of its dev text. */
export type LanguageRecord = LanguageOfInput & {
  readonly textBytes: number;
  /** Number of pretokens. */
  readonly wordCount: number;
  readonly distinctWordCount: number;
  /**
   * The numbers of bytes, of tokens after all merges, and of tokens after as many merges that were learned
   * without languages. Weights are applied.
   */
  readonly byteCount: number;
  readonly tokenCount: number;
  readonly plainTokenCount: number;
};

export type CountsRecord = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  /** The weight of the words. Present only if some input has a weight. */
  readonly weight?: number;
};

/** A factor for the count of each word of the inputs that the glob matches (docs/inputs.md, "Weights"). */
export type InputWeight = {
  /** A label for people. */
  readonly name: string | null;
  readonly glob: string;
  /** The factor: at least 0, with at most six decimals. */
  readonly weight: number;
};

/**
 * Returns the record as a file. It is written last: `record` is called after the other files were written, to
 * state how long that took.
 */
export function trainingFile(record: () => object): OutputFile {
  return {
    name: recordName,
    chunks: () => [new TextEncoder().encode(`${JSON.stringify(record(), null, 2)}\n`)],
  };
}

export const readJson = (path: string): unknown => parseJson(readText(path), path);

/** What is read of a training record to complete the files next to it. */
export type RecordedTraining = {
  readonly patternSources: readonly string[];
  readonly specialTokens: readonly string[];
  /**
   * The ids of the special tokens, if the record is that of an extended or pruned tokenizer. Otherwise
   * `compat` determines them.
   */
  readonly specialIds: readonly number[] | undefined;
  /** Whether special tokens were given the first ids by request. `compat` may give them the first ids as well. */
  readonly specialTokensFirst: boolean;
  /** null: text is not normalized. undefined: the record does not say. */
  readonly normalization: Normalization | null | undefined;
  /**
   * Tokens that fill the vocabulary, and have the last ids. If `specialIds` is present, `specialTokens`
   * includes them.
   */
  readonly reservedTokens: readonly string[];
  readonly compat: Compat | "extension";
  /** The special token that is put before a text. */
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

/**
 * Reads the record next to a file. Returns null if there is none, if bpe did not write it, or if it does not
 * list the file.
 */
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

/** Reads the facts about the corpus and the tokens from the record of a tokenizer; null if it has none. */
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

/**
 * Returns the special tokens that a training gave roles, by the names in `transformers`; an empty object
 * without a record.
 */
export function readRecordedRoles(path: string): Readonly<Record<string, string | undefined>> {
  const roles: Partial<Record<string, string | undefined>> = recordOf(path, roleFields)?.options.model ?? {};
  return Object.fromEntries(Object.entries(roles).map(([role, token]) => [`${role}_token`, token]));
}

const inputFields = fieldsOf({
  files: listOf(text),
  inputs: listOf(fieldsOf({ format: oneOf(inputFormats), textField: optional(text) })),
});

/**
 * Returns how the inputs of a training were read, if all were read alike. Uses the first of these tokenizers
 * that has a record.
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

/** Returns the paths of the files that a tokenizer was trained on, from its record; an empty list without one. */
export function readRecordedInputs(path: string): string[] {
  const record = recordOf(path, corpusFields);
  if (record === null) return [];
  const { workingDirectory, inputs } = record;
  return inputs.flatMap(({ path, isDev }) =>
    isDev || path === "-" ? [] : [resolve(workingDirectory, path)],
  );
}

/**
 * Reads the record in a tokenizer's directory, or next to its file, which the record must list. Returns null
 * for a missing record, another kind of record or an older version, because it is only used for display and
 * defaults.
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
