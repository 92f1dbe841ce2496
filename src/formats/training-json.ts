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
import { isFile, readText, UserError } from "#runtime";
import { type Normalization, normalizationCheck } from "#text";
import type { ModelSettings, Roles, TokenCountFacts } from "#tokenizer";
import type { OutputFile } from "./output-file.ts";

/** The name of the record, which lists the files of a result. */
export const recordName = "training.json";
/** The table of tokens beside it: tokens-tsv.ts. */
export const tokensTsvName = "tokens.tsv";

/** The version of the record's schema, its first field. */
export const recordFormat = 1;

/** `training.json`: what was asked, what was read, what came out. Each field is part of the command line's contract. */
export type TrainingRecord = TokenCountFacts &
  RunRecord &
  CorpusRecord & {
    readonly options: TrainingOptionsRecord;
    /** The formats asked for; null: all that can hold the tokenizer. */
    readonly formats: readonly string[] | null;
  };

/** The same of a tokenizer that was extended. Merges and their checksum are those that are new. */
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
    /** Of the corpus, with the new tokens; null if it has no bytes. */
    readonly bytesPerToken: number | null;
    readonly options: {
      /** One more than the largest id; and how many new tokens were asked for. */
      readonly vocabSize: number;
      readonly newTokens: number;
      /** The base's, then new ones, then the reserved ones of `padTo`; each with its id at the same place. */
      readonly specialTokens: readonly string[];
      readonly specialIds: readonly number[];
      /** The normal form that the base brings text into before it cuts it. */
      readonly normalization: string | null;
      /** Texts that ended documents. */
      readonly documentsEndAt: readonly string[];
      /** Only if asked for: special tokens of the base that have other texts, these by the old ones. */
      readonly rename?: Readonly<Record<string, string>>;
      readonly compat: Compat | "extension";
    } & AskedOfBoth;
  };

/** `sizes` are as they were asked for; `reservedTokens` are those of `specialTokens` that only fill the vocabulary. */
type AskedOfBoth = TokenLimits &
  Pick<
    TrainingOptionsRecord,
    "weights" | "sizes" | "seedTokens" | "padTo" | "reservedTokens" | "pattern" | "workers"
  >;

/** The same of merges over ids (docs/extend.md). */
export type IdsRecord = RunRecord &
  Pick<CorpusRecord, "mergeCount"> & {
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
  /** Weights of inputs, if any were asked for. */
  readonly weights?: readonly InputWeight[];
  /** The largest, if there are several. */
  readonly vocabSize: number;
  /** Only in the record of several vocabularies: their sizes, ascending. Each has a directory with a record of its own. */
  readonly sizes?: readonly number[];
  readonly specialTokens: readonly string[];
  /** Only if asked for: they have the first ids. */
  readonly specialTokensFirst?: true;
  /** Only with such: texts that are tokens whatever their counts, whose merges come first. */
  readonly seedTokens?: readonly string[];
  /** Only if more than the lengths of their texts decides between languages. */
  readonly parity?: Parity;
  /** The vocabulary is filled with reserved tokens to a multiple of this. */
  readonly padTo: number;
  readonly reservedTokens: readonly string[];
  readonly pattern: PatternRecord;
  /** What is done to text before the pattern cuts it, if it is normalized: steps with commas between. */
  readonly normalization?: string;
  /** Only with superwords; `pattern` is then that of the second stage, by which text is encoded. */
  readonly superwords?: SuperwordRecord;
  readonly compat: Compat;
  /** Only if texts were cut neither at line ends nor at special tokens, as HF trains on an iterator. */
  readonly wholeTexts?: true;
  /** Only if texts were not cut at special tokens, as HF trains on files. */
  readonly specialTokensAsText?: true;
  /** Only if its settings were taken from another tokenizer: the path of that one, as typed. */
  readonly like?: string;
  /** What a model needs to know: the special token of each role, and the rest of `ModelSettings`. */
  readonly model: Roles & Omit<ModelSettings, "roles" | "proposed" | "brought">;
  readonly workers: number;
};

/** What a record has of its own, between the head and the files of a `RunRecord`. */
export type FieldsOf<R extends RunRecord> = Omit<R, keyof RunRecord>;

/** What was read and learned. */
type CorpusRecord = {
  readonly inputs: readonly InputRecord[];
  /** Those of the corpus, in their order, if it has any. */
  readonly languages?: readonly LanguageRecord[];
  /** Files in directories that were not read, each with what it is. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** Files of word counts that were added. */
  readonly counts: readonly CountsRecord[];
  readonly wordCount: number;
  readonly distinctWordCount: number;
  readonly mergeCount: number;
};

/** What every record has. */
export type RunRecord = {
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
  readonly wordPattern: PatternRecord;
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
  /** The text in it: decompressed, and without what records have beside it. */
  readonly textBytes: number;
  readonly documents: number;
  readonly invalidBytes: number;
  /** `text`, `jsonl`, `json` or `parquet`. */
  readonly format: string;
  /** What the format was known by: `option`, `name` or `content`. */
  readonly formatFrom: string;
  /** The field, or column, that held the texts of records; only for records. */
  readonly textField?: string;
  /** How often its words count; only where any input has a weight. */
  readonly weight?: number;
} & Partial<LanguageOfInput>;

/** Only of a corpus of languages. `isDev`: languages are compared by it, and nothing is learned from it. */
export type LanguageOfInput = { readonly language: string; readonly isDev: boolean };

/** What was read of a language, or of its dev text. */
export type LanguageRecord = LanguageOfInput & {
  readonly textBytes: number;
  /** Pretokens. */
  readonly wordCount: number;
  readonly distinctWordCount: number;
  /**
   * Their bytes, their tokens when all merges are made, and those by as many merges learned without languages; with weights,
   * as often as they count.
   */
  readonly byteCount: number;
  readonly tokenCount: number;
  readonly plainTokenCount: number;
};

export type CountsRecord = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  /** As that of an input. */
  readonly weight?: number;
};

/** Each word of the inputs that the glob fits counts so many times (docs/inputs.md, "Weights"). */
export type InputWeight = {
  /** For people. */
  readonly name: string | null;
  readonly glob: string;
  /** At least 0, with at most six digits behind the point. */
  readonly weight: number;
};

/** Written last: `record` is called when the other files are written, and says how long that took. */
export function trainingFile(record: () => object): OutputFile {
  return {
    name: recordName,
    chunks: () => [new TextEncoder().encode(`${JSON.stringify(record(), null, 2)}\n`)],
  };
}

export const readJson = (path: string): unknown => parseJson(readText(path), path);

/** What the record of a training adds to the files beside it. */
export type RecordedTraining = {
  readonly patternSources: readonly string[];
  readonly specialTokens: readonly string[];
  /** Their ids, in a record of a tokenizer that was extended or pruned; others follow from `compat`. */
  readonly specialIds: readonly number[] | undefined;
  /** Their ids are the first ones by this setting, or by `compat`. */
  readonly specialTokensFirst: boolean;
  /** Null if text is taken as it is. */
  readonly normalization: Normalization | null | undefined;
  /** Tokens that fill the vocabulary; their ids come last. With `specialIds` they are among the special tokens, too. */
  readonly reservedTokens: readonly string[];
  readonly compat: Compat | "extension";
  /** The special token that is put in front of a text. */
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

/** The record beside the file, or null if there is none of ours, or it does not list the file. */
export function recordedTraining(path: string): RecordedTraining | null {
  const recordPath = join(dirname(path), recordName);
  if (!isFile(recordPath)) return null;
  const root = readJson(recordPath);
  if (typeof root !== "object" || root === null || !("files" in root || "options" in root)) return null;
  const { files, options } = checkOr(recordFields, root, (what) => {
    throw new UserError(`"${recordPath}" is not a training record: ${what}`, {
      hint: "train again, or move it away and give --pattern and --special-token",
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

/** What the record beside these files says that lists one of them; undefined if none of ours does. */
export const recordedBeside = (paths: readonly string[]): RecordedTraining | undefined =>
  paths.map(recordedTraining).find((record) => record !== null) ?? undefined;

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

/** What the record of a tokenizer says of the corpus and the tokens; null if none says it. */
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

/** The special tokens that a training gave roles, by the names of `transformers`; none if no record says it. */
export function recordedRoles(path: string): Readonly<Record<string, string | undefined>> {
  const roles: Partial<Record<string, string | undefined>> = recordOf(path, roleFields)?.options.model ?? {};
  return Object.fromEntries(Object.entries(roles).map(([role, token]) => [`${role}_token`, token]));
}

const inputFields = fieldsOf({
  files: listOf(text),
  inputs: listOf(fieldsOf({ format: oneOf(inputFormats), textField: optional(text) })),
});

/** How the inputs of a training were read, if all in one way, by the record of the first of these tokenizers that has one. */
export function recordedReading(paths: readonly string[]): Reading | undefined {
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

/** The paths of the files that a tokenizer was trained on, by its record; none without one. */
export function recordedInputs(path: string): string[] {
  const record = recordOf(path, corpusFields);
  if (record === null) return [];
  const { workingDirectory, inputs } = record;
  return inputs.flatMap(({ path, isDev }) =>
    isDev || path === "-" ? [] : [resolve(workingDirectory, path)],
  );
}

/**
 * The record in a tokenizer's directory, or beside its file, which it must list. Null if there is none, or one of another
 * kind or an older version: what it says is only shown, or a default.
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

/** The sizes that the record of several vocabularies lists; undefined for any other file. */
export function recordedSizes(path: string): readonly number[] | undefined {
  if (!isFile(path)) return undefined;
  const record = readJson(path) as { options?: { sizes?: unknown } } | null;
  const sizes = record?.options?.sizes;
  return Array.isArray(sizes) && sizes.length > 0 && sizes.every(Number.isSafeInteger) ? sizes : undefined;
}

/** The files that a record lists, its own among them; undefined for any other file. */
export function recordedFiles(path: string): readonly string[] | undefined {
  if (!isFile(path)) return undefined;
  const files = (readJson(path) as { files?: unknown } | null)?.files;
  return Array.isArray(files) && files.includes(recordName) ? files : undefined;
}
