import type { Normalization } from "../bytes/normalization.ts";
import { UserError, usageError } from "../errors.ts";
import type { BaseFiles } from "../formats/load-tokenizer.ts";
import type { InputWeight } from "../formats/training-json.ts";
import type { TokenLimits } from "../merge/merge-options.ts";
import type { Compat } from "../merge/merges.ts";
import type { Parity } from "../merge/parity-merges.ts";
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
import { type Cutting, plainCutting } from "../text/cutting.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import {
  type AskedModelSettings,
  type Like,
  type ModelSettings,
  settleModelLike,
} from "../vocabulary/model-settings.ts";
import { baseSize, checkSpecialTokens } from "../vocabulary/vocabulary.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import { type AskedParity, settleParity } from "./parity.ts";
import { settleSeedTokens } from "./seed-tokens.ts";
import { checkedWeight } from "./weights.ts";

/** How text becomes pretokens, and whose trainer says so. */
export type CutSettings = {
  readonly specialTokens: readonly string[];
  /** What is done to text between special tokens before the pattern cuts it; null: nothing. */
  readonly normalization: Normalization | null;
  readonly pattern: ResolvedPattern;
  readonly compat: Compat;
  /** Only with `huggingface`: a text is cut by the pattern alone, neither at line ends nor at special tokens. */
  readonly wholeTexts?: true;
};

/**
 * What is to be learned, and how text is cut for it. Settled: every field has its value, and all go together. The record and
 * `--if-changed` keep them.
 */
export type Training<B extends Base | null = Base | null> = CutSettings &
  TokenLimits & {
    /** Whose tokens and merges come first; null: the bytes and the special tokens. */
    readonly base: B;
    /** The largest, if several are asked for. */
    readonly vocabSize: number;
    /** The others, ascending. With any, each vocabulary is written into a directory of its own, named by its size. */
    readonly smallerSizes: readonly number[];
    /** Vocabularies are filled with reserved tokens to a multiple of this. */
    readonly padTo: number;
    readonly model: ModelSettings;
    /** How superwords are learned; null: they are not. */
    readonly superwords: SuperwordSettings | null;
    /** How often the words of inputs count; of several that fit an input the last decides. Left out: each once. */
    readonly weights?: readonly InputWeight[];
    /** The tokenizer whose settings were taken (docs/your-model.md). */
    readonly like: Like | null;
    /** Texts that are tokens, whatever their counts: their merges come first. */
    readonly seedTokens?: readonly string[];
    /** How merges are shared out among languages. Left out: the lengths of their texts decide. */
    readonly parity?: Parity;
  };

/** A tokenizer that is trained on: its tokens keep their ids, new ones come behind them. */
export type Base = {
  /** As it was named. */
  readonly path: string;
  readonly parts: TokenizerParts;
  /** What is written with the new tokens put in. */
  readonly files: BaseFiles;
  /** Special tokens that only fill its size. */
  readonly reservedTokens: readonly string[];
  /** Who decides ties: a trainer, or the reference for extensions (docs/extend.md). */
  readonly rule: ExtensionRule;
};

export type ExtensionRule = Compat | "extension";

/** Which files are written. */
export type OutputSettings = {
  /** The formats asked for; if none were, all that can express the tokenizer. */
  readonly formatNames: readonly string[] | undefined;
  /** Whether `tokens.tsv` is written; undefined: if it is small, and no formats are asked for. */
  readonly ledger: boolean | undefined;
  /** Whether a model card, `README.md`, is written. */
  readonly modelCard: boolean;
};

/** What the command line, or a caller of the library, asks of a training. What is left out has a default. */
export type AskedTraining = AskedParity & {
  /** Of the finished vocabularies, one at least. */
  readonly sizes: readonly number[];
  readonly base?: Base;
  readonly padTo?: number | undefined;
  readonly minFrequency?: number | undefined;
  readonly maxTokenLength?: number | null | undefined;
  readonly wholeCharacters?: boolean | undefined;
  readonly superwordsFrom?: number | undefined;
  readonly superwordPattern?: string | undefined;
  readonly model?: AskedModelSettings | undefined;
  readonly weights?: readonly InputWeight[] | undefined;
  readonly like?: Like | undefined;
  readonly seedTokens?: readonly string[] | undefined;
};

/** What is called so in {@link AskedTraining}; the sizes are `vocabSize`. For errors. */
type NameOption = (option: string) => string;

/** The cutting that is asked for, checked. `pattern` is what was typed, or the splits that a file states. */
export function settleCutting(asked: {
  readonly specialTokens?: readonly string[] | undefined;
  readonly normalization?: Normalization | null | undefined;
  readonly pattern?: string | readonly string[] | undefined;
  readonly compat?: Compat | undefined;
  readonly like?: Like | undefined;
  readonly wholeTexts?: boolean | undefined;
}): CutSettings {
  const { like, compat = like?.compat ?? "cs336" } = asked;
  const { specialTokens: typed = [], pattern = like?.patternSources ?? "gpt2" } = asked;
  const normalization = asked.normalization ?? like?.normalization ?? null;
  const { wholeTexts = false } = asked;
  if (wholeTexts && compat !== "huggingface")
    throw usageError(`whole texts are for the trainer huggingface; ${compat} never cuts text at line ends`);
  checkSpecialTokens(typed, compat);
  const taken = like?.specialTokens.map(({ content }) => content) ?? [];
  const specialTokens = [...new Set([...taken, ...typed])];
  checkSpecialTokens(specialTokens, compat);
  const isLinewise = compat === "huggingface" && !wholeTexts;
  return {
    ...{ compat, specialTokens, normalization },
    pattern: trainingPattern(pattern, compat, isLinewise),
    ...(wholeTexts && { wholeTexts }),
  };
}

/** How a base cuts text whose documents end at `separators`. */
export function settleCuttingOfBase({ parts, rule }: Base, separators: readonly string[]): CutSettings {
  const compat = rule === "extension" ? "cs336" : rule;
  // HF's trainer is fed line by line, so no pretoken goes on behind a line end.
  const lineWise = compat === "huggingface";
  const pattern = patternOfSources(parts.description.patternSources, { lineWise });
  return { compat, specialTokens: separators, normalization: parts.normalization, pattern };
}

/** What is left open is as the rule has it. */
export const settleLimits = (
  { minFrequency, maxTokenLength = null, wholeCharacters }: Pick<AskedTraining, keyof TokenLimits>,
  rule: string,
): TokenLimits => ({
  minFrequency: minFrequency ?? (rule === "huggingface" ? 0 : 1),
  maxTokenLength,
  ...(wholeCharacters && { wholeCharacters }),
});

/** Checks what is asked for, and fills in what is left open. The one place that knows what goes together. */
export function settle(asked: AskedTraining, cutting: CutSettings, nameOf: NameOption): Training {
  const { specialTokens, compat } = cutting;
  const { base = null, like = null } = asked;
  const leastSize = baseSize(specialTokens, compat);
  const sizes = asked.sizes.toSorted((a, b) => a - b);
  const nameOfSize = nameOf("vocabSize");
  if (base === null) checkSizes(sizes, leastSize, specialTokens.length, nameOfSize);
  else checkSizesBeyond(sizes, base.parts.tokens.idLimit, nameOfSize);
  const limits = settleLimits(asked, base?.rule ?? compat);
  const room = { leastSize, size: sizes[0]!, name: nameOfSize };
  const parity = settleParity(asked, nameOf);
  const seedTokens = settleSeedTokens(asked.seedTokens ?? [], cutting, limits, room);
  return {
    base,
    vocabSize: sizes.at(-1)!,
    smallerSizes: sizes.slice(0, -1),
    padTo: asked.padTo ?? 1,
    ...cutting,
    ...limits,
    superwords: settleSuperwords(asked, { leastSize, vocabSizeLeast: sizes[0]! }, compat, nameOf),
    model: settleModelLike(like, specialTokens, asked.model ?? {}),
    ...((asked.weights ?? []).length > 0 && {
      weights: asked.weights!.map((one) => checkedWeight(nameOf("weight"), one)),
    }),
    like,
    ...(seedTokens.length > 0 && { seedTokens }),
    ...(parity && { parity }),
  };
}

function checkSizes(sizes: readonly number[], leastSize: number, specialCount: number, name: string): void {
  const twice = sizes.find((size, i) => size === sizes[i + 1]);
  if (twice !== undefined) throw usageError(`${name}: ${twice} is given twice`);
  const least = sizes[0]!;
  if (least >= leastSize) return;
  const parts = `256 bytes${specialCount > 0 ? ` and ${specialCount} special tokens` : ""}`;
  throw usageError(`${name} ${least} is too small: ${parts} need ${leastSize}`);
}

/** The same for a base whose ids are below `idLimit`. */
function checkSizesBeyond(sizes: readonly number[], idLimit: number, name: string): void {
  const small = sizes.find((size) => size <= idLimit);
  if (small !== undefined) {
    throw usageError(
      `${name} ${small} is not more than the base has: ${idLimit}`,
      "-n +8k adds 8,192 tokens to it",
    );
  }
  const twice = sizes.find((size, i) => size === sizes[i + 1]);
  if (twice === undefined) return;
  throw usageError(`${name}: ${twice}, or +${twice - idLimit}, is given twice`);
}

/** How the text becomes pretokens. */
export const cuttingOf = (settings: CutSettings & Partial<Pick<Training, "base" | "like">>): Cutting => {
  const { pattern, normalization, base, like } = settings;
  const { specialTokens, isLinewise } = countsOptionsOf(settings);
  return {
    ...plainCutting(pattern.compiled, specialTokens, normalization),
    addsPrefixSpace: (base?.parts ?? like)?.addsPrefixSpace ?? false,
    ...(like && { isLinewise }),
  };
};

/** How the finished tokenizer cuts text. */
export const encodingPatternOf = ({ pattern, superwords }: Pick<Training, "pattern" | "superwords">) =>
  superwords?.pattern ?? pattern;

/** Word counts can be added up only if they were made with equal options of this kind. */
export const countsOptionsOf = ({
  pattern,
  specialTokens,
  normalization,
  compat,
  wholeTexts,
}: CutSettings): CountsOptions => ({
  patterns: pattern.sources,
  specialTokens: wholeTexts ? [] : specialTokens,
  normalization,
  isLinewise: compat === "huggingface" && !wholeTexts,
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

/**
 * @param leastSize bytes and special tokens
 * @param vocabSizeLeast the smallest of the vocabularies that are to be made
 */
function settleSuperwords(
  { superwordsFrom: fromVocabSize, superwordPattern: pattern = usualSuperwordPattern }: AskedTraining,
  { leastSize, vocabSizeLeast }: { readonly leastSize: number; readonly vocabSizeLeast: number },
  compat: Compat,
  nameOf: NameOption,
): SuperwordSettings | null {
  if (fromVocabSize === undefined) return null;
  if (fromVocabSize < leastSize) {
    throw usageError(
      `${nameOf("superwordsFrom")} ${fromVocabSize} is too small: 256 bytes and the special tokens need ${leastSize}`,
    );
  }
  if (fromVocabSize > vocabSizeLeast) {
    throw usageError(
      `${nameOf("superwordsFrom")} ${fromVocabSize} is more than ${nameOf("vocabSize")} ${vocabSizeLeast}`,
      "superwords begin at a part of the vocabulary, e.g. at three quarters of it",
    );
  }
  return { fromVocabSize, pattern: liftedPattern(pattern, compat) };
}

/**
 * The pattern as the trainer to agree with reads it. HF's engine has its own dialect, and is fed line by line. rustbpe takes
 * one regular expression, and drops the text between its matches, as tiktoken does. A pattern that this trainer would cut
 * otherwise than we do is a usage error. `asked` is what was typed, or the splits that a file states.
 */
export function trainingPattern(
  asked: string | readonly string[],
  compat: Compat,
  isLinewise = compat === "huggingface",
): ResolvedPattern {
  const isHuggingface = compat === "huggingface";
  // HF's trainer is fed line by line, so no pretoken goes on behind a line end.
  const lineWise = { lineWise: isLinewise };
  const pattern =
    typeof asked === "string"
      ? resolvePattern(asked, { dialect: isHuggingface ? oniguruma : fancyRegex, ...lineWise })
      : patternOfSources(asked, lineWise);
  if (compat === "rustbpe") checkForRustbpe(pattern.sources);
  if (pattern.name === null) checkForExport(pattern);
  return pattern;
}

/** The pattern that superwords are learned from. It is fed line by line, whatever the trainer, and may leave text unmatched. */
function liftedPattern(asked: string, compat: Compat): ResolvedPattern {
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
      throw usageError(`tokenizer.json cannot store the pattern: ${error.message}`, error.hint);
    }
  }
}

function checkForRustbpe(sources: readonly string[]): void {
  const refuse = (what: string, hint: string) => {
    throw usageError(`--compat rustbpe: ${what}: ${sources.join(" , ")}`, hint);
  };
  if (sources.length > 1)
    refuse(
      "rustbpe takes one regular expression, and this pattern is a sequence of several",
      "train with --compat cs336 or huggingface",
    );
  if (mayLeaveGaps(sources[0]!))
    refuse(
      "the pattern may leave text unmatched, and rustbpe drops such text",
      "with |[\\s\\S] at its end a pattern takes every character; --compat cs336 keeps unmatched text",
    );
}
