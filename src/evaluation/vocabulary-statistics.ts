import { lazy, utf8 } from "#bytes";
import type { AddedToken } from "#text";
import { type TokenTable, tokenShapes } from "#tokenizer";

/** Statistics of a vocabulary. Added tokens count only in `size` and `idLimit`. */
export type VocabularyStatistics = {
  readonly size: number;
  readonly idLimit: number;
  /** Ids of the longest tokens with a letter, longest first, then by id. */
  readonly longestIds: readonly number[];
  /** The number of tokens of two or more whitespace characters (`TokenShape` "whitespace"). */
  readonly whitespaceCount: number;
  /** The number of tokens that repeat one symbol, such as "-----" (`TokenShape` "separator"). */
  readonly separatorCount: number;
  /** The number of tokens of each script or kind, the most frequent first. */
  readonly scripts: readonly Share[];
  /** The number of tokens of each class of lengths in bytes (`lengthClasses`), ascending by length. */
  readonly lengths: readonly Share[];
  readonly invalidCount: number;
};

export type Share = { readonly name: string; readonly tokenCount: number };

const invalidName = "no valid UTF-8";
const otherName = "control and other";

/** Computes the statistics. Yields between slices of work of some 10 ms. */
export function* of(
  tokens: TokenTable,
  addedTokens: readonly AddedToken[],
  longestCount: number,
  merges?: Halves,
): Generator<undefined, VocabularyStatistics> {
  const added = new Set(addedTokens.map(({ id }) => id));
  const lengths = new Array<number>(lengthClasses.length).fill(0);
  const { idLimit, bytes, starts } = tokens;
  /** The length in bytes of each token, by id; 0 for added tokens and for ids without a token. */
  const byteCounts = new Uint32Array(idLimit);
  const shapeOfId = (id: number) => tokenShapes.of(bytes, starts[id]!, starts[id + 1]!);
  let [whitespaceCount, separatorCount] = [0, 0];
  for (let id = 0; id < idLimit; id++) {
    if (id % idsPerSlice === 0) yield;
    const byteCount = starts[id + 1]! - starts[id]!;
    if (byteCount === 0 || added.has(id)) continue;
    byteCounts[id] = byteCount;
    const shape = shapeOfId(id);
    if (shape === "whitespace") whitespaceCount++;
    if (shape === "separator") separatorCount++;
    let k = 0;
    while (byteCount > lengthClasses[k]!.most) k++;
    lengths[k]!++;
  }
  const scripts = yield* scriptShares(yield* scriptClasses(tokens, merges), tokens, addedTokens);
  return {
    size: tokens.tokenCount,
    idLimit,
    longestIds: tokenShapes.longestWithLetters(byteCounts, shapeOfId, longestCount),
    whitespaceCount,
    separatorCount,
    scripts,
    lengths: lengthClasses.map(({ name }, i) => ({ name, tokenCount: lengths[i]! })),
    invalidCount: scripts.find(({ name }) => name === invalidName)?.tokenCount ?? 0,
  };
}

/** The halves and the result of each merge of a model, as ids; empty for a tokenizer without merges. */
type Halves = { readonly left: Int32Array; readonly right: Int32Array; readonly merged: Int32Array };

/** Returns the class of each token, its script or kind, by id: an index into `classNames`, plus `firstClass`. */
export function* scriptClasses(
  { idLimit, bytes, starts }: TokenTable,
  { left, right, merged }: Halves = noHalves,
): Generator<undefined, Uint8Array> {
  /** The class of each token; 0 if it is not known yet. */
  const classes = new Uint8Array(idLimit);
  const classAt = (id: number) => {
    const known = classes[id]!;
    if (known !== 0) return known;
    const [start, end] = [starts[id]!, starts[id + 1]!];
    const name = commonScript(bytes, start, end) ?? scriptOf(bytes.subarray(start, end));
    classes[id] = firstClass + classNames.indexOf(name);
    return classes[id]!;
  };
  // If both halves of a merge are whole characters, the class of its result follows from their classes.
  for (let rank = 0; rank < merged.length; rank++) {
    if (rank % idsPerSlice === 0) yield;
    const first = classAt(left[rank]!);
    const second = classAt(right[rank]!);
    if (first === invalidClass || second === invalidClass) continue;
    const isFirst = first <= lastLetters || (second > lastLetters && first <= second);
    classes[merged[rank]!] = isFirst ? first : second;
  }
  let lookedAt = 0;
  for (let id = classes.indexOf(0); id >= 0; id = classes.indexOf(0, id + 1)) {
    if (lookedAt++ % idsPerSlice === 0) yield;
    classAt(id);
  }
  return classes;
}

/** Counts tokens of at least `bytesMin` bytes by class, without added tokens; the most frequent class comes first. */
export function* scriptShares(
  classes: Uint8Array,
  { idLimit, starts }: TokenTable,
  addedTokens: readonly AddedToken[],
  bytesMin = 1,
): Generator<undefined, Share[]> {
  const counts = new Uint32Array(firstClass + classNames.length);
  for (let id = 0; id < idLimit; id++) {
    if (id % idsPerSlice === 0) yield;
    if (starts[id + 1]! - starts[id]! >= bytesMin) counts[classes[id]!]!++;
  }
  for (const id of new Set(addedTokens.map((token) => token.id))) {
    if (starts[id + 1]! - starts[id]! >= bytesMin) counts[classes[id]!]!--;
  }
  return classNames
    .map((name, i) => ({ name, tokenCount: counts[firstClass + i]! }))
    .filter(({ tokenCount }) => tokenCount > 0)
    .sort((a, b) => b.tokenCount - a.tokenCount || (a.name < b.name ? -1 : 1));
}

const noHalves: Halves = { left: new Int32Array(0), right: new Int32Array(0), merged: new Int32Array(0) };

const idsPerSlice = 1 << 14;

const lengthClasses = [
  { name: "1", most: 1 },
  { name: "2", most: 2 },
  { name: "3", most: 3 },
  { name: "4", most: 4 },
  { name: "5-6", most: 6 },
  { name: "7-8", most: 8 },
  { name: "9-12", most: 12 },
  { name: "13-16", most: 16 },
  { name: "17-", most: Number.POSITIVE_INFINITY },
];

const scriptNames = [
  "Latin",
  "Cyrillic",
  "Greek",
  "Han",
  "Hiragana",
  "Katakana",
  "Hangul",
  "Arabic",
  "Hebrew",
  "Devanagari",
  "Bengali",
  "Tamil",
  "Telugu",
  "Gujarati",
  "Kannada",
  "Malayalam",
  "Thai",
  "Lao",
  "Khmer",
  "Myanmar",
  "Tibetan",
  "Sinhala",
  "Georgian",
  "Armenian",
  "Ethiopic",
];
const scripts = scriptNames.map((name) => ({
  name,
  pattern: lazy(() => new RegExp(`\\p{Script=${name}}`, "u")),
}));
const kinds = [
  { name: "other letters", pattern: lazy(() => /\p{L}/u) },
  { name: "digits", pattern: lazy(() => /\p{N}/u) },
  { name: "punctuation and symbols", pattern: lazy(() => /[\p{P}\p{S}]/u) },
  { name: "white space", pattern: lazy(() => /\p{White_Space}/u) },
];

/**
 * The names of the classes. Tokens with letters have the name of a script, or "other letters"; these come first. The
 * kinds of other tokens follow.
 */
const classNames = [...[...scripts, ...kinds].map(({ name }) => name), otherName, invalidName];
const firstClass = 1;
/** The last class of tokens that have a letter. */
export const lastLetters = firstClass + classNames.indexOf("other letters");
const invalidClass = firstClass + classNames.indexOf(invalidName);

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Returns what `scriptOf` returns, without regular expressions, which take milliseconds to compile. Returns undefined
 * if a character is neither ASCII, nor a Latin letter from U+00C0 to U+024F, nor between U+2010 and U+205E.
 */
function commonScript(bytes: Uint8Array, start: number, end: number): string | undefined {
  let [hasLetter, hasDigit, hasSign, hasWhitespace] = [false, false, false, false];
  for (let pos = start; pos < end; ) {
    const lengthBytes = utf8.characterLengthAt(bytes, pos, end);
    if (lengthBytes === 0) return invalidName;
    const code = utf8.codePointOf(bytes, pos);
    pos += lengthBytes;
    const lower = code | 0x20;
    if ((lower >= 0x61 && lower <= 0x7a) || isLatinLetter(code)) hasLetter = true;
    else if (code >= 0x80 && !(code >= 0x2010 && code <= 0x205e)) return undefined;
    else if (code >= 0x30 && code <= 0x39) hasDigit = true;
    else if (code === 0x20 || (code >= 0x09 && code <= 0x0d) || isWideWhitespace(code)) hasWhitespace = true;
    else if (code > 0x20 && code !== 0x7f && !isFormat(code)) hasSign = true;
  }
  if (hasLetter) return "Latin";
  if (hasDigit) return "digits";
  if (hasSign) return "punctuation and symbols";
  return hasWhitespace ? "white space" : otherName;
}

/**
 * Returns the script of the first letter. If there is no letter, returns the kind of the characters, or the script of a
 * mark, such as a vowel sign. Returns undefined if the bytes are not whole characters.
 */
export function scriptOrKindOf(bytes: Uint8Array): string | undefined {
  const name = commonScript(bytes, 0, bytes.length) ?? scriptOf(bytes);
  if (name === invalidName) return undefined;
  if (name !== otherName) return name;
  const text = decoder.decode(bytes);
  return scripts.find(({ pattern }) => pattern().test(text))?.name ?? name;
}

const isLatinLetter = (code: number) => code >= 0xc0 && code <= 0x24f && code !== 0xd7 && code !== 0xf7;
/** Line separator, paragraph separator and narrow no-break space. */
const isWideWhitespace = (code: number) => code === 0x2028 || code === 0x2029 || code === 0x202f;
/** Directional formatting characters. */
const isFormat = (code: number) => code >= 0x202a && code <= 0x202e;

/** Returns the script of the first letter; without letters, the kind of the characters. */
function scriptOf(bytes: Uint8Array): string {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return invalidName;
  }
  const letter = /\p{L}/u.exec(text)?.[0];
  const of = letter === undefined ? kinds : [...scripts, ...kinds];
  return of.find(({ pattern }) => pattern().test(letter ?? text))?.name ?? otherName;
}
