import { byteToCharacter } from "../bytes/byte-characters.ts";
import { assert } from "../errors.ts";
import type { Compat, LearnedPairs } from "../merge/merges.ts";
import type { PatternExport } from "../pattern/pattern.ts";
import type { ModelSettings } from "./model-settings.ts";
import { reservedTokens } from "./reserved-tokens.ts";
import { checkLearnedTokens } from "./special-token-rules.ts";
import { makeTokenBytes, type TokenBytes } from "./token-bytes.ts";

/**
 * Vocabulary: the tokens of a finished tokenizer, with their bytes and ids.
 *
 * A token has two numbers. Its *token number* is the merge engine's: 0-255 are the bytes, 256 + k is what merge k made. Its
 * *id* is what users see, given by the rule of the trainer that we agree with.
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
  /** How many of the special tokens, the last ones, only fill the size to a multiple. */
  readonly reservedCount: number;
  readonly entries: Int32Array;
};

/** What the formats write: the vocabulary, how HF's files say where text is cut, and what a model needs to know. */
export type FinishedTokenizer = {
  readonly vocabulary: Vocabulary;
  readonly exportForm: PatternExport;
  readonly model: ModelSettings;
};

type VocabularyOptions = {
  readonly merges: LearnedPairs;
  readonly specialTokens: readonly string[];
  readonly compat: Compat;
  /** The size is filled with reserved tokens to a multiple of this; default 1. */
  readonly padTo?: number;
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

/** Gives ids to all tokens. A UserError if a special token equals a learned one and the rule does not let them share an id. */
export function buildVocabulary(options: VocabularyOptions): Vocabulary {
  const { merges, specialTokens: givenTokens, compat, padTo = 1 } = options;
  const tokenBytes = makeTokenBytes(merges);
  const equalTokens = checkLearnedTokens(tokenBytes, givenTokens, compat);
  const ids = compat === "huggingface" ? giveIdsSpecialFirst : giveIdsBytesFirst;
  const {
    size: filledSize,
    tokenIds,
    specialIds: givenIds,
  } = ids(merges.mergeCount, givenTokens.length, equalTokens);
  const reserved = reservedTokens(filledSize, padTo, givenTokens);
  checkLearnedTokens(tokenBytes, reserved, "cs336");
  const size = filledSize + reserved.length;
  const specialTokens = [...givenTokens, ...reserved];
  const specialIds = Int32Array.of(...givenIds, ...countUp(reserved.length, filledSize));
  return {
    size,
    mergeCount: merges.mergeCount,
    left: merges.left,
    right: merges.right,
    tokenBytes,
    tokenIds,
    specialTokens,
    specialIds,
    reservedCount: reserved.length,
    entries: invert(size, tokenIds, specialIds),
  };
}

/** The special tokens that only fill the size to a multiple. */
export const reservedOf = ({ specialTokens, reservedCount }: Vocabulary) =>
  specialTokens.slice(specialTokens.length - reservedCount);

/** How many ids are taken before the first merge: the size of the smallest vocabulary. */
export function baseSize(specialTokens: readonly string[], compat: Compat): number {
  if (compat !== "huggingface") return byteCount + specialTokens.length;
  return byteCount + specialTokens.filter((special) => !byteToCharacter.includes(special)).length;
}

type GivenIds = {
  readonly size: number;
  readonly tokenIds: Int32Array;
  readonly specialIds: Int32Array;
};

/** `cs336` and `rustbpe`: bytes, merges, special tokens. No id is shared, so the token number is the id. */
function giveIdsBytesFirst(mergeCount: number, specialCount: number, _equalTokens: Int32Array): GivenIds {
  const tokenCount = byteCount + mergeCount;
  return {
    size: tokenCount + specialCount,
    tokenIds: countUp(tokenCount, 0),
    specialIds: countUp(specialCount, tokenCount),
  };
}

/** `huggingface`: special tokens, the alphabet by code point, merges; a string that has an id keeps it. */
function giveIdsSpecialFirst(mergeCount: number, specialCount: number, equalTokens: Int32Array): GivenIds {
  const tokenIds = new Int32Array(byteCount + mergeCount).fill(-1);
  const specialIds = countUp(specialCount, 0);
  for (let s = 0; s < specialCount; s++) if (equalTokens[s]! >= 0) tokenIds[equalTokens[s]!] = s;
  let size = specialCount;
  for (const byte of bytesByCharacter) if (tokenIds[byte]! < 0) tokenIds[byte] = size++;
  for (let token = byteCount; token < tokenIds.length; token++)
    if (tokenIds[token]! < 0) tokenIds[token] = size++;
  return { size, tokenIds, specialIds };
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
