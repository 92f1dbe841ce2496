import {
  amount,
  type Check,
  fieldsOf,
  flag,
  isPlainObject,
  listOf,
  oneOf,
  oneOrMore,
  optional,
  orNull,
  text,
  wholeNumber,
} from "#bytes";
import { inputFormats } from "#corpus";
import type { Compat } from "#merge";
import { normalizationCheck } from "#text";

// The checks of the fields of a training record. Readers take those that they need.

const count = wholeNumber();

const pattern = fieldsOf({ name: orNull(text), regex: oneOrMore(text), huggingface: optional(text) });

/** Texts by their names. */
export const textsByName: Check<Readonly<Record<string, string>>> = (value, name) => {
  const fields = isPlainObject(value) ? Object.keys(value) : [];
  return fieldsOf(Object.fromEntries(fields.map((field) => [field, text])))(value, name);
};

/** The checks of the fields of an input. */
export const inputFields = {
  path: text,
  sizeBytes: count,
  textBytes: optional(count),
  documents: optional(count),
  invalidBytes: optional(count),
  format: oneOf(inputFormats),
  textField: optional(text),
  crc32: optional(text),
  language: optional(text),
  isDev: optional(flag),
  weight: optional(amount),
};

/** The checks of the fields of `options`. Older records lack some fields that are not optional here. */
export const optionFields = {
  vocabSize: count,
  newTokens: optional(count),
  sizes: optional(listOf(count)),
  specialTokens: listOf(text),
  specialIds: optional(listOf(count)),
  specialTokensFirst: optional(flag),
  reservedTokens: optional(listOf(text)),
  documentsEndAt: optional(listOf(text)),
  rename: optional(textsByName),
  seedTokens: optional(listOf(text)),
  parity: optional(
    fieldsOf({
      ratio: orNull(listOf(amount)),
      window: orNull(fieldsOf({ size: count, alpha: amount })),
      globalMerges: count,
    }),
  ),
  padTo: optional(count),
  pattern,
  normalization: optional(orNull(normalizationCheck)),
  superwords: optional(fieldsOf({ fromVocabSize: count, wordPattern: pattern })),
  compat: oneOf<Compat | "extension">(["cs336", "huggingface", "rustbpe", "extension"]),
  wholeTexts: optional(flag),
  specialTokensAsText: optional(flag),
  wholeCharacters: optional(flag),
  minFrequency: optional(count),
  maxTokenLength: optional(orNull(count)),
  like: optional(text),
  model: optional(
    fieldsOf({
      ...{ bos: optional(text), eos: optional(text), pad: optional(text), unk: optional(text) },
      addsBos: optional(flag),
      chatTemplate: optional(orNull(text)),
      modelMaxLength: optional(orNull(count)),
      tokenizerClass: optional(text),
    }),
  ),
};
