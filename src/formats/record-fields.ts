import { isPlainObject, schema } from "#bytes";
import { corpusInputs } from "#corpus";
import { normalForms } from "#text";
import type { Compat } from "#tokenizer";

// The checks of the fields of a training record. Readers take those that they need.

const count = schema.wholeNumber();

const pattern = schema.object({
  name: schema.orNull(schema.text),
  regex: schema.oneOrMore(schema.text),
  huggingface: schema.optional(schema.text),
});

/** Texts by their names. */
export const textsByName: schema.Check<Readonly<Record<string, string>>> = (value, name) => {
  const fields = isPlainObject(value) ? Object.keys(value) : [];
  return schema.object(Object.fromEntries(fields.map((field) => [field, schema.text])))(value, name);
};

/** The checks of the fields of an input. */
export const input = {
  path: schema.text,
  sizeBytes: count,
  textBytes: schema.optional(count),
  documents: schema.optional(count),
  invalidBytes: schema.optional(count),
  format: schema.oneOf(corpusInputs.inputFormats),
  textField: schema.optional(schema.text),
  crc32: schema.optional(schema.text),
  language: schema.optional(schema.text),
  isDev: schema.optional(schema.flag),
  weight: schema.optional(schema.amount),
};

/** The checks of the fields of `options`. Older records lack some fields that are not optional here. */
export const option = {
  vocabSize: count,
  newTokens: schema.optional(count),
  sizes: schema.optional(schema.list(count)),
  specialTokens: schema.list(schema.text),
  specialIds: schema.optional(schema.list(count)),
  specialTokensFirst: schema.optional(schema.flag),
  reservedTokens: schema.optional(schema.list(schema.text)),
  documentsEndAt: schema.optional(schema.list(schema.text)),
  rename: schema.optional(textsByName),
  seedTokens: schema.optional(schema.list(schema.text)),
  parity: schema.optional(
    schema.object({
      ratio: schema.orNull(schema.list(schema.amount)),
      window: schema.orNull(schema.object({ size: count, alpha: schema.amount })),
      globalMerges: count,
    }),
  ),
  padTo: schema.optional(count),
  pattern,
  normalization: schema.optional(schema.orNull(normalForms.check)),
  superwords: schema.optional(schema.object({ fromVocabSize: count, wordPattern: pattern })),
  compat: schema.oneOf<Compat | "extension">(["cs336", "huggingface", "rustbpe", "extension"]),
  wholeTexts: schema.optional(schema.flag),
  specialTokensAsText: schema.optional(schema.flag),
  wholeCharacters: schema.optional(schema.flag),
  minFrequency: schema.optional(count),
  maxTokenLength: schema.optional(schema.orNull(count)),
  like: schema.optional(schema.text),
  model: schema.optional(
    schema.object({
      ...{
        bos: schema.optional(schema.text),
        eos: schema.optional(schema.text),
        pad: schema.optional(schema.text),
        unk: schema.optional(schema.text),
      },
      addsBos: schema.optional(schema.flag),
      chatTemplate: schema.optional(schema.orNull(schema.text)),
      modelMaxLength: schema.optional(schema.orNull(count)),
      tokenizerClass: schema.optional(schema.text),
    }),
  ),
};
