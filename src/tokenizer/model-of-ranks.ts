import { escapeBytes } from "#bytes";
import { kernels, runToEnd, scaled } from "#runtime";
import { placeInKernel } from "./encoding-kernel.ts";
import type { EncodingModel, PackedTokens, RankedMerges } from "./encoding-model.ts";
import * as encodingModels from "./encoding-model.ts";
import { noMemoryForTokenizer } from "./no-memory.ts";
import { refuse } from "./tokenizer-parts.ts";

/**
 * Builds the model of a rank file, which lists tokens with their ranks and has no merges. A token's merge is found by
 * merging its bytes with the other tokens. If two tokens remain, these are the halves of its merge. If more remain, no
 * merge makes the token, and it only matches whole pretokens.
 */
export const of = (tokens: PackedTokens, path: string): EncodingModel => runToEnd(make(tokens, path));

/** Number of tokens that are merged between two yields, which takes some 20 ms. */
const sliceTokens = scaled(8192, 3);

/** Builds the model of a rank file, and yields between slices. The ids of the tokens are their ranks. */
export function* make(tokens: PackedTokens, path: string): Generator<undefined, EncodingModel> {
  const { bytes, starts, ids: ranks } = tokens;
  const byteIds = byteIdsOf(tokens, path);
  const rankLimit = encodingModels.maxOf(ranks) + 1;
  const kernel = kernels.create();
  const head = useTokens(kernel, tokens, byteIds, rankLimit);
  const isMade = new Uint8Array(rankLimit);
  const wholeTokens = new Map<string, number>();
  const order = byLength(starts, ranks.length);
  for (let i = 0; i < order.length; i++) {
    if (i % sliceTokens === 0) yield;
    const token = order[i]!;
    if (starts[token + 1]! - starts[token]! < 2) continue;
    const partCount = kernel.exports.mergeRanked(token);
    if (partCount < 0) throw noMemoryForTokenizer();
    const rank = ranks[token]!;
    if (partCount === 2) {
      isMade[rank] = 1;
      continue;
    }
    const tokenBytes = bytes.subarray(starts[token]!, starts[token + 1]!);
    const key = Buffer.from(tokenBytes).toString("latin1");
    if (partCount === 1 || wholeTokens.has(key)) refuseDouble(tokenBytes, path);
    wholeTokens.set(key, rank);
  }
  yield;
  const [, lefts, rights] = new Uint32Array(kernel.memory.buffer, head, 3);
  const left = new Int32Array(kernel.memory.buffer, lefts, rankLimit);
  const right = new Int32Array(kernel.memory.buffer, rights, rankLimit);
  const merges = madeMerges(left, right, isMade);
  return encodingModels.build({ byteIds, merges, idMax: rankLimit - 1, wholeTokens });
}

/** Writes the tokens into the kernel's memory. Returns the address of the model's head. */
function useTokens(
  kernel: kernels.Kernel,
  tokens: PackedTokens,
  byteIds: Int32Array,
  rankLimit: number,
): number {
  const none = new Int32Array(rankLimit);
  const merges = { left: none, right: none, merged: none.map((_, rank) => rank) };
  const model = {
    byteIds,
    merges,
    idLimit: rankLimit,
    dropsBytes: false,
    wholeTokens: tokens,
  };
  const head = placeInKernel(kernel, { model, isNarrow: false, cuts: "nowhere" });
  if (kernel.exports.useRankedTokens(head) === 0) throw noMemoryForTokenizer();
  return head;
}

/** Returns the merges of the tokens marked in `isMade`, in the order of their ranks. */
function madeMerges(left: Int32Array, right: Int32Array, isMade: Uint8Array): RankedMerges {
  const made = new Int32Array(isMade.reduce((sum, mark) => sum + mark, 0));
  for (let rank = 0, k = 0; rank < isMade.length; rank++) if (isMade[rank] === 1) made[k++] = rank;
  return { left: made.map((rank) => left[rank]!), right: made.map((rank) => right[rank]!), merged: made };
}

/** Returns the indices of tokens, sorted stably by length. */
function byLength(starts: Int32Array, count: number): Uint32Array {
  const lengthOf = (token: number) => starts[token + 1]! - starts[token]!;
  let lengthMax = 0;
  for (let token = 0; token < count; token++) lengthMax = Math.max(lengthMax, lengthOf(token));
  // Counting sort: `ends` counts the tokens of each length, and then says where in `order` the next token of a length
  // belongs.
  const ends = new Uint32Array(lengthMax + 2);
  for (let token = 0; token < count; token++) ends[lengthOf(token) + 1]!++;
  for (let length = 0; length <= lengthMax; length++) ends[length + 1]! += ends[length]!;
  const order = new Uint32Array(count);
  for (let token = 0; token < count; token++) order[ends[lengthOf(token)]!++] = token;
  return order;
}

/**
 * Returns the id of each byte. Refuses a file that lacks a byte, lists a byte twice, or gives one rank to two tokens.
 */
function byteIdsOf({ bytes, starts, ids: ranks }: PackedTokens, path: string): Int32Array {
  const byteIds = new Int32Array(256).fill(-1);
  const isByte = (token: number) => starts[token + 1]! - starts[token]! === 1;
  for (let token = 0; token < ranks.length; token++) {
    if (isByte(token)) byteIds[bytes[starts[token]!]!] = ranks[token]!;
  }
  if (byteIds.includes(-1)) {
    refuse(path, `it has no token for byte 0x${byteIds.indexOf(-1).toString(16).padStart(2, "0")}`);
  }
  const seen = new Uint8Array(encodingModels.maxOf(ranks) + 1);
  for (let token = 0; token < ranks.length; token++) {
    const rank = ranks[token]!;
    if (seen[rank] === 1) refuse(path, `two tokens have the rank ${rank}`);
    seen[rank] = 1;
    const byte = bytes[starts[token]!]!;
    // If there are two tokens for this byte, the later one has set the id.
    if (isByte(token) && byteIds[byte] !== rank) refuseDouble(Uint8Array.of(byte), path);
  }
  return byteIds;
}

function refuseDouble(bytes: Uint8Array, path: string): never {
  refuse(path, `the token "${escapeBytes(bytes)}" is listed twice`);
}
