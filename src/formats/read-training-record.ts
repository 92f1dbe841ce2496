import { basename, dirname, join } from "node:path";
import {
  amount,
  checkOr,
  fieldsOf,
  listOf,
  oneOf,
  oneOrMore,
  optional,
  orNull,
  text,
  wholeNumber,
} from "../bytes/schema.ts";
import { inputFormats } from "../corpus/input.ts";
import type { Reading } from "../corpus/inspect-input.ts";
import { UserError } from "../errors.ts";
import type { Compat } from "../merge/merges.ts";
import { isFile } from "../runtime/system-error.ts";
import { type NormalizationForm, normalizationForms } from "../tokenizer/tokenizer-parts.ts";
import type { LedgerFacts } from "../vocabulary/ledger.ts";
import { readJson } from "./tokenizer-files.ts";
import { recordName } from "./training-json.ts";

/** What the record of a training adds to the files beside it. */
export type RecordedTraining = {
  readonly patternName: string | null;
  readonly patternSources: readonly string[];
  readonly specialTokens: readonly string[];
  /** Their ids, in a record of a tokenizer that was extended or pruned; others follow from `compat`. */
  readonly specialIds: readonly number[] | undefined;
  /** Null if text is taken as it is. */
  readonly normalization: NormalizationForm | null | undefined;
  /** Tokens that fill the vocabulary; their ids come last. With `specialIds` they are among the special tokens, too. */
  readonly reservedTokens: readonly string[];
  readonly compat: Compat | "extension";
};

const recordFields = fieldsOf({
  files: listOf(text),
  options: fieldsOf({
    specialTokens: optional(listOf(text)),
    specialIds: optional(listOf(wholeNumber())),
    reservedTokens: optional(listOf(text)),
    normalization: optional(orNull(oneOf(normalizationForms))),
    compat: optional(oneOf<Compat | "extension">(["cs336", "huggingface", "rustbpe", "extension"])),
    pattern: fieldsOf({ name: orNull(text), regex: oneOrMore(text) }),
  }),
});

/** The record beside the file, or null if there is none of ours, or it does not list the file. */
export function recordedTraining(path: string, name: string): RecordedTraining | null {
  const recordPath = join(dirname(path), recordName);
  if (!isFile(recordPath)) return null;
  const root = readJson(recordPath);
  if (typeof root !== "object" || root === null || !("files" in root || "options" in root)) return null;
  const { files, options } = checkOr(recordFields, root, (what) => {
    throw new UserError(`"${recordPath}" is no record of a training: ${what}`, {
      hint: "train anew, or move it away and give --pattern and --special-token",
    });
  });
  if (!files.includes(name)) return null;
  return {
    patternName: options.pattern.name,
    patternSources: options.pattern.regex,
    specialTokens: options.specialTokens ?? [],
    specialIds: options.specialIds,
    normalization: options.normalization,
    reservedTokens: options.reservedTokens ?? [],
    compat: options.compat ?? "cs336",
  };
}

const point = fieldsOf({ vocabSize: wholeNumber(), bytesPerToken: amount });
const ledgerFields = fieldsOf({
  files: listOf(text),
  tokenCount: wholeNumber(),
  bytesPerToken: orNull(amount),
  half: orNull(point),
  curve: listOf(point),
  residueCount: wholeNumber(),
  neverReachedCount: wholeNumber(),
});

/** What the record beside a file says of the corpus and the tokens; null if none that lists the file says it. */
export function recordedLedger(path: string): LedgerFacts | null {
  const directory = isFile(path) ? dirname(path) : path;
  const recordPath = join(directory, recordName);
  if (!isFile(recordPath)) return null;
  try {
    const { files, ...facts } = checkOr(ledgerFields, readJson(recordPath), (what) => {
      throw new UserError(what);
    });
    return path === directory || files.includes(basename(path)) ? facts : null;
  } catch {
    // A record of another kind, or of an older version: it only would have been shown.
    return null;
  }
}

const inputFields = fieldsOf({
  files: listOf(text),
  inputs: listOf(fieldsOf({ format: oneOf(inputFormats), textField: optional(text) })),
});

/** How the inputs of a training were read, if all in one way, by the record of the first of these tokenizers that has one. */
export function recordedReading(paths: readonly string[]): Reading | undefined {
  for (const path of paths) {
    const isInside = isFile(path);
    const recordPath = join(isInside ? dirname(path) : path, recordName);
    if (!isFile(recordPath)) continue;
    try {
      const { files, inputs } = checkOr(inputFields, readJson(recordPath), (what) => {
        throw new UserError(what);
      });
      const [first, ...others] = inputs;
      const isOne = others.every(
        ({ format, textField }) => format === first!.format && textField === first!.textField,
      );
      if (first !== undefined && isOne && (!isInside || files.includes(basename(path)))) return first;
    } catch {
      // A record of another kind, or of ids.
    }
  }
  return undefined;
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

/** What the record beside these files says that lists one of them; undefined if none of ours does. */
export const recordedBeside = (paths: readonly string[]): RecordedTraining | undefined =>
  paths.map((path) => recordedTraining(path, basename(path))).find((record) => record !== null) ?? undefined;
