import { crc32 } from "node:zlib";
import { paddingBytes } from "../bytes/text.ts";
import { describeSections, type TokenToFind } from "../bytes/text-sections.ts";
import { UserError } from "../errors.ts";
import { KernelScan } from "../pattern/kernel-scan.ts";
import { type CompiledPattern, findSafeCut } from "../pattern/pattern.ts";
import { createEncodingKernel, putArray, readNativeKernels } from "../runtime/kernel.ts";
import {
  canBeCut,
  changesText,
  isCutAsItIs,
  looksAround,
  sectionSettings,
  tokensWhileCutting,
} from "../text/cutting.ts";
import { useTokens } from "../text/pretokens.ts";
import { setUpModel } from "./encoding-kernel.ts";
import { imageDigest, imageMagic } from "./image-name.ts";
import { allAddedTokens, type TokenizerParts } from "./tokenizer-parts.ts";

/**
 * The image of a tokenizer: all that native/ needs to encode and decode with it, without its files. The most of it is
 * what JavaScript does to an instance of the kernel until it is ready for text: calls of its exports, and bytes that it puts
 * into its memory. The same module lays its memory out alike each time, so who repeats the steps gets the same instance.
 *
 *   BYTES   TYPE      MEANING
 *   0       u8[8]     "bpeimage"
 *   8       u32       `imageVersion`
 *   12      u32       CRC-32 of all that follows
 *   16      u8[16]    `imageDigest`: of the kernel's two modules and the version of bpe
 *   32      u32       `flagBits`
 *   36      u32       idLimit
 *   40      u32       bytes of the longest token that the kernel finds while it cuts the text
 *   44      u32       how many of `texts` are ids of added tokens
 *   48      u32       how many steps trim offsets
 *   52      u32       0
 *   56      u32[2]    of each part below: where it begins, a multiple of 4, and its size in bytes
 *
 *   PART     TYPE       MEANING
 *   facts    UTF-8      JSON: what the program says of the tokenizer
 *   starts   u32        where the token of each id begins in `tokens`, idLimit + 1 of them
 *   tokens   u8         the tokens end to end
 *   texts    u32        ids whose bytes are text; others are spelled in GPT-2's characters. First those of added tokens
 *   sections            what is done to a text before it is cut, as the kernel's text module reads it
 *                       (src/kernel/text/description.ts); empty if nothing ever is
 *   steps    u32        0, address, n, and n bytes filled up to a multiple of 4: bytes to put there.
 *                       k, arguments, result: a call of `calls[k]`
 */
export function tokenizerImage(parts: TokenizerParts, facts: object): Uint8Array<ArrayBuffer> {
  const { tokens } = parts;
  const addedIds = allAddedTokens(parts).map(({ id }) => id);
  const { trims = [] } = parts.postProcessing ?? {};
  const found = tokensWhileCutting(parts);
  const body = [
    new TextEncoder().encode(JSON.stringify(facts)),
    bytesOf(tokens.starts),
    tokens.bytes,
    bytesOf(Uint32Array.from([...addedIds, ...(tokens.rawIds ?? [])])),
    isCutAsItIs(foundIn(parts)) ? new Uint8Array(0) : describeSections(sectionSettings(parts)),
    setUpSteps(parts, found),
  ];
  const headWords = partsAt / 4 + 2 * body.length;
  const head = new Uint32Array(headWords);
  const longestBytes = found.reduce((longest, { bytes }) => Math.max(longest, bytes.length), 0);
  head.set([flagBits(parts), tokens.idLimit, longestBytes, addedIds.length, trims.length], flagsAt / 4);
  let end = 4 * headWords;
  body.forEach(({ length }, i) => {
    head.set([end, length], partsAt / 4 + 2 * i);
    end += padded(length);
  });
  const image = new Uint8Array(end);
  image.set(bytesOf(head));
  image.set(new TextEncoder().encode(imageMagic));
  image.set(bytesOf(Uint32Array.of(imageVersion)), 8);
  image.set(imageDigest(readNativeKernels()), 16);
  for (const [i, part] of body.entries()) image.set(part, head[partsAt / 4 + 2 * i]!);
  image.set(bytesOf(Uint32Array.of(crc32(image.subarray(16)))), 12);
  return image;
}

export const imageVersion = 3;
const flagsAt = 32;
const partsAt = 56;

const padded = (byteCount: number) => (byteCount + 3) & ~3;
const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  new Uint8Array(buffer, byteOffset, byteLength);

const foundIn = (parts: TokenizerParts) => ({ ...parts, specialTokensAsText: false });

/**
 * What is true of a text, from bit 0 on: its ids have 16 bits in the kernel; a space may be put before it; it may be cut where the
 * kernel says; likewise with special tokens as text; it goes to the kernel as it is; likewise with special tokens as text;
 * steps that trim offsets leave a space at its start; its sections are encoded as if each were alone.
 */
function flagBits(parts: TokenizerParts): number {
  const asText = { ...parts, specialTokensAsText: true };
  const flags = [
    parts.isNarrow,
    parts.addsPrefixSpace,
    canBeCut(foundIn(parts)),
    canBeCut(asText),
    isCutAsItIs(foundIn(parts)),
    isCutAsItIs(asText),
    parts.postProcessing?.trims?.includes(true) ?? false,
    !changesText(parts) && !looksAround(parts),
  ];
  return flags.reduce((bits, flag, i) => bits | (Number(flag) << i), 0);
}

/** Bit 128 a + b: whatever is before a, the text may be cut between a and b (findSafeCut). */
function safePairs(pattern: CompiledPattern): Uint8Array {
  const bits = new Uint8Array((128 * 128) / 8);
  const bytes = new Uint8Array(2 + paddingBytes);
  const text = { bytes, view: new DataView(bytes.buffer) };
  for (let pair = 0; pair < 128 * 128; pair++) {
    bytes.set([pair >> 7, pair & 127]);
    // The search ends at the first cut: at b alone, or before a, where b is not asked.
    if (findSafeCut(pattern, text, 0, 2, 2) === 1) bits[pair >> 3]! |= 1 << (pair & 7);
  }
  return bits;
}

/** What may be called, by its number in an image. 0 puts bytes into the memory. */
const calls = [
  "beginModel",
  "reserveFixed",
  "useModel",
  "useAutomaton",
  "useFourByteTables",
  "useMaskTables",
  "useTokens",
  "useCutPairs",
];

/** The steps that set an instance up for the tokenizer. */
function setUpSteps(
  { model, isNarrow, pattern }: TokenizerParts,
  tokens: readonly TokenToFind[],
): Uint8Array {
  const kernel = createEncodingKernel();
  const recorder = new StepRecorder(kernel.memory);
  const exports = recorder.recorded(kernel.exports);
  const recorded = { exports, memory: kernel.memory };
  setUpModel(recorded, { model, isNarrow, cuts: "beside foreign bytes" });
  const scan = KernelScan.create(recorded, pattern.automata, { fourByteTablesBytes: 0, masksBytes: 0 });
  if (scan === undefined) throw new UserError("the tables of the pattern do not fit into memory");
  scan.prepare();
  const pairs = putArray(recorded, safePairs(pattern));
  recorded.exports.useCutPairs(pairs);
  if (pairs === 0 || !useTokens(recorded, tokens))
    throw new UserError("the added tokens do not fit into memory");
  return recorder.steps();
}

class StepRecorder {
  private readonly chunks: Uint8Array[] = [];
  /** What was reserved since the last call, and is to be filled before the next one. */
  private reserved: { readonly start: number; readonly byteCount: number }[] = [];

  constructor(private readonly memory: WebAssembly.Memory) {}

  /** The same exports, which write down what is called. */
  recorded<T extends object>(exports: T): T {
    return new Proxy({} as T, {
      get: (_, name: string) => {
        const call = (exports as Record<string, (...given: number[]) => number>)[name]!;
        const number = calls.indexOf(name) + 1;
        if (number === 0) return call;
        return (...given: number[]) => {
          const reserves = name === "beginModel" || name === "reserveFixed";
          if (!reserves) this.writeReserved();
          const result = (call(...given) ?? 0) >>> 0;
          this.chunks.push(bytesOf(Uint32Array.of(number, ...given, result)));
          if (reserves) this.reserved.push({ start: result, byteCount: given[0]! });
          return result;
        };
      },
    });
  }

  steps(): Uint8Array {
    this.writeReserved();
    return Buffer.concat(this.chunks);
  }

  private writeReserved(): void {
    for (const { start, byteCount } of this.reserved) {
      const bytes = new Uint8Array(this.memory.buffer).subarray(start, start + byteCount);
      const last = bytes.findLastIndex((byte) => byte !== 0);
      if (last < 0) continue;
      const chunk = new Uint8Array(padded(last + 1));
      chunk.set(bytes.subarray(0, last + 1));
      this.chunks.push(bytesOf(Uint32Array.of(0, start, last + 1)), chunk);
    }
    this.reserved = [];
  }
}
