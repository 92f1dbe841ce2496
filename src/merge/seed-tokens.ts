import { byteCharacters } from "#bytes";
import type { trainingRecords } from "#formats";
import type { warnings } from "#jobs";
import { compiledPatterns, cutText } from "#pattern";
import { asOption, type Message, phrase, usageError } from "#runtime";
import { type Normalization, normalForms } from "#text";
import type { Compat } from "#tokenizer";
import { limitsOf } from "./merge-options.ts";
import { seedMerges } from "./seed-merges.ts";

/** The settings of cutting that affect seeds. */
type SeedCutting = {
  readonly specialTokens: readonly string[];
  readonly compat: Compat;
  readonly pattern: { readonly sources: readonly string[] };
  readonly normalization: Normalization | null;
  /** Whether the caller could choose another pattern. */
  readonly canSetPattern: boolean;
};

/** Longer texts are refused, because cutting them would take long. */
const seedBytesMax = 1024;

/**
 * Checks the texts that must become tokens (docs/clean-and-fair.md), and removes duplicates. Throws a usage error for a
 * text that is too long, or special, or could never be encoded to one token, and if there is no room for the merges.
 */
export function settle(
  asked: readonly string[],
  { specialTokens, compat, pattern, normalization, canSetPattern }: SeedCutting,
  limits: trainingRecords.TokenLimits,
  room: Room,
): string[] {
  const seeds = [...new Set(asked)];
  if (seeds.length === 0) return seeds;
  // Without a base, a seed of several characters takes at least one merge. So a list that is too long is refused before
  // its texts are examined.
  if (room.mergesOf === undefined) checkRoom(seeds.filter((seed) => seed.length > 1).length, room, "");
  const { lengthMax, allowsBytePairs } = limitsOf({ mergeCount: 0, compat, ...limits }, 0);
  const cutsOf = cutter(pattern.sources);
  for (const seed of seeds) {
    const refuse = (what: Message, hint?: Message) => {
      throw usageError(phrase`seed token ${shown(seed)}: ${what}`, hint);
    };
    const bytes = Buffer.from(seed);
    if (bytes.length === 0) refuse("it is empty");
    if (!seed.isWellFormed()) refuse("it is not valid Unicode: it contains half of a surrogate pair");
    if (bytes.length > seedBytesMax)
      refuse(`it has ${bytes.length} bytes, but may have at most ${seedBytesMax}`, "leave it out");
    const key = byteCharacters.encode(bytes);
    const special = specialTokens.find((text) => seed.includes(text) || text === key);
    if (special === seed) refuse("it is a special token", "special tokens are tokens already: leave it out");
    if (special !== undefined)
      refuse(
        seed.includes(special)
          ? `the special token "${special}" splits it`
          : `the special token "${special}" has the same key in tokenizer.json`,
        "leave out one of the two tokens",
      );
    const bytesMax = Math.max(lengthMax, allowsBytePairs ? 2 : 1);
    if (bytes.length > bytesMax)
      refuse(
        `it has ${bytes.length} bytes, but may have at most ${bytesMax}`,
        phrase`leave it out, or raise ${asOption("max-token-length")}`,
      );
    const inForm = normalization === null ? seed : normalForms.normalize(seed, normalization);
    if (inForm !== seed)
      refuse(
        `the normalization (${normalization}) changes it to ${shown(inForm)}`,
        `give the normalized text: ${shown(inForm)}`,
      );
    const pieces = cutsOf(seed);
    if (pieces !== undefined) {
      refuse(
        `it would never be used, because the pattern splits it into ${pieces.slice(0, 8).map(shown).join(" ")}${pieces.length > 8 ? " …" : ""}`,
        canSetPattern
          ? phrase`leave it out, or use a ${asOption("pattern")} that keeps it whole`
          : "leave it out",
      );
    }
  }
  checkRoom(room.mergesOf?.(seeds) ?? seedMerges(seeds).length, room);
  return seeds;
}

/** Shortens a long text for messages. */
const shown = (text: string) => `${JSON.stringify(text.slice(0, 60))}${text.length > 60 ? "…" : ""}`;

/** Texts to try before and after a seed: the characters next to it may keep the pattern from cutting it. */
const neighbours = ["", " ", "\n", "a", "A", "1", "."];

/**
 * Returns a function that cuts a text. That function tries the text with different characters before and after it
 * (`neighbours`). It returns undefined if the text is part of a single pretoken in at least one try. If not, it returns
 * the pieces into which the pattern cuts the text.
 */
function cutter(sources: readonly string[]): (text: string) => string[] | undefined {
  const pattern = compiledPatterns.compile(sources);
  const cut = (text: string) => cutText(pattern, Buffer.from(text));
  return (text) => {
    const isWhole = (before: string, after: string) => {
      const start = Buffer.byteLength(before);
      const end = start + Buffer.byteLength(text);
      return cut(before + text + after).every((pos) => pos <= start || pos >= end);
    };
    const [first, last] = [[...text][0]!, [...text].at(-1)!];
    const isReachable = [...neighbours, first].some((before) =>
      [...neighbours, last].some((after) => isWhole(before, after)),
    );
    if (isReachable) return undefined;
    const ends = cut(text);
    const bytes = Buffer.from(text);
    return ends.map((end, i) => bytes.toString("utf8", ends[i - 1] ?? 0, end));
  };
}

/** The space for seeds in a vocabulary. */
export type Room = {
  /** The number of ids that exist already: of the bytes, or all up to the largest of a base; and of special tokens. */
  readonly leastSize: number;
  /** The requested size of the vocabulary; of several sizes, the smallest; infinity if none is requested. */
  readonly size: number;
  /** The size of the base, if there is one. */
  readonly idLimit?: number;
  /** With a base, returns the number of new tokens that seeds need. */
  readonly mergesOf?: (seeds: readonly string[]) => number;
};

/** Throws a usage error if the vocabulary has no room for the merges of the seed tokens. */
function checkRoom(
  mergeCount: number,
  { leastSize, size, idLimit }: Room,
  parts = " and the shorter tokens that they are merged from",
): void {
  const needed = leastSize + mergeCount;
  if (needed <= size) return;
  const shown = (count: number) => (idLimit === undefined ? count : `${count} (+${count - idLimit})`);
  throw usageError(
    phrase`${asOption("vocab-size")} is ${shown(size)}, but must be at least ${shown(needed)} for the seed tokens${parts}`,
    phrase`raise ${asOption("vocab-size")}, or leave out seed tokens`,
  );
}

/**
 * Returns warnings about seeds that are tokens already, and about seeds whose beginning the base merges with a
 * preceding space.
 */
export function warnOfOdd(
  seedTokens: readonly string[] = [],
  base: { readonly knownSeeds: readonly string[]; readonly spacelessSeeds: readonly string[] } | null,
): warnings.Warning[] {
  const known = base?.knownSeeds ?? seedTokens.filter((seed) => Buffer.byteLength(seed) === 1);
  const spaceless = base?.spacelessSeeds ?? [];
  const ofBase = base !== null;
  return [
    ...(known.length === 0
      ? []
      : [{ kind: "seed tokens that are bytes", shown: listed(known), ofBase } as const]),
    ...(spaceless.length === 0
      ? []
      : [{ kind: "seed tokens without a space", shown: listed(spaceless), first: spaceless[0]! } as const]),
  ];
}

const listed = (seeds: readonly string[]) =>
  [...seeds.slice(0, seeds.length <= 10 ? 10 : 9).map(shown), ...(seeds.length <= 10 ? [] : ["…"])].join(
    ", ",
  );
