import { decodeCharacters } from "../bytes/byte-characters.ts";
import { UserError } from "../errors.ts";
import { alphabetOrder, type StartTokens } from "../merge/merge-options.ts";
import type { Compat, LearnedPairs, Merges } from "../merge/merges.ts";
import { buildModel, type EncodingModel } from "../tokenizer/encoding-model.ts";
import { copyTokenBytes, makeTokenBytes } from "../vocabulary/vocabulary.ts";
import type { KeptMerges } from "./kept-merges.ts";

const byteCount = 256;

/** What encodes text by the merges alone: ids are token numbers. */
export function modelOfMerges({ left, right }: LearnedPairs): EncodingModel {
  const byteIds = Int32Array.from({ length: byteCount }, (_, byte) => byte);
  const merged = Int32Array.from(left, (_, k) => byteCount + k);
  return buildModel({ byteIds, merges: { left, right, merged } });
}

/** Inherited merges without those that go, and the new number of each token that stays, by its former one. */
export type Renumbered = { readonly merges: Merges; readonly numbers: Int32Array };

/**
 * The inherited merges that stay. `counts` are those of the first stage, `replacedCounts` those of the words of the second.
 */
export function keepInherited(merges: Merges, { isKept, madeCounts }: KeptMerges): Renumbered {
  const numbers = new Int32Array(byteCount + merges.mergeCount).fill(-1);
  for (let byte = 0; byte < byteCount; byte++) numbers[byte] = byte;
  const kept: number[] = [];
  for (let k = 0; k < merges.mergeCount; k++) {
    if (isKept[k] === 0) continue;
    numbers[byteCount + k] = byteCount + kept.length;
    kept.push(k);
  }
  const numbersOf = (halves: Int32Array) => Int32Array.from(kept, (k) => numbers[halves[k]!]!);
  const pairs = { left: numbersOf(merges.left), right: numbersOf(merges.right) };
  const counts = Float64Array.from(kept, (k) => merges.counts[k]!);
  const replacedCounts = Float64Array.from(kept, (k) => madeCounts[byteCount + k]!);
  return {
    merges: { ...merges, mergeCount: kept.length, ...pairs, counts, replacedCounts },
    numbers,
  };
}

/** Counts of tokens by their new numbers. */
export function keptCounts(counts: Float64Array, numbers: Int32Array): Float64Array {
  return counts.filter((_, token) => numbers[token]! >= 0);
}

/** The tokens that the second stage begins with: the bytes, and what the inherited merges make. */
export type Inherited = {
  readonly startTokens: StartTokens;
  /** Of the inherited merges, how many add an entry to the vocabulary: all but those that spell a special token. */
  readonly entryCount: number;
};

export function inheritedTokens(merges: Merges, specialTokens: readonly string[], compat: Compat): Inherited {
  const tokenBytes = makeTokenBytes(merges);
  const count = tokenBytes.tokenCount;
  const starts = new Uint32Array(count + 1);
  for (let token = 0; token < count; token++) starts[token + 1] = starts[token]! + tokenBytes.lengths[token]!;
  const byteTotal = tokenBytes.lengths.reduce((sum, length) => sum + length, 0);
  if (byteTotal > bytesMax) throw tooLong(byteTotal);
  const bytes = new Uint8Array(byteTotal);
  for (let token = 0; token < count; token++) bytes.set(copyTokenBytes(tokenBytes, token), starts[token]!);
  const spelling = { bytes, starts };
  const ranks = Int32Array.from({ length: count }, (_, token) => token);
  if (compat !== "huggingface")
    return { startTokens: { count, spelling, ranks }, entryCount: merges.mergeCount };
  ranks.set(alphabetOrder());
  // A merge that spells a special token takes its id: of all ids, the first special token has the smallest.
  const texts = [...new Set(specialTokens)];
  let sharedCount = 0;
  for (const [index, text] of texts.entries()) {
    const token = findToken(spelling, decodeCharacters(text));
    if (token < 0) continue;
    ranks[token] = index - texts.length;
    if (token >= byteCount) sharedCount++;
  }
  return { startTokens: { count, spelling, ranks }, entryCount: merges.mergeCount - sharedCount };
}

/** The spelling of all tokens is in one array: on repetitive text some have megabytes. */
const bytesMax = 2 ** 30;

const tooLong = (byteTotal: number) =>
  new UserError(
    `the tokens of the first stage have ${byteTotal.toLocaleString("en-US")} bytes in all, too many for a second`,
    { hint: "use --max-token-length, or a --pattern that cuts the text into shorter words" },
  );

/** The token with these bytes, or -1. */
function findToken(
  { bytes, starts }: NonNullable<StartTokens["spelling"]>,
  wanted: Uint8Array | null,
): number {
  if (wanted === null) return -1;
  for (let token = 0; token + 1 < starts.length; token++) {
    const [start, end] = [starts[token]!, starts[token + 1]!];
    if (end - start === wanted.length && wanted.every((byte, i) => byte === bytes[start + i])) return token;
  }
  return -1;
}
