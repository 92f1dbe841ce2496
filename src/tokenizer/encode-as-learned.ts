import { kernels } from "#runtime";
import { cuttings, Pretokens, type Taker, textParts, tokensToFind } from "#text";
import * as kernelArrays from "./kernel-arrays.ts";
import * as probe from "./probe.ts";
import type { EncodingParts, TokenizerParts } from "./tokenizer-parts.ts";

/**
 * Returns the ids of a text of a few kilobytes. Returns undefined in three cases: the tokenizer does more than cut and
 * merge; its merges are in an order in which they cannot have been learned; its tables do not fit into a kernel. Throws
 * a RangeError if the system refuses memory. Applies merge after merge to the whole text, as learning does, because
 * setting up the kernel's encoder would usually take longer.
 */
export function encode(parts: EncodingParts, text: Uint8Array): Int32Array | undefined {
  const { model, pattern, normalization, addsPrefixSpace, addedTokens } = parts;
  const hasFlags = addedTokens.some(
    ({ normalized, lstrip, rstrip, singleWord }) => normalized || lstrip || rstrip || singleWord,
  );
  if (normalization !== null || addsPrefixSpace || hasFlags) return undefined;
  if (model.dropsBytes || model.wholeTokens !== null || model.beginning !== undefined) return undefined;
  const byteCount = Math.ceil(bytesFor(parts, text) / kernels.pageBytes) * kernels.pageBytes;
  const kernel = kernels.create(kernelArrays.lendMemory(byteCount));
  const { exports, memory } = kernel;
  exports.layOutForText(text.length, byteCount);
  const pretokens = new Pretokens(pattern.automata, cuttings.tokensWhileCutting(parts), takerOf(kernel));
  new Uint8Array(memory.buffer, exports.textAddress() >>> 0, text.length).set(text);
  if (exports.startTokens(text.length, kernels.putArray(kernel, model.byteIds)) === 0) return undefined;
  exports.takeToMark();
  pretokens.start(0, false);
  pretokens.searchText(text.length);
  while (!pretokens.take(textParts.to(text.length)));
  const { left, right, merged } = model.merges;
  const addresses = [left, right, merged].map((array) => kernels.putArray(kernel, array));
  if (addresses.includes(0)) return undefined;
  const [lefts, rights, ids] = addresses as [number, number, number];
  const count = exports.applyMerges(lefts, rights, ids, merged.length, model.idLimit);
  if (count < 0) return undefined;
  return new Int32Array(memory.buffer, exports.learnedIdsAddress() >>> 0, count).slice();
}

/**
 * Returns the fingerprint of a tokenizer's behavior, like `fingerprints.ofBehavior`. For most tokenizers, this is
 * faster, because no encoder is set up.
 */
export function fingerprint(parts: TokenizerParts): string {
  const ids = encode(parts, new TextEncoder().encode(probe.text));
  if (ids !== undefined) return probe.fingerprintOf(ids);
  const { ofBehavior } = require("./fingerprint.ts") as typeof import("./fingerprint.ts");
  return ofBehavior(parts);
}

/** Returns the size in bytes of a memory that is large enough for `encode`. */
function bytesFor({ pattern, addedTokens, model }: EncodingParts, text: Uint8Array): number {
  const tokenBytes = tokensToFind.tablesBytes(addedTokens);
  const patternBytes = pattern.automata.reduce(
    (sum, { annotation }) => sum + piecesBytes + (annotation ? annotatedBytes : 0),
    bytesIn(pattern.automata),
  );
  const modelBytes = bytesIn(model.byteIds) + bytesIn(model.merges) + bytesPerId * model.idLimit;
  return fixedBytes + tokenBytes + patternBytes + modelBytes + bytesPerTextByte * text.length;
}

/**
 * An upper bound of the memory in bytes that an automaton needs for the pieces that it cuts (pattern/kernel-scan.ts).
 */
const piecesBytes = 1 << 19;
/** An upper bound of the memory in bytes that an automaton needs for annotated text (src/kernel/scan/annotate.ts). */
const annotatedBytes = 3 << 19;
/** Bytes for the kernel's arrays of fixed length, and for the pairs of bytes that merge. */
const fixedBytes = 5 << 18;
/** Bytes for each id, for the arrays that `applyMerges` reserves. */
const bytesPerId = 4;
/** Bytes for each byte of text: the text itself, and the arrays that `startTokens` reserves. */
const bytesPerTextByte = 140;

/** Returns the size in bytes of all arrays in a value. */
function bytesIn(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, part) => sum + bytesIn(part), 0);
}

/** Returns a taker whose pretokens the kernel processes itself. */
const takerOf = (kernel: kernels.Kernel): Taker => ({
  kernel,
  text: () => {
    throw new Error("this taker has no text of its own: the kernel processes its pretokens");
  },
  take() {},
  kernelTook() {},
});
