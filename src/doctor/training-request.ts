import { type Input, inspection } from "#corpus";
import type { RequestedTraining } from "#options";
import { modelSettings } from "#tokenizer";
import type { RecordedInput, VerifiedRecord } from "./training-record.ts";

// Turns the record of a training into the request that makes the same tokenizer.

/** The paths of what a training read. */
export type FoundSources = {
  readonly inputs: readonly string[];
  readonly counts: readonly string[];
  readonly base: string | undefined;
  readonly like: string | undefined;
};

/** Settings of the verifying run, not of the recorded one. */
type Limits = Pick<RequestedTraining, "workers" | "memoryLimit">;

/** Makes the request that repeats a recorded training, with its sources as they were found. */
export function requestOf(record: VerifiedRecord, sources: FoundSources, limits: Limits): RequestedTraining {
  const { options } = record;
  const { seedTokens, padTo, wholeCharacters, minFrequency, maxTokenLength } = options;
  return {
    ...limits,
    ...{ seedTokens, padTo, wholeCharacters },
    // An extension without a corpus refuses `minFrequency`.
    ...((record.base === undefined || hasCorpus(record)) && { minFrequency }),
    maxTokenLength: maxTokenLength ?? undefined,
    ...(record.base === undefined ? newTokenizer(record, sources) : extension(record, sources)),
    ...corpusOf(record, sources),
  } as RequestedTraining;
}

function newTokenizer(record: VerifiedRecord, { like }: FoundSources): Partial<RequestedTraining> {
  const { options } = record;
  const { superwords, compat, specialTokens, specialTokensFirst, wholeTexts, specialTokensAsText } = options;
  const model: Partial<NonNullable<typeof options.model>> = options.model ?? {};
  // An empty text means that no token has the role. Without a text, training would choose a token by its name.
  const roles = Object.fromEntries(modelSettings.roleNames.map((role) => [role, model[role] ?? ""]));
  return {
    ...{ specialTokens, specialTokensFirst, wholeTexts, specialTokensAsText, like, ...roles },
    vocabSize: (options.sizes ?? [options.vocabSize]).map((count) => ({ isMore: false, count })),
    compat,
    normalize: options.normalization ?? undefined,
    ...(like === undefined && { pattern: typedPattern(superwords?.wordPattern ?? options.pattern) }),
    ...(superwords && {
      superwordsFrom: superwords.fromVocabSize,
      superwordPattern: typedPattern(options.pattern),
    }),
    addBos: model.addsBos,
    chatTemplate: model.chatTemplate ?? undefined,
    modelMaxLength: model.modelMaxLength ?? undefined,
    tokenizerClass: model.tokenizerClass,
    formats: record.formats ?? undefined,
    ledger: hasFile(record, "tokens.tsv"),
    modelCard: hasFile(record, "README.md"),
  };
}

const hasCorpus = ({ inputs, counts }: VerifiedRecord) => inputs.length + counts.length > 0;

/** Whether the record lists a file of this name, also in a subdirectory. */
const hasFile = ({ files }: VerifiedRecord, name: string) =>
  files.some((file) => file === name || file.endsWith(`/${name}`));

/**
 * Returns the value of `--pattern` for a recorded pattern. Returns undefined if the pattern has no name and is a
 * sequence of expressions, or an expression that would be read as a name: only the file of another tokenizer (`like`,
 * `extend`) can state these.
 */
function typedPattern({
  name,
  regex,
  huggingface,
}: VerifiedRecord["options"]["pattern"]): string | undefined {
  if (name !== null || huggingface !== undefined) return name ?? huggingface;
  return regex.length > 1 || /^[\w.-]*$/.test(regex[0]!) ? undefined : regex[0];
}

function extension(record: VerifiedRecord, { base }: FoundSources): Partial<RequestedTraining> {
  const { options } = record;
  const { newTokens, sizes, compat, documentsEndAt = [], rename, pattern } = options;
  // Documents may have ended at special tokens that the tokenizer did not get. These come from the files of word
  // counts: such a file lists the special tokens with which it was made. A request without special tokens uses those
  // that the files list.
  const areStated = documentsEndAt.some((text) => !options.specialTokens.includes(text));
  // A rank file, or vocab.json and merges.txt, has no pattern.
  const isBare = /^rank file|.+ and .+/.test(record.base!.kind);
  return {
    extend: base,
    compat,
    // By default, documents also end at the special tokens of the base. `specialTokensAsText` turns that off.
    specialTokensAsText: true,
    specialTokens: areStated ? undefined : documentsEndAt,
    rename,
    ...(isBare && { pattern: typedPattern(pattern) }),
    ...(hasCorpus(record) && {
      vocabSize: sizes?.map((count) => ({ isMore: false, count })) ?? [{ isMore: true, count: newTokens! }],
    }),
  };
}

function corpusOf(record: VerifiedRecord, found: FoundSources): Partial<RequestedTraining> {
  const { inputs, counts, options } = record;
  const places = inputs.map((input, i) => ({ ...input, place: found.inputs[i]! }));
  const filesOf = (isDev: boolean) =>
    places.flatMap(({ language, place, ...input }) =>
      language !== undefined && input.isDev === isDev ? [{ language, file: place }] : [],
    );
  const languages = filesOf(false);
  const languagesDev = filesOf(true);
  const { ratio, window, globalMerges } = options.parity ?? {};
  const weights = weightsAt([
    ...places.map(({ place, weight }) => [place, weight] as const),
    ...counts.map(({ weight }, i) => [found.counts[i]!, weight] as const),
  ]);
  return {
    ...(languages.length > 0 && { languages, languagesDev }),
    languageRatio: ratio ?? undefined,
    languageWindow: window ?? undefined,
    globalMerges: globalMerges || undefined,
    ...(weights.length > 0 && { weights }),
    ...(counts.length > 0 && { counts: found.counts }),
  };
}

/** Returns the recorded weights, each with a glob that matches only its path. */
function weightsAt(weighted: readonly (readonly [path: string, weight: number | undefined])[]) {
  const byPath = new Map(
    weighted.flatMap(([path, weight]) => (weight === undefined ? [] : [[path, weight]])),
  );
  return [...byPath].map(([path, weight]) => ({
    name: null,
    glob: String(path).replaceAll(/[\\*?[\]{}!]/g, "\\$&"),
    weight: weight as number,
  }));
}

/** Inspects an input that must be read as in the recorded training. */
export const inputAt = (path: string, { format, textField }: RecordedInput): Input =>
  inspection.inspectInput(path, {
    inputFormat: format,
    textField,
    ...(format === "text" && { binary: "text" }),
  });
