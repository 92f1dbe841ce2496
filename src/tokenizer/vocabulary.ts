import { byteCharacters, formatBytes } from "#bytes";
import { assert, UserError, usageError } from "#runtime";
import type { Compat, LearnedPairs } from "./merges.ts";
import { describeSharedId } from "./model-settings.ts";
import { notKept, TokenBytes } from "./token-bytes.ts";
export const byteCount = 256;

/**
 * Vocabulary: the tokens of a finished tokenizer, with their bytes and ids.
 *
 * A token has two numbers. Its *token number* is the merge engine's: 0-255 are the bytes, 256 + k is the result of
 * merge k. Its *id* is public, assigned by the rule of the imitated trainer.
 *
 *   ARRAY        TYPE         LENGTH          MEANING
 *   left         Int32Array   mergeCount      token number of the left half of merge k
 *   right        Int32Array   mergeCount      token number of its right half
 *   tokenIds     Int32Array   tokenCount      id of each token; tokenCount = 256 + mergeCount
 *   specialIds   Int32Array   specialCount    id of each special token, in the order of `specialTokens`
 *   entries      Int32Array   size            what an id represents: t is token t, -1 - s is special token s
 *
 * The merge "t h" and the special token "<|end|>" give, under `cs336`, tokenIds = [0 .. 255, 256], specialIds = [257],
 * entries = [0 .. 255, 256, -1]; under `huggingface`, specialIds = [0], the bytes have 1 .. 256, "th" has 257.
 *
 * Only `huggingface` lets a special token share its id with an ordinary token, because HF's trainer assigns no new id
 * to a string that has one. The entry of a shared id is the special token; but if the special token is one of
 * `laterTokens`, the entry is the ordinary token.
 */
export type Vocabulary = {
  readonly size: number;
  readonly mergeCount: number;
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly tokenBytes: TokenBytes;
  readonly tokenIds: Int32Array;
  /** Whether each token's id is known to be its token number. */
  readonly idsAreNumbers?: boolean;
  readonly specialTokens: readonly string[];
  readonly specialIds: Int32Array;
  /**
   * The number of reserved tokens: special tokens at the end of the list that do not count towards the requested size,
   * such as those that fill the vocabulary to a multiple of `padTo`.
   */
  readonly reservedCount: number;
  readonly entries: Int32Array;
  /**
   * Tokens that no merge produces. Absent for a vocabulary from a training: it has none, and every id has a token. In
   * `entries`, `others.tokens[i]` is -1 - specialCount - i. An entry below all these is an id without a token.
   */
  readonly others?: {
    readonly tokens: readonly { readonly key: string; readonly bytes: Uint8Array }[];
    /** Whether a pretoken that equals one of these tokens becomes this token. */
    readonly areWhole: boolean;
  };
};

type VocabularyOptions = {
  readonly merges: LearnedPairs;
  readonly specialTokens: readonly string[];
  readonly compat: Compat;
  /** Whether special tokens get the first ids under rules that would give them the last ones. */
  readonly specialTokensFirst?: boolean | undefined;
  /** Reserved tokens fill the size to a multiple of this number. Defaults to 1. */
  readonly padTo?: number;
  /**
   * Added tokens. Their ids follow all other ids except those of the tokens that fill the size (`padTo`). An added
   * token that equals a learned token has the learned token's id instead.
   */
  readonly laterTokens?: readonly string[];
};

/** Returns the bytes in the order of HF's alphabet: by the code point of their character. */
const bytesByCharacter = () =>
  Array.from({ length: byteCount }, (_, byte) => byte).sort(
    (a, b) => byteCharacters.characters[a]!.charCodeAt(0) - byteCharacters.characters[b]!.charCodeAt(0),
  );

/** Whether an entry is a special token, one of `others`, or an id without a token. */
export function isSpecialEntry(entry: number): boolean {
  return entry < 0;
}

export function specialOfEntry(entry: number): number {
  return -1 - entry;
}

/** Returns the element of `others` that an entry represents; undefined for any other entry. */
export const otherOfEntry = ({ specialTokens, others }: Vocabulary, entry: number) =>
  others?.tokens[specialOfEntry(entry) - specialTokens.length];

/**
 * Assigns ids to all tokens. Throws a UserError if a special token equals a learned token and the trainer's rule does
 * not let them share an id. A reserved token that equals a learned token is always an error.
 */
export function build(options: VocabularyOptions): Vocabulary {
  const { merges, specialTokens: givenTokens, compat, padTo = 1, laterTokens = [] } = options;
  const tokenBytes = TokenBytes.of(merges);
  const equalTokens = checkLearnedTokens(tokenBytes, givenTokens, compat);
  const equalLater = checkLearnedTokens(tokenBytes, laterTokens, compat);
  const ids =
    compat === "huggingface"
      ? giveIdsOfHuggingFace
      : options.specialTokensFirst
        ? giveIdsSpecialFirst
        : giveIdsBytesFirst;
  const {
    size: filledSize,
    tokenIds,
    specialIds: givenIds,
    idsAreNumbers = false,
  } = ids(merges.mergeCount, givenTokens.length, equalTokens);
  // A later token that equals a learned token has the learned token's id, and adds no entry.
  const marked = equalLater.filter((token) => token >= 0).map((token) => tokenIds[token]!);
  const newLater = laterTokens.filter((_, i) => equalLater[i] === notLearned);
  const reserved = reservedTokens(filledSize + newLater.length, padTo, [...givenTokens, ...laterTokens]);
  checkLearnedTokens(tokenBytes, reserved, "cs336");
  const lastTokens = [...newLater, ...reserved];
  const size = filledSize + lastTokens.length;
  const marking = laterTokens.filter((text) => !newLater.includes(text));
  const specialTokens = [...givenTokens, ...marking, ...lastTokens];
  const specialIds = Int32Array.of(...givenIds, ...marked, ...countUp(lastTokens.length, filledSize));
  return {
    size,
    mergeCount: merges.mergeCount,
    left: merges.left,
    right: merges.right,
    tokenBytes,
    tokenIds,
    idsAreNumbers,
    specialTokens,
    specialIds,
    reservedCount: lastTokens.length,
    entries: invert(size, tokenIds, specialIds, marked),
  };
}

/** Returns the reserved tokens (`reservedCount`). */
export const reservedOf = ({ specialTokens, reservedCount }: Vocabulary) =>
  specialTokens.slice(specialTokens.length - reservedCount);

/** Returns the size of a vocabulary without merges, which is the smallest. */
export function baseSize(specialTokens: readonly string[], compat: Compat): number {
  if (compat !== "huggingface") return byteCount + specialTokens.length;
  return byteCount + specialTokens.filter((special) => !byteCharacters.characters.includes(special)).length;
}

type GivenIds = {
  readonly size: number;
  readonly tokenIds: Int32Array;
  readonly specialIds: Int32Array;
  readonly idsAreNumbers?: boolean;
};

/** `cs336` and `rustbpe`: bytes, merges, special tokens. No id is shared, so the token number is the id. */
function giveIdsBytesFirst(mergeCount: number, specialCount: number): GivenIds {
  const tokenCount = byteCount + mergeCount;
  return {
    size: tokenCount + specialCount,
    tokenIds: countUp(tokenCount, 0),
    specialIds: countUp(specialCount, tokenCount),
    idsAreNumbers: true,
  };
}

/** `cs336` and `rustbpe` with special tokens first, as in `tekken.json`: special tokens, bytes, merges. */
function giveIdsSpecialFirst(mergeCount: number, specialCount: number): GivenIds {
  const tokenCount = byteCount + mergeCount;
  return {
    size: specialCount + tokenCount,
    tokenIds: countUp(tokenCount, specialCount),
    specialIds: countUp(specialCount, 0),
    idsAreNumbers: specialCount === 0,
  };
}

/** `huggingface`: special tokens, the alphabet by code point, merges; a string that has an id keeps it. */
function giveIdsOfHuggingFace(mergeCount: number, specialCount: number, equalTokens: Int32Array): GivenIds {
  const tokenIds = new Int32Array(byteCount + mergeCount).fill(-1);
  const specialIds = countUp(specialCount, 0);
  for (let s = 0; s < specialCount; s++) if (equalTokens[s]! >= 0) tokenIds[equalTokens[s]!] = s;
  let size = specialCount;
  for (const byte of bytesByCharacter()) if (tokenIds[byte]! < 0) tokenIds[byte] = size++;
  for (let token = byteCount; token < tokenIds.length; token++)
    if (tokenIds[token]! < 0) tokenIds[token] = size++;
  return { size, tokenIds, specialIds };
}

function countUp(length: number, first: number): Int32Array {
  const numbers = new Int32Array(length);
  for (let i = 0; i < length; i++) numbers[i] = first + i;
  return numbers;
}

function invert(size: number, tokenIds: Int32Array, specialIds: Int32Array, marked: Int32Array): Int32Array {
  const free = 0x7fffffff;
  const entries = new Int32Array(size).fill(free);
  for (let token = 0; token < tokenIds.length; token++) entries[tokenIds[token]!] = token;
  for (let s = 0; s < specialIds.length; s++) {
    if (!marked.includes(specialIds[s]!)) entries[specialIds[s]!] = specialOfEntry(s);
  }
  assert(!entries.includes(free), "every id is a token or a special token");
  return entries;
}

/**
 * Returns the special tokens that fill a vocabulary of `size` ids to a multiple of `padTo`. Skips names that are in
 * `specialTokens`.
 */
export function reservedTokens(size: number, padTo: number, specialTokens: readonly string[]): string[] {
  const count = (padTo - (size % padTo)) % padTo;
  const names: string[] = [];
  for (let n = 0; names.length < count; n++) {
    const name = `<|reserved_special_token_${n}|>`;
    if (!specialTokens.includes(name)) names.push(name);
  }
  return names;
}

/** Returns the first of the given merges: as many as a vocabulary of `size` tokens takes, or all if they are fewer. */
export function mergesOfSize(merges: LearnedPairs, vocabulary: Vocabulary, size: number): LearnedPairs {
  const { mergeCount, entries, tokenIds, reservedCount } = vocabulary;
  // With `huggingface`, a merge that spells a special token has that token's id, and adds no entry.
  const addsEntry = (k: number) => (isSpecialEntry(entries[tokenIds[256 + k]!]!) ? 0 : 1);
  let filledSize = vocabulary.size - reservedCount;
  for (let k = 0; k < mergeCount; k++) filledSize -= addsEntry(k);
  let count = 0;
  while (count < mergeCount && filledSize < size) filledSize += addsEntry(count++);
  return firstMerges(merges, count);
}

export const firstMerges = ({ mergeCount, left, right }: LearnedPairs, count: number): LearnedPairs => ({
  mergeCount: Math.min(count, mergeCount),
  left: left.subarray(0, count),
  right: right.subarray(0, count),
});

/*
 * Texts that a special token must not equal. HF's files list special tokens as plain text among tokens in
 * byte-to-character form; rank files, such as .tiktoken, list tokens as bytes. If a special token equalled the key of
 * another token, one of the two would be lost.
 *
 *   "a", "Ġ"    a single byte, as itself or as its character    known from the command line: usage error
 *   "Ġt"        the key of " t", if " t" is learned             known after training: failed run
 *   " t"        the bytes of " t", if " t" is learned           known after training: failed run
 *
 * The last case is rare: special tokens are cut out of the corpus, so " t" is only learned from word counts of another
 * run, or from text that normalization changes. `huggingface` forbids none of these, because HF's trainer does not: the
 * string keeps the id that it has.
 */

/**
 * The maximum number of bytes of all special tokens together. It limits memory, because each counting thread has a
 * table of them that is many times larger.
 */
const specialBytesMax = 4e6;

/** Checks special tokens as far as possible before training. Throws usage errors. */
export function checkSpecialTokens(specialTokens: readonly string[], compat: Compat): void {
  const sizeBytes = specialTokens.reduce((sum, special) => sum + new TextEncoder().encode(special).length, 0);
  if (sizeBytes > specialBytesMax) {
    throw usageError(
      `the special tokens have ${formatBytes(sizeBytes)} in all, but may have at most ${formatBytes(specialBytesMax)}`,
      "use fewer or shorter special tokens",
    );
  }
  const seen = new Set<string>();
  for (const special of specialTokens) {
    if (special === "") throw usageError("a special token is empty", "leave out the empty special token");
    if (seen.has(special))
      throw usageError(`special token ${quote(special)} is given twice`, "give each special token once");
    seen.add(special);
    if (!special.isWellFormed()) {
      throw usageError(
        `special token ${quote(special)} contains half of a surrogate pair, which is not a character`,
        "choose a text of whole characters",
      );
    }
    if (compat !== "huggingface" && isSingleByte(special)) {
      throw usageError(
        `${quote(special)} cannot be a special token: the vocabulary already spells a single byte that way`,
        "choose a longer text that means nothing else in the corpus, such as <|endoftext|>",
      );
    }
  }
}

/**
 * Describes special tokens that share an id with an ordinary token of other bytes. For example, `é` may have the id of
 * the byte 0xE9, whose key in HF's files is `é`.
 */
export const describeSharedIds = ({
  specialTokens,
  specialIds,
  tokenIds,
  tokenBytes,
}: Vocabulary): string[] =>
  specialTokens.flatMap((content, s) => {
    const token = byteCharacters.isAscii(content) ? -1 : tokenIds.indexOf(specialIds[s]!);
    return token < 0 ? [] : [describeSharedId(content, specialIds[s]!, tokenBytes.copy(token))];
  });

const notLearned = -1;

/**
 * Returns, for each special token, the number of the ordinary token whose key it equals, or `notLearned`. Throws a
 * UserError if a special token equals an ordinary one, by its key or its bytes, and the trainer's rule forbids that.
 */
function checkLearnedTokens(
  tokens: TokenBytes,
  specialTokens: readonly string[],
  compat: Compat,
): Int32Array {
  const keys = specialTokens.map((special) => {
    const bytes = byteCharacters.decode(special);
    return bytes === null ? null : keyOf(bytes);
  });
  const texts = specialTokens.map((special) => keyOf(new TextEncoder().encode(special)));
  const learned = findLearned(tokens, new Set([...keys, ...texts].filter((key) => key !== null)));
  specialTokens.forEach((special, s) => {
    const isLearned = learned.has(texts[s]!) || (keys[s] !== null && learned.has(keys[s]!));
    if (isLearned && compat !== "huggingface") throw equalsLearnedToken(special);
  });
  return Int32Array.from(keys, (key) => (key === null ? undefined : learned.get(key)) ?? notLearned);
}

/**
 * Returns the numbers of the ordinary tokens whose bytes are in `wanted`, by their bytes. No two ordinary tokens have
 * the same bytes (src/merge/README.md), so there is one number for each.
 */
function findLearned(tokens: TokenBytes, wanted: ReadonlySet<string>): Map<string, number> {
  const learned = new Map<string, number>();
  if (wanted.size === 0) return learned;
  const { lengths, starts, kept } = tokens;
  const firstBytes = new Set([...wanted].map((key) => key.charCodeAt(0)));
  for (const length of new Set([...wanted].map((key) => key.length))) {
    // `indexOf` of the JavaScript engine is several times faster than a loop.
    for (let token = lengths.indexOf(length); token >= 0; token = lengths.indexOf(length, token + 1)) {
      const start = starts[token]!;
      if (start !== notKept && !firstBytes.has(kept[start]!)) continue;
      const key = keyOf(tokens.copy(token));
      if (wanted.has(key)) learned.set(key, token);
    }
  }
  return learned;
}

/** Converts bytes to a map key: a string with one character per byte. */
const keyOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

/** Whether a text is a single byte: `a` is byte 97, `Ġ` is byte 32 in byte-to-character form. */
function isSingleByte(special: string): boolean {
  return special.length === 1 && (special.charCodeAt(0) < 0x80 || byteCharacters.decode(special) !== null);
}

function equalsLearnedToken(special: string): UserError {
  return new UserError(`special token ${quote(special)} equals a learned token`, {
    hint: "choose a special token that cannot be learned from the corpus, such as <|endoftext|>",
  });
}

function quote(text: string): string {
  return JSON.stringify(text);
}
