import { UserError, usageError } from "../errors.ts";
import { writtenFormats } from "../formats/formats.ts";
import type { InputWeight } from "../formats/training-json.ts";
import { resolvePattern } from "../pattern/pattern.ts";
import type { OpenBase } from "../pipeline/extend-tokenizer.ts";
import { type AskedTraining, settle, settleCuttingOfBase, type Training } from "../pipeline/training.ts";
import { nearest } from "../runtime/hints.ts";
import { allAddedTokens } from "../tokenizer/tokenizer-parts.ts";
import {
  type AskedModelSettings,
  chatTemplates,
  type Like,
  roleNames,
} from "../vocabulary/model-settings.ts";
import { checkSpecialTokens } from "../vocabulary/vocabulary.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import { type Invocation, oneOf, readNamed, type TypedOptions, wholeNumber } from "./arguments.ts";
import { readCorpusOptions, readCutting } from "./corpus-options.ts";
import { readTextFile } from "./input-options.ts";
import { readLanguages } from "./language-options.ts";
import type { Output } from "./output.ts";
import { readReportPath } from "./report-option.ts";
import { readTokenList } from "./token-lists.ts";

export type TrainOptions = ReturnType<typeof readOptions>;

/** What is typed of a training, apart from how text is cut. Looks at no file but a chat template's and that of seed tokens. */
export function readOptions(invocation: Invocation) {
  const { options } = invocation;
  const languageFiles = readLanguages(invocation);
  const files = languageFiles?.map(({ file }) => file) ?? invocation.files;
  const [basePath, pattern] = [options.text("extend"), options.text("pattern")];
  const isBeyond = basePath !== undefined;
  return {
    output: readOutput(options),
    ...readCorpusOptions({ ...invocation, files }),
    /** What is read, and which languages that is. */
    files,
    languageFiles,
    sizes: splitSizes(options.text("vocab-size")!).map((text) => readSize(text, isBeyond)),
    /** The tokenizer to extend, and the pattern for files that do not say it. */
    basePath,
    likePath: options.text("like"),
    basePattern: isBeyond && pattern !== undefined ? resolvePattern(pattern) : undefined,
    asked: {
      padTo: options.number("pad-to"),
      ...readLimits(options),
      superwordsFrom: options.number("superwords-from"),
      superwordPattern: options.text("superword-pattern"),
      model: readModelOptions(options),
      weights: options.get("weight")?.map(readWeight),
      seedTokens: readSeedTokens(options),
      languageRatio: readDecimals("language-ratio", ",", options),
      languageWindow: readWindow(options),
      globalMerges: options.number("global-merges"),
    },
    saveCounts: options.text("save-counts"),
    outputs: {
      formatNames: options
        .text("format")
        ?.split(",")
        .map((name) => oneOf("--format", name.trim(), writtenFormats)),
      ledger: readLedger(options),
      modelCard: options.has("model-card"),
    },
    report: readReportPath(invocation),
    keepCount: options.number("keep"),
    isFull: readIsFull(options),
  };
}

/** Whether the summary says all there is. */
export const readIsFull = (options: TypedOptions) => options.word("summary") === "full";

/** `N:FACTOR`. */
function readWindow(options: TypedOptions): AskedTraining["languageWindow"] {
  const numbers = readDecimals("language-window", ":", options);
  if (numbers === undefined) return undefined;
  if (numbers.length === 2) return { size: numbers[0]!, alpha: numbers[1]! };
  throw usageError(`--language-window ${options.text("language-window")} is not N:FACTOR`, "e.g. 100:2.0");
}

function readDecimals(name: string, separator: string, options: TypedOptions): number[] | undefined {
  return options
    .text(name)
    ?.split(separator)
    .map((text) => {
      if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
      throw usageError(`--${name} ${options.text(name)}: "${text}" is no number`);
    });
}

/** The texts of `--seed-token`, then those in the file of `--seed-tokens`. */
function readSeedTokens(options: TypedOptions): string[] {
  const path = options.text("seed-tokens");
  const listed = path === undefined ? [] : readTokenList("--seed-tokens", path);
  return [...(options.get("seed-token") ?? []), ...listed];
}

/** The directory of `--output`. */
export function readOutput(options: TypedOptions): string {
  const path = options.text("output")!;
  if (path === "") throw usageError("--output is empty", "name a directory, e.g. --output tokenizer");
  return path;
}

/** The training that is asked for. What is left open is as in `made`, the options of counts files. */
export function settleTyped(
  invocation: Invocation,
  typed: TrainOptions,
  made?: CountsOptions,
  like?: Like,
): Training {
  const { asked, outputs } = typed;
  const sizes = typed.sizes.map(({ count }) => count);
  const training = settle({ ...asked, sizes, like }, readCutting(invocation, made, like), optionOf);
  if (training.like?.addsPrefixSpace) refuseCounts(invocation.options, "--like: that tokenizer");
  if (outputs.formatNames?.includes("tiktoken") && training.pattern.sources.length > 1) {
    throw usageError(
      "--format tiktoken: tiktoken takes one regular expression, and this pattern is a sequence of several",
    );
  }
  const cannotSay = outputs.formatNames?.find((name) => name !== "huggingface");
  if (training.normalization !== null && cannotSay !== undefined) {
    throw usageError(
      `--format ${cannotSay} cannot store a normalizer`,
      "use --format huggingface, or leave out --format",
    );
  }
  return training;
}

/** The training that goes on from a base, and the base's own special tokens that end documents. */
export function settleExtension(
  { options }: Invocation,
  { basePath, asked, ...typed }: TrainOptions,
  { parts, files, recorded }: OpenBase,
  output: Output,
): { readonly training: Training; readonly ownSeparators: readonly string[] } {
  const reserved = new Set(recorded?.reservedTokens);
  const rule = options.word("compat") ?? recorded?.compat ?? "extension";
  const base = { path: basePath!, parts, files, reservedTokens: [...reserved], rule };
  if (parts.addsPrefixSpace) refuseCounts(options, "--extend: the base");
  const separators = options.get("special-token") ?? [];
  // Its training ended documents at them: they were never text. Reserved tokens are in no text.
  const own = (recorded?.specialTokens ?? []).filter((text) => !reserved.has(text));
  const ownSeparators = options.has("special-tokens-as-text") ? [] : own;
  const cutting = settleCuttingOfBase(base, [...new Set([...ownSeparators, ...separators])]);
  checkSpecialTokens(separators, cutting.compat);
  const baseTexts = new Set(allAddedTokens(parts).map(({ content }) => content));
  for (const text of separators) {
    if (baseTexts.has(text)) continue;
    output.warn(`"${text}" is not a special token of the base: documents end there, but it gets no id`);
  }
  const sizes = typed.sizes.map(({ isMore, count }) => count + (isMore ? parts.tokens.idLimit : 0));
  return { training: settle({ ...asked, sizes, base }, cutting, optionOf), ownSeparators };
}

/** Word counts do not say that a space was put before each text. */
function refuseCounts(options: TypedOptions, who: string): void {
  for (const name of ["counts", "save-counts", "cache"]) {
    if (!options.has(name)) continue;
    throw usageError(`--${name} cannot be combined with this ${who} puts a space before each text`);
  }
}

/** Refuses word counts that have special tokens of the base as words. */
export function refuseCountedAsText(own: readonly string[], { specialTokens }: Training): void {
  const counted = own.filter((text) => !specialTokens.includes(text));
  if (counted.length === 0) return;
  throw new UserError(`the word counts contain the base's special token "${counted[0]}" as text`, {
    hint: "count with --special-token for each of them, or treat them as text: --special-tokens-as-text",
  });
}

/** `padTo` -> `--pad-to`. */
const optionOf = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** `[NAME=]GLOB:WEIGHT`. */
function readWeight(typed: string): InputWeight {
  const [, named, text] = /^(.*):([^:]*)$/s.exec(typed) ?? [];
  const hint = "GLOB:WEIGHT, e.g. 'corpus/en:0.5'; a weight is digits, with at most six behind a point";
  if (named === undefined || !/^\d+(\.\d{1,6})?$/.test(text!)) {
    throw usageError(`--weight "${typed}" does not end with a weight`, hint);
  }
  const { name, path } = readNamed("--weight", named);
  return { name, glob: path, weight: Number(text) };
}

/** Which tokens are not learned; what is left open is the rule's. */
export const readLimits = (options: TypedOptions) => ({
  minFrequency: options.number("min-frequency"),
  maxTokenLength: options.number("max-token-length"),
  wholeCharacters: options.has("whole-characters"),
});

/** Whether `tokens.tsv` is written; undefined where nobody says. */
function readLedger(options: Invocation["options"]): boolean | undefined {
  if (options.has("no-ledger")) return false;
  return options.has("ledger") || undefined;
}

/** The options of `train` that are for `transformers`: roles of special tokens, chat template, length, class. */
function readModelOptions(options: TypedOptions): AskedModelSettings {
  const roles = roleNames.map((role) => [role, options.text(role)]).filter(([, text]) => text !== undefined);
  const template = options.text("chat-template");
  return {
    roles: Object.fromEntries(roles),
    addsBos: options.has("add-bos"),
    chatTemplate: template === undefined ? undefined : readChatTemplate(template),
    modelMaxLength: options.number("model-max-length"),
    tokenizerClass: options.text("class"),
  };
}

/** A name stands for itself; anything with a dot or a slash is a file. */
function readChatTemplate(typed: string): string {
  const names = Object.keys(chatTemplates);
  if (names.includes(typed)) return typed;
  if (!/[./]/.test(typed)) {
    const near = nearest(typed, names);
    const hint = near === undefined ? `one of: ${names.join(", ")}; or a file` : `did you mean ${near}?`;
    throw usageError(`--chat-template: unknown name "${typed}"`, hint);
  }
  return readTextFile("--chat-template", typed);
}

/** `--vocab-size` where something is there already: `+N` is N new tokens, `N` the size of all. */
export type AskedSize = { readonly isMore: boolean; readonly count: number };

export function readAskedSize(text: string, what: string): AskedSize {
  const [size, ...more] = splitSizes(text);
  if (more.length > 0) throw usageError(`--vocab-size ${text}: ${what} makes only one size in a run`);
  return readSize(size!, true);
}

/**
 * The sizes in a list with commas between. `32,000` is one: its groups of three digits cannot all be sizes, which have 256
 * bytes at least. `300,400` are two.
 */
export function splitSizes(text: string): string[] {
  const isOne = /^\+?\d{1,3}(,\d{3}){1,2}$/.test(text);
  return isOne && text.split(",").some((group) => Number(group) < 256) ? [text] : text.split(",");
}

function readSize(text: string, canBeMore: boolean): AskedSize {
  const isMore = canBeMore && text.startsWith("+");
  return { isMore, count: wholeNumber("--vocab-size", isMore ? text.slice(1) : text, 1) };
}
