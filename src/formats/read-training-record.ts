import { basename, dirname, join, resolve } from "node:path";
import { schema } from "#bytes";
import type { inspection } from "#corpus";
import { asOption, files, phrase, UserError } from "#runtime";
import type { Normalization } from "#text";
import type { Compat, tokenCounting } from "#tokenizer";
import * as recordSchemas from "./record-fields.ts";
import { readJson, recordName } from "./recorded-files.ts";

/** The fields of a training record that say what the files next to it may lack. */
export type RecordedTraining = {
  readonly patternSources: readonly string[];
  readonly specialTokens: readonly string[];
  /**
   * The ids of the special tokens. If the record does not state them, `compat` and `specialTokensFirst` determine them.
   */
  readonly specialIds: readonly number[] | undefined;
  /** Whether special tokens were given the first ids by request. `compat` may give them the first ids as well. */
  readonly specialTokensFirst: boolean;
  /** null, or undefined because the record leaves it out: text is not normalized. */
  readonly normalization: Normalization | null | undefined;
  /** The reserved tokens, which fill the vocabulary. If `specialIds` is present, `specialTokens` includes them. */
  readonly reservedTokens: readonly string[];
  readonly compat: Compat | "extension";
  /** The special token that is put before a text; undefined if there is none. */
  readonly bosInFront: string | undefined;
};

const { specialTokens, specialIds, specialTokensFirst, reservedTokens } = recordSchemas.option;
const { normalization, compat, pattern, model } = recordSchemas.option;

const recordFields = schema.object({
  files: schema.list(schema.text),
  options: schema.object({
    ...{ specialTokens: schema.optional(specialTokens), specialIds, specialTokensFirst, reservedTokens },
    ...{ normalization, compat: schema.optional(compat), pattern, model },
  }),
});

/**
 * Reads the record next to a file. Returns null if there is none, if it has neither of the fields `files` and `options`
 * (then bpe did not write it), or if it does not list the file. Throws a UserError for a record that is not JSON, or
 * whose fields are missing or wrong.
 */
export function read(path: string): RecordedTraining | null {
  const recordPath = join(dirname(path), recordName);
  if (!files.isFile(recordPath)) return null;
  const root = readJson(recordPath);
  if (typeof root !== "object" || root === null || !("files" in root || "options" in root)) return null;
  const { files: listed, options } = schema.checkOr(recordFields, root, (what) => {
    throw new UserError(`"${recordPath}" is not a training record: ${what}`, {
      hint: phrase`move this file away, or train again; without it, a rank file needs ${asOption("pattern")} and ${asOption("special-token")}`,
    });
  });
  if (!listed.includes(basename(path))) return null;
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

/** Returns the record of the first of these files that has one (`read`), or undefined. */
export const find = (paths: readonly string[]): RecordedTraining | undefined =>
  paths.map(read).find((record) => record !== null) ?? undefined;

const point = schema.object({ vocabSize: schema.wholeNumber(), bytesPerToken: schema.amount });

const tokenCountFields = schema.object({
  files: schema.list(schema.text),
  tokenCount: schema.wholeNumber(),
  bytesPerToken: schema.orNull(schema.amount),
  half: schema.orNull(point),
  curve: schema.list(point),
  residueCount: schema.wholeNumber(),
  neverReachedCount: schema.wholeNumber(),
});

export function readTokenCountFacts(path: string): tokenCounting.Facts | null {
  const record = recordOf(path, tokenCountFields);
  if (record === null) return null;
  const { files: _, ...facts } = record;
  return facts;
}

const roleFields = schema.object({ files: schema.list(schema.text), options: schema.object({ model }) });

/** Returns the special tokens that a training gave roles, by the names in `transformers`. */
export function readRoles(path: string): Readonly<Record<string, string | undefined>> {
  const { bos, eos, pad, unk } = recordOf(path, roleFields)?.options.model ?? {};
  const roles = { bos_token: bos, eos_token: eos, pad_token: pad, unk_token: unk };
  return Object.fromEntries(Object.entries(roles).filter(([, token]) => token !== undefined));
}

const { path, format, textField, isDev } = recordSchemas.input;

const readingFields = schema.object({
  files: schema.list(schema.text),
  inputs: schema.list(schema.object({ format, textField })),
});

/** Returns the format and the text field of the inputs, from the first record in which all inputs agree, if any. */
export function readReading(paths: readonly string[]): inspection.Reading | undefined {
  for (const path of paths) {
    const [first, ...others] = recordOf(path, readingFields)?.inputs ?? [];
    const isOne = others.every(
      ({ format, textField }) => format === first!.format && textField === first!.textField,
    );
    if (first !== undefined && isOne) return first;
  }
  return undefined;
}

const corpusFields = schema.object({
  files: schema.list(schema.text),
  workingDirectory: schema.text,
  inputs: schema.list(schema.object({ path, isDev })),
});

/** Returns the files that a tokenizer was trained on, without dev files and standard input. */
export function readInputs(path: string): string[] {
  const record = recordOf(path, corpusFields);
  if (record === null) return [];
  const { workingDirectory, inputs } = record;
  return inputs.flatMap(({ path, isDev }) =>
    isDev || path === "-" ? [] : [resolve(workingDirectory, path)],
  );
}

/**
 * Reads the record in a tokenizer's directory, or next to its file. Returns null if there is no record, or if the
 * record does not list the file, lacks fields or cannot be read. This is no error, because the record is only used for
 * display and for defaults.
 */
function recordOf<Fields extends { readonly files: readonly string[] }>(
  path: string,
  fields: schema.Check<Fields>,
): Fields | null {
  const isInside = files.isFile(path);
  const recordPath = join(isInside ? dirname(path) : path, recordName);
  if (!files.isFile(recordPath)) return null;
  try {
    const record = schema.checkOr(fields, readJson(recordPath), (what) => {
      throw new UserError(what);
    });
    return isInside && !record.files.includes(basename(path)) ? null : record;
  } catch {
    return null;
  }
}
