import { groupDigits } from "#bytes";
import { tokenShapes } from "#tokenizer";
import * as axes from "../axes.ts";
import type { Token } from "../unpacked.ts";
import * as unpacked from "../unpacked.ts";
import * as yardsticks from "../yardsticks.ts";

// Finds what is odd in a vocabulary from its tokens and counts.

/** A finding about a vocabulary; `token` is an example. */
export type Observation = {
  readonly what: string;
  readonly why: string;
  readonly token?: Token;
  readonly figure: string;
  /** Compares the figure with other vocabularies; empty if the vocabulary is too small for that. */
  readonly usual: string;
  /** Whether the figure is more than usual. */
  readonly isOdd: boolean;
};

type Inspected = {
  /** The distinct results of the merges. */
  readonly learned: readonly Token[];
  readonly lastPairCount: number | null;
};

/** Returns what is odd, and after it what else the same checks found. */
export function observationsOf({ learned, lastPairCount }: Inspected): Observation[] {
  const all = [
    ...repetition(learned),
    ...unused(learned),
    ...intermediate(learned, lastPairCount),
    ...separators(learned),
    ...partsOfCharacters(learned),
  ];
  return all.toSorted((a, b) => Number(b.isOdd) - Number(a.isOdd));
}

/** Compares the share of `count` learned tokens with the largest usual share. */
function judged(kind: yardsticks.KindOfTokens, count: number, { length: size }: readonly Token[]) {
  const share = count / size;
  const most = yardsticks.mostOf(kind, size);
  const isOdd = most !== null && share > most;
  const usual =
    most === null ? "" : `${isOdd ? "more than the usual: up to" : "usual ≤"} ${axes.percent(most)}`;
  return { figure: axes.percent(share), usual, isOdd };
}

/** Returns the longest tokens that contain a letter. */
function longestOf(tokens: readonly Token[], count: number): Token[] {
  const lengths = tokens.map(({ length }) => length);
  return tokenShapes
    .longestWithLetters(lengths, (i) => shapeOfToken(tokens[i]!), count)
    .map((i) => tokens[i]!);
}

function shapeOfToken(token: Token) {
  const bytes = unpacked.bytesOf(token);
  return tokenShapes.of(bytes, 0, bytes.length);
}

const longestLookedAt = 20;
/** Tokens that share a piece of this many bytes (`share`) are taken to come from the same sentence. */
const sharedBytes = 12;
const repeatedLeast = 3;

/** Finds overlapping long tokens. They come from repeated text: a licence, a footer, a template. */
function repetition(learned: readonly Token[]): Observation[] {
  const longest = longestOf(learned, longestLookedAt).filter(({ length }) => length >= sharedBytes);
  const groups = longest.map((token) => longest.filter((other) => share(token.text, other.text)));
  const largest = groups.reduce((a, b) => (b.length > a.length ? b : a), []);
  if (largest.length < repeatedLeast) return [];
  return [
    {
      what: "A text repeats itself.",
      why: `${largest.length} of the ${longest.length} longest tokens overlap, so they come from the same sentences. For example`,
      token: largest[0]!,
      figure: countOf(largest[0]!),
      usual: `more than the usual: in ${yardsticks.comparedWith} none overlap`,
      isOdd: true,
    },
  ];
}

/**
 * Whether two texts have a piece of `sharedBytes` in common that is not just a part of a word, such as "responsibili".
 */
function share(a: string, b: string): boolean {
  for (let start = 0; start + sharedBytes <= a.length; start++) {
    const piece = a.slice(start, start + sharedBytes);
    if (/[\x00-\x40].*[a-z]/i.test(piece.slice(1)) && b.includes(piece)) return true;
  }
  return false;
}

const countOf = ({ end, inText }: Token) => {
  const count = end ?? inText;
  return count === null ? "" : `${groupDigits(count)} times`;
};

function unused(learned: readonly Token[]): Observation[] {
  const never = learned.filter(({ end }) => end === 0);
  if (never.length === 0) return [];
  return [
    {
      what: `${groupDigits(never.length)} learned ${never.length === 1 ? "token is" : "tokens are"} never used.`,
      why: "Longer tokens absorbed every occurrence in the training text; bpe prune frees their ids. For example",
      token: longestOf(never, 1)[0] ?? never[0]!,
      ...judged("neverUsed", never.length, learned),
    },
  ];
}

export const isIntermediate = ({ created, end }: Token, lastPairCount: number) =>
  end !== null && end < lastPairCount && end < created!;

function intermediate(learned: readonly Token[], lastPairCount: number | null): Observation[] {
  if (lastPairCount === null || learned.length === 0) return [];
  const count = learned.filter((token) => isIntermediate(token, lastPairCount)).length;
  return [
    {
      what: `${groupDigits(count)} tokens are intermediate.`,
      why: "Longer tokens absorbed most occurrences, so they are now rarer than the last pair that was merged.",
      ...judged("intermediate", count, learned),
    },
  ];
}

/**
 * A token that is only whitespace, or only one repeated symbol with any whitespace (`shapeOfToken`), counts as a
 * separator if it has at least this many bytes.
 */
const separatorBytes = 8;

function separators(learned: readonly Token[]): Observation[] {
  const found = learned.filter((token) => {
    const shape = token.length < separatorBytes ? "other" : shapeOfToken(token);
    return shape === "separator" || shape === "whitespace";
  });
  if (found.length === 0) return [];
  const longest = found.reduce((a, b) => (b.length > a.length ? b : a));
  return [
    {
      what: `${groupDigits(found.length)} ${found.length === 1 ? "token is a run" : "tokens are runs"} of one character.`,
      why: `Of one character or whitespace, with ${separatorBytes} bytes or more; the longest has ${groupDigits(longest.length)}:`,
      token: longest,
      ...judged("runs", found.length, learned),
    },
  ];
}

const strict = new TextDecoder("utf-8", { fatal: true });

function isWhole(token: Token): boolean {
  if (token.length > token.text.length || /^[\x00-\x7f]*$/.test(token.text)) return true;
  try {
    strict.decode(unpacked.bytesOf(token));
    return true;
  } catch {
    return false;
  }
}

function partsOfCharacters(learned: readonly Token[]): Observation[] {
  const parts = learned.filter((token) => !isWhole(token));
  if (parts.length === 0) return [];
  return [
    {
      what: `${groupDigits(parts.length)} ${parts.length === 1 ? "token is part of a character" : "tokens are parts of characters"}.`,
      why: "Not valid UTF-8 on their own. For example",
      token: parts[0]!,
      ...judged("partsOfCharacters", parts.length, learned),
    },
  ];
}

/**
 * The token that is shown first has at most this many bytes, if there is such a token: the parts of a longer one are
 * too narrow to read on a phone.
 */
const firstBytesMax = 18;

/** Returns a token that is worth showing first: long, varied, and occurring, if there is one; otherwise some other. */
export function firstShown(learned: readonly Token[], tokens: readonly Token[]): Token {
  const isShown = ({ length, end, inText }: Token) => length <= firstBytesMax && (inText ?? end ?? 1) > 0;
  const isVaried = (token: Token) => new Set(token.text).size > token.text.length / 2;
  const longest = longestOf(learned.filter(isShown), 200);
  return longest.find(isVaried) ?? longest[0] ?? learned.at(-1) ?? tokens[0]!;
}
