import { countNoun, formatBytes, groupDigits } from "#bytes";
import type { Input, RangeStatistics } from "#corpus";
import type { trainingRecords } from "#formats";
import { asOption, files, type Message, phrase } from "#runtime";

// A warning says that something may not be as intended, but does not end the run. Warnings are data; `format` makes
// sentences of them.

type InvalidBytes = {
  readonly kind: "invalid bytes";
  readonly count: number;
  /** The name of the text, if it has one. */
  readonly text?: string;
  /** The file with the first invalid byte. */
  readonly path?: string;
  /** The offset of the first invalid byte in the file's decompressed content. */
  readonly offset?: number;
  /** What was done with each invalid byte. */
  readonly became:
    | "was counted as a pretoken of its own"
    | "was encoded as a pretoken of its own"
    | "is taken for a word";
};

export type Warning =
  /** Bytes that were not valid UTF-8. */
  | InvalidBytes
  /** A class of transformers was requested that may not do what tokenizer.json says. */
  | { readonly kind: "class of a model"; readonly name: string }
  /** The corpus ran out of pairs before the vocabulary had the requested size. */
  | {
      readonly kind: "early stop";
      readonly madeCount: number;
      readonly wantedCount: number;
      readonly noun: string;
    }
  /**
   * Two files have equal word counts, so one part of a corpus may have been counted twice. The counts of both are
   * added.
   */
  | { readonly kind: "equal counts"; readonly paths: readonly [string, string] }
  /** A stream was read with a cache. Its content is unknown before it is read, so its counts are not cached. */
  | { readonly kind: "stream with a cache"; readonly path: string }
  /** The languages are compared by texts of very different lengths. */
  | {
      readonly kind: "uneven languages";
      readonly most: trainingRecords.Language;
      readonly least: trainingRecords.Language;
    }
  | { readonly kind: "normalizer" }
  /** A tokenizer for chats has no padding token. */
  | { readonly kind: "no pad" }
  /** Some seed tokens are tokens anyway: they are single bytes or, if `ofBase`, tokens of the base. */
  | { readonly kind: "seed tokens that are bytes"; readonly shown: string; readonly ofBase: boolean }
  /** Some seed tokens are words without a leading space. They are not used within a sentence, where words have one. */
  | { readonly kind: "seed tokens without a space"; readonly shown: string; readonly first: string }
  /** Documents end at special tokens, but the training imitates HF, whose trainer reads special tokens as text. */
  | { readonly kind: "special tokens in the text"; readonly path: string }
  | { readonly kind: "files in the old result"; readonly path: string }
  | { readonly kind: "skipped file"; readonly path: string; readonly reason: Message }
  /** Any other warning, as a sentence: for example, about the files of a tokenizer or the cache. */
  | { readonly kind: "note"; readonly message: Message };

/** Formats a warning as a sentence. */
export function format(warning: Warning): Message {
  switch (warning.kind) {
    case "invalid bytes":
      return formatInvalidBytes(warning);
    case "class of a model":
      return phrase`${asOption("class", warning.name)}: transformers may split text as this class does, not as tokenizer.json says; compare the ids that transformers gives with those of bpe encode, or leave out this option`;
    case "early stop": {
      const counts = `${groupDigits(warning.madeCount)} of ${groupDigits(warning.wantedCount)}`;
      return `stopped early: the corpus has only enough pairs for ${counts} ${warning.noun}`;
    }
    case "equal counts": {
      const [before, path] = warning.paths;
      return `"${before}" and "${path}" contain the same word counts: both are added; leave one out if it is a copy`;
    }
    case "stream with a cache":
      return phrase`${asOption("cache")} cannot keep the counts of ${files.nameOf(warning.path)}, because it is a stream: each run counts it again; to avoid that, write the text to a file`;
    case "uneven languages":
      return formatUnevenLanguages(warning);
    case "normalizer":
      return "only tokenizer.json can store the normalizer, so files of other formats are not written";
    case "no pad":
      return phrase`no special token has the role pad, so transformers cannot put texts of different lengths into a batch: add ${asOption("special-token", '"<|pad|>"')}`;
    case "seed tokens that are bytes":
      return warning.ofBase
        ? `seed tokens that the base already has: ${warning.shown}`
        : `seed tokens that are always tokens, because they are single bytes: ${warning.shown}`;
    case "seed tokens without a space":
      return phrase`seed tokens without a leading space (${warning.shown}) are not used for words within a sentence; add ${asOption("seed-token", JSON.stringify(` ${warning.first}`))}`;
    case "special tokens in the text":
      return phrase`documents end at special tokens in ${files.nameOf(warning.path)}, but HF's trainer reads special tokens as text; to do as HF does, add ${asOption("special-tokens-as-text")}`;
    case "files in the old result":
      return `files that were written into the old result during this run were kept in "${warning.path}"`;
    case "skipped file":
      return phrase`"${warning.path}" is not read: ${warning.reason}`;
    case "note":
      return warning.message;
  }
}

function formatInvalidBytes({ count, text, path, offset, became }: InvalidBytes): string {
  const where = offset === undefined ? "in" : `at offset ${offset} of`;
  const of = text === undefined ? "" : ` of text "${text}"`;
  const first = path === undefined ? "" : `, the first ${where} "${path}"`;
  return `${countNoun(count, "byte")}${of} ${count === 1 ? "is" : "are"} not valid UTF-8${first}; each ${became}`;
}

function formatUnevenLanguages({ most, least }: Extract<Warning, { kind: "uneven languages" }>): Message {
  const [text, better] = most.isDev
    ? ["dev text", "give dev texts with the same content in each language"]
    : [
        "text",
        phrase`use ${asOption("language-ratio")}, or ${asOption("language-dev")} with texts of the same content`,
      ];
  return phrase`"${most.language}" has ${formatBytes(most.textBytes)} of ${text}, but "${least.language}" only ${formatBytes(least.textBytes)}, so "${most.language}" may get most of the merges; to share them more evenly, ${better}`;
}

export const invalidBytes = (found: Omit<InvalidBytes, "kind">): Warning[] =>
  found.count === 0 ? [] : [{ kind: "invalid bytes", ...found }];

export function countedInvalidBytes(
  inputs: readonly Input[],
  statistics: readonly RangeStatistics[],
): Warning[] {
  const count = statistics.reduce((sum, found) => sum + found.invalidByteCount, 0);
  const first = statistics.findIndex((found) => found.invalidByteCount > 0);
  const place = first < 0 ? {} : { path: inputs[first]!.path, offset: statistics[first]!.firstInvalidByte! };
  return invalidBytes({ count, ...place, became: "was counted as a pretoken of its own" });
}

export const earlyStop = (madeCount: number, wantedCount: number, noun: string): Warning[] =>
  madeCount >= wantedCount ? [] : [{ kind: "early stop", madeCount, wantedCount, noun }];

/** Warns about the first stream, if there is one. */
export const streamWithCache = (inputs: readonly Input[]): Warning[] =>
  inputs
    .filter(({ isStream }) => isStream)
    .slice(0, 1)
    .map(({ path }) => ({ kind: "stream with a cache", path }));
