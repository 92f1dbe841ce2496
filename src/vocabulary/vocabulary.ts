import { assert } from "../errors.ts";
import type { Compat, Merges } from "../merge/merges.ts";
import { byteToCharacter } from "./byte-characters.ts";
import { checkLearnedTokens } from "./special-tokens.ts";
import { makeTokenBytes, type TokenBytes } from "./token-bytes.ts";

/**
 * Vocabulary: the tokens of a finished tokenizer, with their bytes and ids.
 *
 * Two kinds of number stand for a token. Its *token number* is the engine's: 0-255 are the bytes, 256 + k is what
 * merge k made. Its *id* is what users see, given by the rule of the trainer that we agree with.
 *
 *   ARRAY        TYPE         LENGTH          MEANING
 *   left         Int32Array   mergeCount      token number of the left half of merge k
 *   right        Int32Array   mergeCount      token number of its right half
 *   tokenIds     Int32Array   tokenCount      id of each token; tokenCount = 256 + mergeCount
 *   specialIds   Int32Array   specialCount    id of each special token, in the order given
 *   entries      Int32Array   size            what an id stands for: token t as t, special token s as -1 - s
 *
 * The merge "t h" and the special token "<|end|>" give, under `cs336`, tokenIds = [0 .. 255, 256], specialIds = [257],
 * entries = [0 .. 255, 256, -1]; under `huggingface`, specialIds = [0], the bytes have 1 .. 256, "th" has 257.
 *
 * Only `huggingface` lets a special token share its id with a token: HF looks up the string before it gives a new id.
 * The entry of a shared id is the special token.
 */
export type Vocabulary = {
  readonly size: number;
  readonly mergeCount: number;
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly tokenBytes: TokenBytes;
  readonly tokenIds: Int32Array;
  readonly specialTokens: readonly string[];
  readonly specialIds: Int32Array;
  readonly entries: Int32Array;
};

export type VocabularyOptions = {
  readonly merges: Merges;
  readonly specialTokens: readonly string[];
  readonly compat: Compat;
  /** Later merges are left out. Needed where the number of merges that fit is known only now; see `mergeCountMax`. */
  readonly sizeMax?: number;
};

const byteCount = 256;
/** The bytes in the order of HF's alphabet: by the code point of their character. */
const bytesByCharacter = Array.from({ length: byteCount }, (_, byte) => byte).sort(
  (a, b) => byteToCharacter[a]!.charCodeAt(0) - byteToCharacter[b]!.charCodeAt(0),
);

/** Whether an entry stands for a special token, and for which. */
export function isSpecialEntry(entry: number): boolean {
  return entry < 0;
}

export function specialOfEntry(entry: number): number {
  return -1 - entry;
}

/** Gives ids to what was learned. A UserError if a special token equals a learned one and the rule has no answer. */
export function buildVocabulary(options: VocabularyOptions): Vocabulary {
  const { merges, specialTokens, compat } = options;
  const sizeMax = options.sizeMax ?? Number.POSITIVE_INFINITY;
  const tokenBytes = makeTokenBytes(merges);
  const equalTokens = checkLearnedTokens(tokenBytes, specialTokens, compat);
  const ids = compat === "huggingface" ? giveIdsSpecialFirst : giveIdsBytesFirst;
  const given = ids(merges.mergeCount, specialTokens.length, equalTokens, sizeMax);
  const { size, mergeCount, tokenIds, specialIds } = given;
  return {
    size,
    mergeCount,
    left: merges.left.subarray(0, mergeCount),
    right: merges.right.subarray(0, mergeCount),
    tokenBytes,
    tokenIds,
    specialTokens,
    specialIds,
    entries: invert(size, tokenIds, specialIds),
  };
}

/**
 * The most merges a vocabulary of `vocabSize` can hold. Under `huggingface` a special token may turn out to equal a
 * learned one and share its id, which makes room for one merge more: ask the engine for this many, and give
 * `vocabSize` to `buildVocabulary` as `sizeMax`.
 */
export function mergeCountMax(vocabSize: number, specialTokens: readonly string[], compat: Compat): number {
  const roomCount = vocabSize - baseSize(specialTokens, compat);
  if (compat !== "huggingface") return roomCount;
  return roomCount + specialTokens.filter((special) => mayBeLearned(special)).length;
}

/** Ids taken before the first merge: the smallest vocabulary there can be. */
export function baseSize(specialTokens: readonly string[], compat: Compat): number {
  if (compat !== "huggingface") return byteCount + specialTokens.length;
  return byteCount + specialTokens.filter((special) => !byteToCharacter.includes(special)).length;
}

type GivenIds = {
  readonly size: number;
  readonly mergeCount: number;
  readonly tokenIds: Int32Array;
  readonly specialIds: Int32Array;
};

/** `cs336` and `rustbpe`: bytes, merges, special tokens. Nothing is shared, so the token number is the id. */
function giveIdsBytesFirst(
  learnedCount: number,
  specialCount: number,
  _equalTokens: Int32Array,
  sizeMax: number,
): GivenIds {
  const mergeCount = Math.min(learnedCount, sizeMax - byteCount - specialCount);
  const tokenCount = byteCount + mergeCount;
  return {
    size: tokenCount + specialCount,
    mergeCount,
    tokenIds: countUp(tokenCount, 0),
    specialIds: countUp(specialCount, tokenCount),
  };
}

/** `huggingface`: special tokens, the alphabet by code point, merges; a string that has an id keeps it. */
function giveIdsSpecialFirst(
  learnedCount: number,
  specialCount: number,
  equalTokens: Int32Array,
  sizeMax: number,
): GivenIds {
  const tokenIds = new Int32Array(byteCount + learnedCount).fill(-1);
  const specialIds = countUp(specialCount, 0);
  for (let s = 0; s < specialCount; s++) if (equalTokens[s]! >= 0) tokenIds[equalTokens[s]!] = s;
  let size = specialCount;
  for (const byte of bytesByCharacter) if (tokenIds[byte]! < 0) tokenIds[byte] = size++;
  let mergeCount = 0;
  // HF asks whether the vocabulary is full before each merge, also before one that needs no new id.
  for (; mergeCount < learnedCount && size < sizeMax; mergeCount++) {
    if (tokenIds[byteCount + mergeCount]! < 0) tokenIds[byteCount + mergeCount] = size++;
  }
  return { size, mergeCount, tokenIds: tokenIds.subarray(0, byteCount + mergeCount), specialIds };
}

function countUp(length: number, first: number): Int32Array {
  const numbers = new Int32Array(length);
  for (let i = 0; i < length; i++) numbers[i] = first + i;
  return numbers;
}

function invert(size: number, tokenIds: Int32Array, specialIds: Int32Array): Int32Array {
  const free = 0x7fffffff;
  const entries = new Int32Array(size).fill(free);
  for (let token = 0; token < tokenIds.length; token++) entries[tokenIds[token]!] = token;
  for (let s = 0; s < specialIds.length; s++) entries[specialIds[s]!] = specialOfEntry(s);
  assert(!entries.includes(free), "every id stands for a token or a special token");
  return entries;
}

/** Whether the text could be the byte-to-character form of a token of two bytes or more. */
function mayBeLearned(special: string): boolean {
  if (special.length < 2) return false;
  for (const character of special) if (!byteToCharacter.includes(character)) return false;
  return true;
}
