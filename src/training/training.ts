import { countNoun } from "#bytes";
import { type baseFiles, formats as formatTable, type recordFiles, type trainingRecords } from "#formats";
import { type extending, type learning, seeds } from "#merge";
import { type RequestedTraining, trainingOptions } from "#options";
import { compiledPatterns, loadCompiler, namedPatterns, patternForms } from "#pattern";
import { asOption, type Message, messages, phrase, UserError, usageError } from "#runtime";
import { type Cutting, cuttings } from "#text";
import {
  type AskedModelSettings,
  type Compat,
  modelSettings,
  type Role,
  tokenizers,
  vocabularies,
} from "#tokenizer";
import { type CountsOptions, type CutSettings, countsOptionsOf, inputWeights } from "#words";
import { settleParity } from "./parity.ts";

/** The settings of a training, settled: defaults are filled in, and all settings fit together. */
export type Training<B extends Base | null = Base | null> = learning.Settings & {
  /** The tokenizer to extend; null starts with the bytes and the special tokens. */
  readonly base: B;
  readonly model: modelSettings.ModelSettings;
  /** The weights of inputs. The last entry that matches an input counts; the default weight is 1. */
  readonly weights?: readonly trainingRecords.InputWeight[];
};

/** A tokenizer to extend, and its files. */
export type Base = extending.Base & {
  /** The path as the user gave it. */
  readonly path: string;
  /** The files as they were read. */
  readonly readFiles: baseFiles.BaseFiles;
  /** The files to rewrite with the new tokens. In these files, renamed special tokens already have their new texts. */
  readonly files: baseFiles.BaseFiles;
  /** Special tokens of the base whose only purpose is to fill its size. */
  readonly reservedTokens: readonly string[];
  /** The new texts of renamed special tokens, by their old texts. */
  readonly renamed: Readonly<Record<string, string>>;
  /** Whether more tokens are learned from a corpus. */
  readonly learns: boolean;
};

/** The files to write. */
export type OutputSettings = {
  /** The requested formats. If undefined, all that can hold the tokenizer, except those written only on request. */
  readonly formatNames: readonly string[] | undefined;
  /**
   * Whether to write `tokens.tsv`. If undefined, it is written if it is small and no format other than an image is
   * requested.
   */
  readonly ledger: boolean | undefined;
  /** Whether to write a model card, `README.md`. */
  readonly modelCard: boolean;
};

/** What was found in the sources that options of the training name. */
export type ResolvedSources = {
  readonly like?: modelSettings.Like | undefined;
  readonly base?: FoundBase | undefined;
  /**
   * The options with which given word counts were made. They apply where the caller gave none, but not with --like.
   * With --extend, only their special tokens apply.
   */
  readonly made?: CountsOptions | undefined;
};

/** A tokenizer to extend, and its training record. */
type FoundBase = Pick<Base, "parts" | "readFiles" | "files" | "renamed"> & {
  readonly recorded: recordFiles.RecordedTraining | undefined;
  /** Returns the id of the token with this key in HF's files. */
  readonly idOfKey: (key: string) => number | undefined;
  readonly makeSeeds: (seeds: readonly string[]) => extending.Seeds;
};

type AskedCutting = Pick<
  RequestedTraining,
  "specialTokens" | "normalize" | "pattern" | "compat" | "wholeTexts" | "specialTokensAsText"
> &
  AskedModel;

type AskedModel = Pick<
  RequestedTraining,
  Role | "addBos" | "chatTemplate" | "modelMaxLength" | "tokenizerClass" | "counts"
>;

/**
 * Returns the special tokens of a new tokenizer in the order of their ids, without those of a chat template. First come
 * those of the tokenizer for --like, then those that the caller names. Without either, returns those that the word
 * counts state.
 */
const namedSpecials = ({ specialTokens }: AskedCutting, { like, made }: ResolvedSources) => [
  ...new Set([
    ...(like?.specialTokens.map(({ content }) => content) ?? []),
    ...(specialTokens ?? (like === undefined ? made?.specialTokens : undefined) ?? []),
  ]),
];

/**
 * Returns the special tokens that a chat template adds. With files of word counts there are none, because the words
 * were counted without them.
 */
const broughtOf = (asked: AskedCutting, looked: ResolvedSources): string[] =>
  asked.counts === undefined
    ? modelSettings.templateTokens(modelOf(asked), namedSpecials(asked, looked))
    : [];

export function settleCutting(asked: AskedCutting, { like, made }: ResolvedSources): CutSettings {
  if (asked.compat === "extension") {
    throw usageError(
      phrase`${asOption("compat", "extension")} needs ${asOption("extend")}`,
      phrase`without ${asOption("extend")}, use cs336, huggingface or rustbpe`,
    );
  }
  const stated = like === undefined ? made : undefined;
  // HF's trainer is the only one that reads line by line, apart from superwords. So word counts that were made line by
  // line are meant for HF's trainer.
  const compat = asked.compat ?? like?.compat ?? (stated?.isLinewise ? "huggingface" : "cs336");
  const typed = asked.specialTokens ?? stated?.specialTokens ?? [];
  const pattern = asked.pattern ?? like?.patternSources ?? stated?.patterns ?? "gpt2";
  const normalization = asked.normalize ?? like?.normalization ?? stated?.normalization ?? null;
  const { wholeTexts = false, specialTokensAsText = false } = asked;
  if (wholeTexts && compat !== "huggingface")
    throw usageError(
      phrase`${asOption("whole-texts")} needs ${asOption("compat", "huggingface")}; ${compat} never splits text at line ends anyway`,
      phrase`leave out ${asOption("whole-texts")}`,
    );
  if (specialTokensAsText && compat !== "huggingface") {
    throw usageError(
      phrase`${asOption("special-tokens-as-text")} needs ${messages.ifHas("extend", phrase`${asOption("extend")} or `)}${asOption("compat", "huggingface")}; ${compat} always ends documents at special tokens`,
      asked.counts === undefined
        ? phrase`leave out ${asOption("special-tokens-as-text")}, or train with ${asOption("compat", "huggingface")}`
        : phrase`leave out ${asOption("special-tokens-as-text")}`,
    );
  }
  vocabularies.checkSpecialTokens(typed, compat);
  const looked = { like, made };
  const specialTokens = [...namedSpecials(asked, looked), ...broughtOf(asked, looked)];
  vocabularies.checkSpecialTokens(specialTokens, compat);
  const isLinewise = compat === "huggingface" && !wholeTexts;
  return {
    ...{ compat, specialTokens, normalization },
    pattern: trainingPattern(pattern, compat, isLinewise),
    ...(wholeTexts && { wholeTexts }),
    ...(specialTokensAsText && { specialTokensAsText }),
  };
}

/** Returns `compat` as requested, or else as in the base's training record, or else "extension". */
const ruleOf = ({ compat }: RequestedTraining, { recorded }: FoundBase): extending.Base["rule"] =>
  compat ?? recorded?.compat ?? "extension";

type SettledSizes = {
  /** The requested sizes of the vocabulary, ascending; undefined for an extension that learns nothing. */
  readonly sizes: readonly number[] | undefined;
  /** The added tokens of the base; empty without a base. */
  readonly own: readonly string[];
  /** The special tokens to add to the base. */
  readonly newSpecials: readonly string[];
  /** The space for seed tokens. */
  readonly room: seeds.Room;
};

function sizeNewVocabulary(
  asked: RequestedTraining,
  { specialTokens }: CutSettings,
  leastSize: number,
): SettledSizes {
  const sizes = sizesOf(asked, undefined);
  checkSizes(sizes, leastSize, specialTokens.length);
  return { sizes, own: [], newSpecials: [], room: { leastSize, size: sizes[0]! } };
}

function sizeExtension(asked: RequestedTraining, found: FoundBase): SettledSizes {
  const { parts } = found;
  const { idLimit } = parts.tokens;
  const learns = asked.vocabSize !== undefined;
  if (!learns) refuseOfCorpus(asked);
  const own = tokenizers.allAddedTokens(parts).map(({ content }) => content);
  const newSpecials = (asked.specialTokens ?? []).filter((text) => !own.includes(text));
  for (const text of newSpecials) refuseKey(found, `special token "${text}"`, text);
  const leastSize = idLimit + newSpecials.length;
  const asSized = learns ? sizesOf(asked, idLimit) : undefined;
  if (asSized !== undefined) {
    checkSizesBeyond(asSized, idLimit);
    if (asSized[0]! < leastSize)
      throw usageError(
        phrase`${asOption("vocab-size")} is ${asSized[0]!} (+${asSized[0]! - idLimit}), but must be at least ${leastSize} (+${leastSize - idLimit}) for the base and the new special tokens`,
      );
  }
  const mergesOf = (seeds: readonly string[]) => found.makeSeeds(seeds).seedTokenCount;
  const room = { leastSize, size: asSized?.[0] ?? Number.POSITIVE_INFINITY, idLimit, mergesOf };
  return { sizes: asSized, own, newSpecials, room };
}

function settleBase(
  asked: RequestedTraining,
  found: FoundBase,
  { sizes: asSized, newSpecials, room }: SettledSizes,
  seedTokens: readonly string[],
) {
  const { parts, readFiles, files, recorded, renamed } = found;
  const { idLimit } = parts.tokens;
  const seeds = found.makeSeeds(seedTokens);
  const sizes = asSized ?? [room.leastSize + seeds.seedTokenCount];
  const isFull = idLimit % (asked.padTo ?? 1) === 0;
  if (sizes[0] === idLimit && seeds.seedMerges.length === 0 && Object.keys(renamed).length === 0 && isFull)
    throw nothingToAdd(asked);
  const reservedTokens = [...new Set(recorded?.reservedTokens)];
  const rule = ruleOf(asked, found);
  const base: Base = {
    path: asked.extend!,
    parts,
    readFiles,
    files,
    reservedTokens,
    rule,
    renamed,
    newSpecials,
    ...seeds,
    learns: asked.vocabSize !== undefined,
  };
  return { base, sizes };
}

/** Throws a usage error if a token of the base has this text as its key in HF's files. */
function refuseKey({ idOfKey }: Pick<FoundBase, "idOfKey">, subject: string, text: string): void {
  const id = idOfKey(text);
  if (id !== undefined)
    throw usageError(
      `${subject} is already token ${id} of the base`,
      "leave it out, or choose another special token",
    );
}

/** Refuses options that need a corpus, for an extension that learns nothing and so reads none. */
function refuseOfCorpus(asked: RequestedTraining): void {
  const ofCorpus = ["counts", "textField", "include", "inputFormat", "binary", "weights"] as const;
  const given = [...ofCorpus, ...(["saveCounts", "cache", "minFrequency"] as const)].find(
    (name) => asked[name] !== undefined,
  );
  if (given === undefined) return;
  const option = asOption(trainingOptions[given].name);
  const hint = phrase`leave out ${option}, or learn new tokens from a corpus, e.g. ${asOption("vocab-size", "+8k")}`;
  throw usageError(phrase`${option} needs ${asOption("vocab-size")}: without that, nothing is learned`, hint);
}

function nothingToAdd({ extend, specialTokens = [], seedTokens = [] }: RequestedTraining) {
  const ways = phrase`add tokens with ${asOption("special-token")} or ${asOption("seed-token")}, rename some with ${asOption("rename")}, or learn tokens from a corpus, e.g. ${asOption("vocab-size", "+8k")}`;
  const isKnown = specialTokens.length + seedTokens.length > 0;
  return usageError(
    isKnown
      ? `"${extend}" already has all tokens that were given`
      : phrase`${asOption("extend")}: there is nothing to add`,
    ways,
  );
}

/**
 * Returns the special tokens of the base at which documents are to end: those in its training record, or none if
 * special tokens are to be read as text. Reserved tokens are left out, because they are in no text.
 */
const ownSeparators = ({ specialTokensAsText }: AskedCutting, { recorded }: FoundBase) =>
  specialTokensAsText
    ? []
    : (recorded?.specialTokens ?? []).filter((text) => !recorded!.reservedTokens.includes(text));

/**
 * Returns how to cut text for a base. If no special tokens are requested, and word counts state their options,
 * documents end only at the special tokens that these options list. Otherwise they end at the requested ones, and at
 * the base's own (`ownSeparators`).
 */
function cuttingOfBase(
  asked: RequestedTraining,
  found: FoundBase,
  made: ResolvedSources["made"],
): CutSettings {
  const own = ownSeparators(asked, found);
  const stated = asked.specialTokens === undefined ? made?.specialTokens : undefined;
  const separators = [...new Set([...own, ...(asked.specialTokens ?? [])])];
  const cutting = settleCuttingOfBase(found, ruleOf(asked, found), stated ?? separators);
  vocabularies.checkSpecialTokens(asked.specialTokens ?? [], cutting.compat);
  return cutting;
}

/** Refuses word counts that were made without a special token of the base: they may contain it as text. */
export function refuseCountedAsText(
  asked: RequestedTraining,
  found: FoundBase,
  { specialTokens }: CutSettings,
): void {
  const counted = ownSeparators(asked, found).find((text) => !specialTokens.includes(text));
  if (counted === undefined) return;
  throw new UserError(
    `the word counts were made without the base's special token "${counted}", so they may contain it as text`,
    {
      hint: phrase`count again with ${asOption("special-token")} for each special token of the base, or treat them all as text: ${asOption("special-tokens-as-text")}`,
    },
  );
}

/** Returns how to cut text for a base if documents end at `separators`. */
function settleCuttingOfBase(
  { parts }: FoundBase,
  rule: extending.Base["rule"],
  separators: readonly string[],
): CutSettings {
  const compat = rule === "extension" ? "cs336" : rule;
  // HF's trainer is fed line by line, so no pretoken crosses a line end.
  const lineWise = compat === "huggingface";
  const pattern = compiledPatterns.ofSources(parts.description.patternSources, { lineWise });
  return { compat, specialTokens: separators, normalization: parts.normalization, pattern };
}

/** Returns the limits of tokens, with defaults. The default of `minFrequency` depends on `rule`. */
export const settleLimits = (
  {
    minFrequency,
    maxTokenLength,
    wholeCharacters,
  }: Pick<RequestedTraining, "minFrequency" | "maxTokenLength" | "wholeCharacters">,
  rule: string,
): trainingRecords.TokenLimits => ({
  minFrequency: minFrequency ?? (rule === "huggingface" ? 0 : 1),
  maxTokenLength: maxTokenLength ?? null,
  ...(wholeCharacters && { wholeCharacters }),
});

/** Checks the requested options against each other, and fills in defaults. */
export function settle(asked: RequestedTraining, looked: ResolvedSources): Training {
  const { like = null } = looked;
  const { base: found } = looked;
  const cutting =
    found === undefined ? settleCutting(asked, looked) : cuttingOfBase(asked, found, looked.made);
  const { specialTokens, compat } = cutting;
  refuseCountsOfSpaces(asked, found?.parts ?? like);
  checkFormats(asked, cutting);
  const leastSize = vocabularies.baseSize(specialTokens, compat);
  const limits = settleLimits(asked, found === undefined ? compat : ruleOf(asked, found));
  const parity = settleParity(asked);
  const sized =
    found === undefined ? sizeNewVocabulary(asked, cutting, leastSize) : sizeExtension(asked, found);
  const seedCutting = {
    ...{ ...cutting, specialTokens: [...sized.own, ...specialTokens] },
    canSetPattern: canSetPattern(asked),
  };
  const seedTokens = seeds.settle(asked.seedTokens ?? [], seedCutting, limits, sized.room);
  const { base, sizes } =
    found === undefined ? { base: null, sizes: sized.sizes! } : settleBase(asked, found, sized, seedTokens);
  return {
    base,
    vocabSize: sizes.at(-1)!,
    smallerSizes: sizes.slice(0, -1),
    padTo: asked.padTo ?? 1,
    ...(areSpecialTokensFirst(asked, like, compat) && { specialTokensFirst: true }),
    ...cutting,
    ...limits,
    superwords: settleSuperwords(asked, { leastSize, vocabSizeLeast: sizes[0]! }, compat),
    model: {
      ...modelSettings.settle(like, specialTokens, modelOf(asked)),
      fromTemplate: base === null ? broughtOf(asked, looked) : [],
    },
    ...((asked.weights ?? []).length > 0 && {
      weights: asked.weights!.map(inputWeights.check),
    }),
    like,
    ...(seedTokens.length > 0 && { seedTokens }),
    ...(parity && { parity }),
  };
}

/**
 * Whether special tokens get the first ids, by request or as in the tokenizer for --like, although `compat` would give
 * them the last ones. Throws a usage error for a request with `huggingface`, which gives them the first ids anyway.
 */
function areSpecialTokensFirst(
  { specialTokensFirst, counts }: RequestedTraining,
  like: modelSettings.Like | null,
  compat: Compat,
): boolean {
  if (specialTokensFirst && compat === "huggingface")
    throw usageError(
      phrase`${asOption("special-tokens-first")} is for ${asOption("compat", "cs336")} and rustbpe; huggingface gives special tokens the first ids itself`,
      counts === undefined ? phrase`leave it out, or use ${asOption("compat", "cs336")}` : "leave it out",
    );
  return compat !== "huggingface" && (specialTokensFirst ?? like?.specialTokensFirst ?? false);
}

/**
 * Returns the requested sizes of the whole vocabulary, ascending. `idLimit` is the id limit of the base, if there is
 * one.
 */
function sizesOf({ vocabSize }: RequestedTraining, idLimit: number | undefined): number[] {
  const more = vocabSize!.find(({ isMore }) => isMore);
  if (more !== undefined && idLimit === undefined) {
    const hint = "give the size of the whole vocabulary";
    throw usageError(phrase`${asOption("vocab-size", `+${more.count}`)} needs ${asOption("extend")}`, hint);
  }
  const sizes = vocabSize!.map(({ isMore, count }) => count + (isMore ? idLimit! : 0));
  return sizes.sort((a, b) => a - b);
}

const modelOf = (asked: AskedModel): AskedModelSettings => {
  const roles = modelSettings.roleNames.flatMap((role) =>
    asked[role] === undefined ? [] : [[role, asked[role]]],
  );
  const { addBos: addsBos = false, chatTemplate, modelMaxLength, tokenizerClass } = asked;
  return { roles: Object.fromEntries(roles), addsBos, chatTemplate, modelMaxLength, tokenizerClass };
};

/**
 * Refuses word counts and the cache for a tokenizer that puts a space before each text, because neither records such
 * spaces.
 */
function refuseCountsOfSpaces(
  asked: RequestedTraining,
  whose: { readonly addsPrefixSpace: boolean } | null,
): void {
  const name = [...(["counts", "saveCounts", "cache"] as const)].find((name) => asked[name] !== undefined);
  if (!whose?.addsPrefixSpace || name === undefined) return;
  const who =
    asked.extend === undefined
      ? phrase`${asOption("like")} here: that tokenizer`
      : phrase`${asOption("extend")} here: the base`;
  const option = asOption(trainingOptions[name].name);
  throw usageError(
    phrase`${option} cannot be combined with ${who} adds a space before each text, which word counts do not record`,
    phrase`leave out ${option}${name === "counts" ? " and train on text" : ""}`,
  );
}

/**
 * Whether another pattern can be requested. It cannot if the pattern is that of another tokenizer (--like or --extend)
 * or of word counts.
 */
const canSetPattern = ({ like, extend, counts }: RequestedTraining) =>
  (like ?? extend ?? counts) === undefined;

/** Refuses a requested format that cannot express how text is cut. */
function checkFormats(asked: RequestedTraining, cutting: CutSettings): void {
  const { formats } = asked;
  if (formats?.includes("tiktoken") && cutting.pattern.sources.length > 1) {
    const without = phrase`leave ${formats.length === 1 ? "out" : "tiktoken out of"} ${asOption("format")}`;
    throw usageError(
      phrase`${asOption("format", "tiktoken")}: tiktoken takes one regular expression, and this pattern is a sequence of several`,
      canSetPattern(asked) ? phrase`${without}, or choose another ${asOption("pattern")}` : without,
    );
  }
  const cannotSay = formats?.find((format) => !["huggingface", formatTable.image].includes(format));
  if (cutting.normalization !== null && cannotSay !== undefined) {
    throw usageError(
      phrase`${asOption("format", cannotSay)} cannot store a normalizer`,
      phrase`use ${asOption("format", "huggingface")}, or leave out ${asOption("format")}`,
    );
  }
}

function checkSizes(sizes: readonly number[], leastSize: number, specialCount: number): void {
  const twice = sizes.find((size, i) => size === sizes[i + 1]);
  if (twice !== undefined)
    throw usageError(phrase`${asOption("vocab-size")}: ${twice} is given twice`, giveOnce);
  const least = sizes[0]!;
  if (least >= leastSize) return;
  const parts = `256 bytes${specialCount > 0 ? ` and ${countNoun(specialCount, "special token")}` : ""}`;
  throw usageError(
    phrase`${asOption("vocab-size")} is ${least}, but must be at least ${leastSize} (${parts})`,
  );
}

/** Throws a usage error for a size given twice, or one that adds nothing to the base. */
function checkSizesBeyond(sizes: readonly number[], idLimit: number): void {
  const small = sizes.find((size) => size <= idLimit);
  if (small !== undefined) {
    throw usageError(
      phrase`${asOption("vocab-size", small)} adds nothing to the ${idLimit} ids of the base`,
      phrase`to add 8,192 tokens, use ${asOption("vocab-size", "+8k", "n")}`,
    );
  }
  const twice = sizes.find((size, i) => size === sizes[i + 1]);
  if (twice === undefined) return;
  throw usageError(
    phrase`${asOption("vocab-size")}: ${twice}, or +${twice - idLimit}, is given twice`,
    giveOnce,
  );
}

const giveOnce = "give each size once";

export const cuttingOf = (settings: CutSettings & Partial<Pick<Training, "base" | "like">>): Cutting => {
  const { pattern, normalization, base, like } = settings;
  const { specialTokens, isLinewise } = countsOptionsOf(settings);
  return {
    ...cuttings.plain(pattern.compiled, specialTokens, normalization),
    addsPrefixSpace: (base?.parts ?? like)?.addsPrefixSpace ?? false,
    ...(like && { isLinewise }),
  };
};

/** Returns the pattern of the finished tokenizer. */
export const encodingPatternOf = ({ pattern, superwords }: Pick<Training, "pattern" | "superwords">) =>
  superwords?.pattern ?? pattern;

/**
 * Settles the first stage's size and the second stage's pattern.
 *
 * @param leastSize the size that bytes and special tokens take
 * @param vocabSizeLeast the smallest requested vocabulary
 */
function settleSuperwords(
  {
    superwordsFrom: fromVocabSize,
    superwordPattern: pattern = namedPatterns.usualSuperwordPattern,
  }: RequestedTraining,
  { leastSize, vocabSizeLeast }: { readonly leastSize: number; readonly vocabSizeLeast: number },
  compat: Compat,
): learning.SuperwordSettings | null {
  if (fromVocabSize === undefined) return null;
  if (fromVocabSize < leastSize) {
    throw usageError(
      phrase`${asOption("superwords-from")} is ${fromVocabSize}, but must be at least ${leastSize} (256 bytes and the special tokens)`,
    );
  }
  if (fromVocabSize > vocabSizeLeast) {
    throw usageError(
      phrase`${asOption("superwords-from", fromVocabSize)} is more than ${asOption("vocab-size", vocabSizeLeast)}`,
      "give a size below the vocabulary's, e.g. three quarters of it",
    );
  }
  return { fromVocabSize, pattern: liftedPattern(pattern, compat) };
}

/**
 * Resolves the pattern of a training. Throws a usage error if the trainer or tokenizer.json does not allow the pattern.
 * @param asked the pattern as typed, or the splits that a file states
 * @param isLinewise whether text is fed to the pattern line by line
 */
export function trainingPattern(
  asked: string | readonly string[],
  compat: Compat,
  isLinewise = compat === "huggingface",
): compiledPatterns.ResolvedPattern {
  const isForHuggingface = compat === "huggingface";
  // HF's trainer is usually fed line by line, so that no pretoken crosses a line end.
  const lineWise = { lineWise: isLinewise };
  const pattern =
    typeof asked === "string"
      ? compiledPatterns.resolve(asked, { isForHuggingface, ...lineWise })
      : compiledPatterns.ofSources(asked, lineWise);
  if (compat === "rustbpe") checkForRustbpe(pattern, typeof asked === "string");
  if (pattern.name === null) checkForExport(pattern);
  return pattern;
}

/**
 * Resolves the pattern for superwords. With every trainer, text is fed to this pattern line by line, and the pattern
 * may leave text unmatched.
 */
function liftedPattern(asked: string, compat: Compat): compiledPatterns.ResolvedPattern {
  const isForHuggingface = compat === "huggingface";
  const pattern = compiledPatterns.resolve(asked, { isForHuggingface, lineWise: true });
  if (pattern.name === null) checkForExport(pattern);
  return pattern;
}

/** Throws a usage error if HF's engine could not read the pattern as tokenizer.json states it. */
function checkForExport(pattern: compiledPatterns.ResolvedPattern): void {
  const form = patternForms.exported(pattern);
  if (form.kind !== "splits") return;
  for (const regex of form.regexes) {
    try {
      loadCompiler().checkForHuggingface(regex);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      throw usageError(
        phrase`HF tokenizers would not be able to read this pattern in a tokenizer.json: ${error.parts.message}`,
        error.parts.hint,
      );
    }
  }
}

/**
 * Throws a usage error for a pattern with which rustbpe would not work. If the pattern was not typed, a file states it,
 * so the hint does not suggest changing it.
 */
function checkForRustbpe(pattern: compiledPatterns.ResolvedPattern, isTyped: boolean): void {
  const { sources } = pattern;
  const refuse = (what: string, hint: Message) => {
    throw usageError(
      phrase`${asOption("compat", "rustbpe")} does not work with the pattern ${pattern.name ?? sources.join(" , ")}: ${what}`,
      hint,
    );
  };
  const other = asOption("compat", "cs336");
  if (sources.length > 1)
    refuse("rustbpe takes one regular expression, and this is a sequence of several", phrase`use ${other}`);
  if (patternForms.mayLeaveGaps(pattern))
    refuse(
      "it may leave text unmatched, and rustbpe drops such text",
      isTyped && pattern.name === null
        ? phrase`add |[\\s\\S] to the end of the pattern, or use ${other}, which keeps unmatched text`
        : phrase`use ${other}, which keeps unmatched text`,
    );
}
