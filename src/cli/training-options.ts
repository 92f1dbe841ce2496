import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { UserError, usageError } from "../errors.ts";
import { formats } from "../formats/formats.ts";
import { settle } from "../pipeline/training.ts";
import { nearest } from "../runtime/hints.ts";
import { withRegularFile } from "../runtime/system-error.ts";
import { type AskedModelSettings, chatTemplates, roleNames } from "../vocabulary/model-settings.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import { type Invocation, oneOf, type TypedOptions, wholeNumber } from "./arguments.ts";
import { readCacheOptions, readCorpusOptions } from "./corpus-options.ts";
import { readReportPath } from "./report-option.ts";

const knownFormats = formats.map((format) => format.name);

export type TrainOptions = ReturnType<typeof readOptions>;

export function readOptions(invocation: Invocation, made?: CountsOptions) {
  const { options } = invocation;
  const outputPath = options.text("output")!;
  if (outputPath === "") throw usageError("--output is empty", "name a directory, e.g. --output tokenizer");
  const corpusOptions = readCorpusOptions(invocation, made);
  const asked = {
    sizes: splitSizes(options.text("vocab-size")!).map((text) => wholeNumber("--vocab-size", text, 1)),
    padTo: options.number("pad-to"),
    ...readLimits(options),
    superwordsFrom: options.number("superwords-from"),
    superwordPattern: options.text("superword-pattern"),
    model: readModelOptions(options),
  };
  const settings = settle(asked, corpusOptions.cutting, optionOf);
  const { sources } = settings.pattern;
  const chosen = options.text("format")?.split(",");
  const formatNames = chosen?.map((name) => oneOf("--format", name.trim(), knownFormats));
  if (formatNames?.includes("tiktoken") && sources.length > 1) {
    throw usageError(
      "--format tiktoken: tiktoken cuts text by one regular expression, and this pattern is a sequence of them",
    );
  }
  return {
    ...corpusOptions,
    ...settings,
    settings,
    output: outputPath,
    saveCounts: options.text("save-counts"),
    cache: readCacheOptions(invocation),
    outputs: { formatNames, ledger: readLedger(options), modelCard: options.has("model-card") },
    report: readReportPath(invocation),
    keepCount: options.number("keep"),
  };
}

/** `padTo` -> `--pad-to`. */
const optionOf = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Which tokens are not learned; what is left open is the rule's. */
export const readLimits = (options: TypedOptions) => ({
  minFrequency: options.number("min-frequency"),
  maxTokenLength: options.number("max-token-length"),
});

/** Whether `tokens.tsv` is written, as it is beside a report; undefined where nobody says. */
function readLedger(options: Invocation["options"]): boolean | undefined {
  if (options.has("no-ledger")) return false;
  return options.has("ledger") || options.has("report") || undefined;
}

/** The options of `train` that are for `transformers`: roles of special tokens, chat template, length, class. */
export function readModelOptions(options: TypedOptions): AskedModelSettings {
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
  const bytes = withRegularFile(typed, (fd) => readFileSync(fd));
  if (!isUtf8(bytes)) throw new UserError(`--chat-template "${typed}" is not valid UTF-8`);
  return new TextDecoder().decode(bytes);
}

/** `--vocab-size` where something is there already: `+N` is N new tokens, `N` the size of all. */
export type AskedSize = { readonly isMore: boolean; readonly count: number };

export function readAskedSize(text: string, what: string): AskedSize {
  const [size, ...more] = splitSizes(text);
  if (more.length > 0) throw usageError(`--vocab-size ${text}: ${what} makes one size at a time`);
  return askedSize(size!);
}

/**
 * The sizes in a list with commas between. `32,000` is one: its groups of three digits cannot all be sizes, which have 256
 * bytes at least. `300,400` are two.
 */
export function splitSizes(text: string): string[] {
  const isOne = /^\+?\d{1,3}(,\d{3}){1,2}$/.test(text);
  return isOne && text.split(",").some((group) => Number(group) < 256) ? [text] : text.split(",");
}

/** One size, or several with commas between, as typed. */
export const readAskedSizes = (text: string): AskedSize[] => splitSizes(text).map(askedSize);

function askedSize(text: string): AskedSize {
  const isMore = text.startsWith("+");
  return { isMore, count: wholeNumber("--vocab-size", isMore ? text.slice(1) : text, 1) };
}

/** The numbers of new tokens, ascending, for a base whose ids are below `idLimit`. */
export function newTokenCounts(sizes: readonly AskedSize[], idLimit: number): number[] {
  const counts = sizes.map(({ isMore, count }) => {
    if (isMore) return count;
    if (count > idLimit) return count - idLimit;
    throw usageError(
      `--vocab-size ${count} is not more than the base has: ${idLimit}`,
      "-n +8k adds 8,192 tokens to it",
    );
  });
  counts.sort((a, b) => a - b);
  const twice = counts.find((count, i) => count === counts[i + 1]);
  if (twice === undefined) return counts;
  throw usageError(`--vocab-size: ${idLimit + twice}, or +${twice}, is given twice`);
}
