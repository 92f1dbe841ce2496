import type { Compat, modelSettings, Roles, tokenCounting } from "#tokenizer";
import type { OutputFile } from "./output-file.ts";
import { recordName } from "./recorded-files.ts";

/** The version of the schema. It is the first field of a record. */
export const format = 1;

/** `training.json`: what was requested, read and learned. Each field is part of the command line's contract. */
export type TrainingRecord = tokenCounting.Facts &
  RunRecord &
  CorpusRecord & {
    readonly options: TrainingOptionsRecord;
    /**
     * The requested formats. null: none were requested, so the tokenizer has all formats that can hold it, except those
     * that are only written on request.
     */
    readonly formats: readonly string[] | null;
    /** A digest of the ids of a fixed text (src/tokenizer/fingerprint.ts). */
    readonly fingerprint: string;
  };

/** The record of an extended tokenizer. `mergeCount` and `mergesSha256` cover only the new merges. */
export type Extension = RunRecord &
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
    /** A digest of the ids of a fixed text (src/tokenizer/fingerprint.ts). */
    readonly fingerprint: string;
    /** Bytes per token of the corpus, with the new tokens; null if the corpus has no pretokens. */
    readonly bytesPerToken: number | null;
    readonly options: {
      /** One more than the largest id. */
      readonly vocabSize: number;
      /** The number of new tokens that were requested. */
      readonly newTokens: number;
      /**
       * The added tokens of the base, special or not, then the new special tokens, then the reserved tokens of `padTo`.
       */
      readonly specialTokens: readonly string[];
      /** The ids of `specialTokens`, in their order. */
      readonly specialIds: readonly number[];
      /** The normalization that the base applies to text before cutting it. */
      readonly normalization: string | null;
      /** The special tokens that ended documents. */
      readonly documentsEndAt: readonly string[];
      /**
       * The new text of each renamed special token of the base, by its old text. Present only if renaming was
       * requested.
       */
      readonly rename?: Readonly<Record<string, string>>;
      readonly compat: Compat | "extension";
    } & AskedOfBoth;
  };

/** Options that the records of trained and of extended tokenizers share. */
type AskedOfBoth = TokenLimits &
  Pick<
    TrainingOptionsRecord,
    "weights" | "sizes" | "seedTokens" | "padTo" | "reservedTokens" | "pattern" | "workers"
  >;

/** The record of merges over ids (docs/extend.md). */
export type Ids = RunRecord &
  Pick<CorpusRecord, "mergeCount"> & {
    readonly options: {
      /** One more than the largest id in the input. */
      readonly alphabetSize: number;
      /** The size of the alphabet plus the number of merges. */
      readonly vocabSize: number;
      readonly compat: Compat;
      readonly workers: number;
    } & TokenLimits;
    readonly inputs: readonly Pick<InputRecord, "path" | "sizeBytes" | "documents" | "format">[];
    readonly symbolCount: number;
    readonly tokenCount: number;
  };

/** A pattern. If it has no name, `name` is null. If it is a sequence of splits, `regex` is a list. */
type PatternRecord = {
  readonly name: string | null;
  readonly regex: string | readonly string[];
  /** The expression for HF's engine from which `regex` was translated. Present only if the two differ. */
  readonly huggingface?: string;
  /**
   * The pattern in JavaScript: `new RegExp(javascript, "gu")` finds the same pretokens. null if there is no such
   * expression.
   */
  readonly javascript: string | null;
};

type TrainingOptionsRecord = TokenLimits & {
  /** Present only if requested. */
  readonly weights?: readonly InputWeight[];
  /** The size of the vocabulary. In the common record of several vocabularies, the largest size. */
  readonly vocabSize: number;
  /**
   * The sizes of all vocabularies, ascending. Present only in the common record of several vocabularies. Each of these
   * vocabularies also has a directory with a record of its own.
   */
  readonly sizes?: readonly number[];
  readonly specialTokens: readonly string[];
  /**
   * Present if special tokens have the first ids, although the rule `compat` would otherwise give them the last ones.
   */
  readonly specialTokensFirst?: true;
  /** Texts that became tokens whatever their counts: their merges come before learned ones. Present only if given. */
  readonly seedTokens?: readonly string[];
  /** The options for balancing merges among languages. Absent if none was given. */
  readonly parity?: Parity;
  /** The vocabulary is filled with reserved tokens to a multiple of this number. */
  readonly padTo: number;
  readonly reservedTokens: readonly string[];
  readonly pattern: PatternRecord;
  /**
   * The normalization that is applied before the pattern cuts text: steps separated by commas. Absent if there is none.
   */
  readonly normalization?: string;
  /** Present only with superwords. `pattern` is then the pattern of the second stage, which encoding uses. */
  readonly superwords?: SuperwordRecord;
  readonly compat: Compat;
  /** Present only if texts were cut neither at line ends nor at special tokens, as when HF trains on an iterator. */
  readonly wholeTexts?: true;
  /** Present only if texts were not cut at special tokens, as when HF trains on files. */
  readonly specialTokensAsText?: true;
  /** The path or name, as typed, of the tokenizer whose settings were used. Present only if there is one. */
  readonly like?: string;
  /**
   * Settings for a model: the special token of each role, and the other fields of `ModelSettings` except `proposed` and
   * `fromTemplate`.
   */
  readonly model: Roles & Omit<modelSettings.ModelSettings, "roles" | "proposed" | "fromTemplate">;
  readonly workers: number;
};

/** The fields in the middle of a record. The fields of `RunRecord` come before and after them. */
export type FieldsOf<R extends RunRecord> = Omit<R, keyof RunRecord>;

/** What was read and learned. */
type CorpusRecord = {
  readonly inputs: readonly InputRecord[];
  /** The languages of the corpus, in order. Present only if it has any. */
  readonly languages?: readonly Language[];
  /** Files and folders in directories, and matches of globs, that were left out, with the reasons. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** The files of word counts that were added. */
  readonly counts: readonly Counts[];
  readonly wordCount: number;
  readonly distinctWordCount: number;
  readonly mergeCount: number;
};

/** The fields that all records of trainings have. */
export type RunRecord = {
  readonly format: typeof format;
  readonly version: string;
  readonly bunVersion: string;
  readonly commit: string;
  /** The command line as one text, for people. */
  readonly command: string;
  /** The arguments as they were typed. */
  readonly arguments: readonly string[];
  /** The directory from which relative paths start. */
  readonly workingDirectory: string;
  /** When the run started: UTC, in the form of ISO 8601. */
  readonly startedAt: string;
  /** The files of the result, including this one, but no images. */
  readonly files: readonly string[];
  /**
   * The SHA-256 of each file except the record, in hex, by name. Absent from records of converted, pruned and truncated
   * tokenizers, and of older versions.
   */
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
  /** Number of merges of the first stage that were kept. */
  readonly inheritedCount: number;
  /** Number of merges of the first stage that were dropped, because they occur in no pretoken of the second stage. */
  readonly droppedCount: number;
};

type InputRecord = {
  readonly path: string;
  readonly sizeBytes: number;
  /** Size of the decompressed text. In formats with records, only the text fields count. */
  readonly textBytes: number;
  readonly documents: number;
  readonly invalidBytes: number;
  /**
   * CRC-32 of the `textBytes` bytes of text; the text fields of records are read one after the other. Absent if the
   * runtime has no CRC-32, or if the words came from a cache of an older version.
   */
  readonly crc32?: string;
  /** One of `inputFormats`. */
  readonly format: string;
  /** How the format was determined: `option`, `name` or `content`. */
  readonly formatFrom: string;
  /** The field, or column, that has the text of a record. Present only for formats that have fields. */
  readonly textField?: string;
  /** The weight of the input's words. Present only if some input has a weight. */
  readonly weight?: number;
} & Partial<LanguageOfInput>;

/**
 * The language of an input. Present only if the corpus has languages. `isDev`: the input was used to compare languages,
 * not to learn from.
 */
export type LanguageOfInput = { readonly language: string; readonly isDev: boolean };

/** Numbers about a language: about its training text or, if `isDev` is true, about its dev text. */
export type Language = LanguageOfInput & {
  readonly textBytes: number;
  /** Number of pretokens. */
  readonly wordCount: number;
  readonly distinctWordCount: number;
  /** Number of bytes, with weights applied. */
  readonly byteCount: number;
  /** Number of tokens after all merges, with weights applied. */
  readonly tokenCount: number;
  /** Like `tokenCount`, but after equally many merges of a training without languages. */
  readonly plainTokenCount: number;
};

export type Counts = {
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
  /** The factor: from 0 to 1,000,000, with at most six decimals. */
  readonly weight: number;
};

/** Returns the record as a file. `record` is called when the file is written. */
export function file(record: () => object): OutputFile {
  return {
    name: recordName,
    chunks: () => [new TextEncoder().encode(`${JSON.stringify(record(), null, 2)}\n`)],
  };
}

/** Limits on the tokens that are learned. */
export type TokenLimits = {
  /** Training ends when the best pair occurs fewer times than this. */
  readonly minFrequency: number;
  /**
   * The maximum length of a token in bytes, or in start tokens if these have no bytes. With `compat` huggingface, HF's
   * own rule applies: the length must be below this maximum, and two bytes may always be merged.
   */
  readonly maxTokenLength: number | null;
  /**
   * If set, no token joins a whole character with a part of another (docs/clean-and-fair.md). Start tokens must have
   * bytes.
   */
  readonly wholeCharacters?: true;
};

/** How merges are distributed among languages (docs/clean-and-fair.md). */
export type Parity = {
  /** The desired relative compression of each language. If null, absolute lengths are compared. */
  readonly ratio: readonly number[] | null;
  /**
   * Limits how often a language is chosen: to `alpha` times an equal share of the last `size` choices. A language above
   * this limit is passed over as long as another one that has pairs left is not above it.
   */
  readonly window: { readonly size: number; readonly alpha: number } | null;
  /** The number of merges that are chosen first, by the counts of all languages together. */
  readonly globalMerges: number;
};
