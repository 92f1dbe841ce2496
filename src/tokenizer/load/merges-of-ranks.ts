import { escapeBytes } from "../../bytes/escape.ts";
import { buildModel, type EncodingModel } from "../encoding-model.ts";
import { addPair, allocatePairs, findPair, noRank, type PairTable } from "./rank-pairs.ts";
import { refuse } from "./read-file.ts";

/** A token and its rank, which is its id as well. */
export type RankedToken = { readonly rank: number; readonly bytes: Uint8Array };

/**
 * tiktoken merges whatever neighbours make a token together, lowest rank first. Between two ends that no merge crossed,
 * a stretch of text is merged the same way wherever it stands; so a token arises only from the two parts that merging
 * its own bytes stops at, and these are its merge. Shorter tokens first, for they are the parts. A token at which
 * merging does not arrive in two parts is only found whole, as tiktoken finds every pretoken that is a token.
 */
export function modelOfRanks(tokens: readonly RankedToken[], path: string): EncodingModel {
  const byteIds = new Int32Array(256).fill(-1);
  for (const { bytes, rank } of tokens) if (bytes.length === 1) byteIds[bytes[0]!] = rank;
  if (byteIds.includes(-1)) {
    refuse(path, `it has no token for byte 0x${byteIds.indexOf(-1).toString(16).padStart(2, "0")}`);
  }
  const rankLimit = tokens.reduce((limit, { rank }) => Math.max(limit, rank + 1), 0);
  refuseDoubles(tokens, rankLimit, path);
  const longer = tokens.filter(({ bytes }) => bytes.length > 1);
  const pairs = allocatePairs(longer.length, rankLimit);
  const found: { left: number; right: number; id: number }[] = [];
  const wholeTokens = new Map<string, number>();
  for (const { bytes, rank } of longer.toSorted((a, b) => a.bytes.length - b.bytes.length)) {
    const ids = Array.from(bytes, (byte) => byteIds[byte]!);
    mergeByRank(ids, pairs);
    if (ids.length === 2) {
      addPair(pairs, ids[0]!, ids[1]!, rank);
      found.push({ left: ids[0]!, right: ids[1]!, id: rank });
      continue;
    }
    const key = Buffer.from(bytes).toString("latin1");
    if (ids.length === 1 || wholeTokens.has(key)) refuseDouble(bytes, path);
    wholeTokens.set(key, rank);
  }
  found.sort((a, b) => a.id - b.id);
  const merges = {
    left: Int32Array.from(found, ({ left }) => left),
    right: Int32Array.from(found, ({ right }) => right),
    merged: Int32Array.from(found, ({ id }) => id),
  };
  return buildModel({ byteIds, merges, wholeTokens });
}

/** tiktoken refuses two tokens of one rank, too. Longer tokens that are listed twice show when they are merged. */
function refuseDoubles(tokens: readonly RankedToken[], rankLimit: number, path: string): void {
  const seen = new Uint8Array(rankLimit);
  const seenBytes = new Uint8Array(256);
  for (const { bytes, rank } of tokens) {
    if (seen[rank] === 1) refuse(path, `two tokens have the rank ${rank}`);
    seen[rank] = 1;
    if (bytes.length !== 1) continue;
    if (seenBytes[bytes[0]!] === 1) refuseDouble(bytes, path);
    seenBytes[bytes[0]!] = 1;
  }
}

function refuseDouble(bytes: Uint8Array, path: string): never {
  refuse(path, `the token "${escapeBytes(bytes)}" is listed twice`);
}

/** Here a pair's rank is the id that it becomes. */
function mergeByRank(ids: number[], pairs: PairTable): void {
  for (;;) {
    let best = noRank;
    let bestPos = 0;
    for (let i = 0; i + 1 < ids.length; i++) {
      const rank = findPair(pairs, ids[i]!, ids[i + 1]!);
      if (rank < best) {
        best = rank;
        bestPos = i;
      }
    }
    if (best === noRank) return;
    ids.splice(bestPos, 2, best);
  }
}
