import { bytesOf } from "#bytes";
import { KernelScan } from "#pattern";
import { kernels, UserError } from "#runtime";
import { tokensToFind } from "#text";
import { placeInKernel } from "./encoding-kernel.ts";
import { noMemoryForTokenizer } from "./no-memory.ts";
import type { TokenizerParts } from "./tokenizer-parts.ts";

/**
 * LaidOutModel: the memory and the variables of an instance of the kernel's encoding module that has a tokenizer and
 * has seen no text. Each instance has a memory of its own, with addresses from 0 on, so the bytes are valid in any
 * other instance.
 *
 *   PART        TYPE      MEANING
 *   areas       u32[3]    address, size and fill byte of each area that is not all zeros, by ascending address. The
 *                         value `isListed` instead of a fill byte means that the bytes of the area are in `bytes`
 *   bytes       u8        the bytes of the areas with `isListed`, end to end
 *   variables   u32[3]    for each changed variable: `variableKey` of its name (ascending), low and high half of its
 *                         value
 */
export type LaidOutModel = {
  readonly pageCount: number;
  readonly areas: Uint8Array;
  readonly bytes: Uint8Array;
  readonly variables: Uint8Array;
};

export function layOut(
  { model, isNarrow, pattern }: TokenizerParts,
  tokens: readonly tokensToFind.TokenToFind[],
): LaidOutModel {
  const kernel = kernels.createForEncoding();
  const { exports, memory } = kernel;
  const head = placeInKernel(kernel, { model, isNarrow, cuts: "next to foreign bytes" });
  if (exports.buildTables() === 0) throw noMemoryForTokenizer();
  const scan = KernelScan.create(kernel, pattern.automata, { fourByteTablesBytes: 0, masksBytes: 0 });
  if (scan === undefined)
    throw new UserError("the tables of the pattern do not fit into memory", {
      hint: "use a tokenizer with a simpler pattern",
    });
  scan.prepare();
  const { stateCount } = pattern.automata[0]!;
  if (exports.useSafeCuts(stateCount) === 0 || !tokensToFind.use(kernel, tokens))
    throw noMemoryForTokenizer();
  // Encoding reads the halves of merges only from the table of pairs. So these arrays are zeroed, to keep images small.
  const [, lefts, rights] = new Uint32Array(memory.buffer, head, 3);
  for (const address of [lefts, rights]) {
    new Int32Array(memory.buffer, address, model.merges.merged.length).fill(0);
  }
  const areas = areasOf(memory, head);
  return {
    pageCount: memory.buffer.byteLength / kernels.pageBytes,
    areas: bytesOf(Uint32Array.from(areas.flat())),
    bytes: Buffer.concat(
      areas
        .filter(([, , fill]) => fill === isListed)
        .map(([start, size]) => new Uint8Array(memory.buffer, start, size)),
    ),
    variables: changedVariables(kernel),
  };
}

/**
 * The number of bytes in the blocks in which memory is examined. A block of zeros is not stored. A block in which one
 * other byte repeats is stored as this fill byte (up to `filledBytesMax`), and any other block as all of its bytes.
 */
const blockBytes = 256;
/** Replaces the fill byte of an area that is represented by all of its bytes. */
export const isListed = 256;
/**
 * The maximum number of bytes in areas with a fill byte; all bytes of further blocks are stored. So a small image
 * cannot make an instance write much more memory than this.
 */
export const filledBytesMax = 2 ** 24;

/** Returns the areas from `start` on that are not all zeros. */
function areasOf(
  { buffer }: WebAssembly.Memory,
  start: number,
): [start: number, size: number, fill: number][] {
  const bytes = new Uint8Array(buffer);
  const areas: [start: number, size: number, fill: number][] = [];
  let filledBytes = 0;
  for (let block = start; block < bytes.length; block += blockBytes) {
    const end = Math.min(block + blockBytes, bytes.length);
    const first = bytes[block]!;
    let same = block;
    while (same < end && bytes[same] === first) same++;
    if (same === end && first === 0) continue;
    const fill = same === end && filledBytes + blockBytes <= filledBytesMax ? first : isListed;
    if (fill !== isListed) filledBytes += end - block;
    const last = areas.at(-1);
    if (last !== undefined && last[0] + last[1] === block && last[2] === fill) last[1] += end - block;
    else areas.push([block, end - block, fill]);
  }
  return areas;
}

/** Whether a variable is not part of the image, because each instance sets it itself. */
export const isOwnVariable = (name: string): boolean =>
  /^(regions|word-cache|text-loop\/\w+Pos|scanner\/tableBytes|annotate\/readsOn)\b/.test(name);

/** Returns the FNV-1a hash of the name. */
export function variableKey(name: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

type Variables = Readonly<Record<string, unknown>>;

/**
 * Returns the variables of an instance whose values are not those of a new instance, except those that each instance
 * sets itself.
 */
function changedVariables(kernel: kernels.Kernel): Uint8Array {
  const first: Variables = kernels.createForEncoding().exports;
  const now: Variables = kernel.exports;
  const entries: [key: number, value: bigint][] = [];
  for (const [name, variable] of Object.entries(now)) {
    if (!(variable instanceof WebAssembly.Global) || isOwnVariable(name)) continue;
    const value = BigInt(variable.value);
    if (value !== BigInt((first[name] as WebAssembly.Global).value)) entries.push([variableKey(name), value]);
  }
  entries.sort(([a], [b]) => a - b);
  const words = entries.flatMap(([key, value]) => [
    key,
    Number(BigInt.asUintN(32, value)),
    Number(BigInt.asUintN(32, value >> 32n)),
  ]);
  return bytesOf(Uint32Array.from(words));
}
