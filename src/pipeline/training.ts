import type { Input } from "../corpus/input.ts";
import { UserError, usageError } from "../errors.ts";
import type { Compat } from "../merge/merges.ts";
import {
  exportForm,
  fancyRegex,
  mayLeaveGaps,
  oniguruma,
  parsePattern,
  patternOfSources,
  type ResolvedPattern,
  resolvePattern,
} from "../pattern/pattern.ts";
import type { ModelSettings } from "../vocabulary/model-settings.ts";
import type { CountsOptions } from "../words/counts-format.ts";

/** The settings of a training, as its record keeps them. */
export type TrainSettings = {
  /** The largest, if several are asked for. */
  readonly vocabSize: number;
  /** The others, ascending. With any, each vocabulary is written into a directory of its own, named by its size. */
  readonly smallerSizes: readonly number[];
  /** Vocabularies are filled with reserved tokens to a multiple of this. */
  readonly padTo: number;
  readonly specialTokens: readonly string[];
  readonly pattern: ResolvedPattern;
  readonly compat: Compat;
  readonly minFrequency: number;
  readonly maxTokenLength: number | null;
  readonly model: ModelSettings;
  /** How superwords are learned; null: they are not. */
  readonly superwords: SuperwordSettings | null;
};

/** How the finished tokenizer cuts text. */
export const encodingPatternOf = ({ pattern, superwords }: Pick<TrainSettings, "pattern" | "superwords">) =>
  superwords?.pattern ?? pattern;

/** Word counts can be added up only if they were made with equal options of this kind. */
export const countsOptionsOf = ({
  pattern,
  specialTokens,
  compat,
}: Pick<TrainSettings, "pattern" | "specialTokens" | "compat">): CountsOptions => ({
  patterns: pattern.sources,
  specialTokens,
  isLinewise: compat === "huggingface",
});

/** How superwords are learned: tokens that go over spaces (docs/superwords.md). */
export type SuperwordSettings = {
  /** Size of the vocabulary of the first stage, which is an ordinary training. */
  readonly fromVocabSize: number;
  /** How the second stage, and the finished tokenizer, cut text. The second stage is fed line by line. */
  readonly pattern: ResolvedPattern;
};

/**
 * SuperBPE's pattern of the second stage: numbers, runs of punctuation, and spaces before white space are cut off; all text
 * between them is one pretoken.
 */
export const usualSuperwordPattern = "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]{2,}[\\r\\n/]*| +(?!\\S)";

type Asked = { readonly fromVocabSize: number; readonly pattern: string | undefined };

/**
 * What was asked for, checked. `names` is how the caller's options are called, for errors.
 *
 * @param vocabSizeLeast the smallest of the vocabularies that are to be made
 * @param baseSize bytes and special tokens
 */
export function settleSuperwords(
  { fromVocabSize, pattern = usualSuperwordPattern }: Asked,
  sizes: { readonly vocabSizeLeast: number; readonly baseSize: number },
  compat: Compat,
  names: { readonly from: string; readonly vocabSize: string },
): SuperwordSettings {
  if (fromVocabSize < sizes.baseSize) {
    throw usageError(
      `${names.from} ${fromVocabSize} is too small: 256 bytes and the special tokens need ${sizes.baseSize}`,
    );
  }
  if (fromVocabSize > sizes.vocabSizeLeast) {
    throw usageError(
      `${names.from} ${fromVocabSize} is more than ${names.vocabSize} ${sizes.vocabSizeLeast}`,
      "superwords begin at a part of the vocabulary, e.g. at three quarters of it",
    );
  }
  return { fromVocabSize, pattern: liftedPattern(pattern, compat) };
}

/** The corpus is read once for each stage: a UserError for an input that can be read only once. */
export function checkReadTwice(inputs: readonly Input[]): void {
  const once = inputs.find((input) => input.isStream);
  if (once === undefined) return;
  const name = once.path === "-" ? "standard input" : `"${once.path}"`;
  throw new UserError(`superwords need the corpus twice, and ${name} can be read only once`, {
    hint: "write it to a file first",
  });
}

/**
 * The pattern as the trainer to agree with reads it. HF's engine has its own dialect, and is fed line by line. rustbpe takes
 * one regular expression, and drops the text between its matches, as tiktoken does. A pattern that this trainer would cut
 * otherwise than we do is a usage error. `asked` is what was typed, or the splits that a file states.
 */
export function trainingPattern(asked: string | readonly string[], compat: Compat): ResolvedPattern {
  const isHuggingface = compat === "huggingface";
  // HF's trainer is fed line by line, so no pretoken goes on behind a line end.
  const lineWise = { lineWise: isHuggingface };
  const pattern =
    typeof asked === "string"
      ? resolvePattern(asked, { dialect: isHuggingface ? oniguruma : fancyRegex, ...lineWise })
      : patternOfSources(asked, lineWise);
  if (compat === "rustbpe") checkForRustbpe(pattern.sources);
  if (pattern.name === null) checkForExport(pattern);
  return pattern;
}

/** The pattern that superwords are learned from. It is fed line by line, whatever the trainer, and may leave text unmatched. */
export function liftedPattern(asked: string, compat: Compat): ResolvedPattern {
  const dialect = compat === "huggingface" ? oniguruma : fancyRegex;
  const pattern = resolvePattern(asked, { dialect, lineWise: true });
  if (pattern.name === null) checkForExport(pattern);
  return pattern;
}

/** A usage error if HF's engine could not read the regular expressions of tokenizer.json. */
function checkForExport(pattern: ResolvedPattern): void {
  const form = exportForm(pattern);
  if (form.kind !== "splits") return;
  for (const regex of form.regexes) {
    try {
      parsePattern(regex, oniguruma);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      throw usageError(`tokenizer.json cannot say the pattern: ${error.message}`, error.hint);
    }
  }
}

function checkForRustbpe(sources: readonly string[]): void {
  const refuse = (what: string, hint: string) => {
    throw usageError(`--compat rustbpe: ${what}: ${sources.join(" , ")}`, hint);
  };
  if (sources.length > 1)
    refuse(
      "rustbpe cuts text by one regular expression, and this pattern is a sequence of them",
      "train with --compat cs336 or huggingface",
    );
  if (mayLeaveGaps(sources[0]!))
    refuse(
      "the pattern may leave text unmatched, and rustbpe drops such text",
      "with |[\\s\\S] at its end a pattern takes every character; --compat cs336 keeps unmatched text",
    );
}
