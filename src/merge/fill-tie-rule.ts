import { byteToCharacter, decodeCharacters } from "../bytes/byte-characters.ts";
import type { Kernel } from "../runtime/kernel.ts";
import {
  byteTokens,
  haveLongTokens,
  type MergeOptions,
  type StartTokens,
  type TieOrder,
} from "./merge-options.ts";

/** What the engine knows about start tokens, and how ties are decided (src/kernel/merge/tie-rules.ts). */
export type TieRule = {
  readonly startCount: number;
  readonly haveLongTokens: boolean;
  readonly comparesBytes: boolean;
  /** Whether the smaller bytes win. */
  readonly smallerWins: boolean;
  /** The bytes of the start tokens, as numbers in the order that decides ties. */
  readonly spelling: { readonly bytes: Uint8Array; readonly starts: Uint32Array };
  /** The id of each start token in ties, where ids decide. */
  readonly ranks: Int32Array;
  /** The tokens that a merge may spell though they exist already, with their tie keys. */
  readonly specials: readonly { readonly bytes: Uint8Array; readonly key: bigint }[];
};

/** Of the key of an id: keys below it are ids, keys above it special tokens. */
const middleKey = 2n ** 32n;

const ordersOfCompats = {
  cs336: "greater bytes",
  huggingface: "smaller id",
  rustbpe: "smaller id",
} as const satisfies Record<MergeOptions["compat"], TieOrder>;

/** Who wins a tie. */
export const tieOrderOf = ({ compat, ties = ordersOfCompats[compat] }: MergeOptions): TieOrder => ties;

export function tieRuleOf(options: MergeOptions): TieRule {
  const { startTokens = byteTokens } = options;
  const ties = tieOrderOf(options);
  const { count, spelling = noSpelling(startTokens) } = startTokens;
  const known = (startTokens.known ?? []).map(({ bytes, rank }) => ({
    bytes,
    key: middleKey - BigInt(rank),
  }));
  const specials = [...known, ...specialsOf(options)];
  const places = ties === "smaller characters" ? alphabetOrder() : null;
  return {
    startCount: count,
    haveLongTokens: haveLongTokens(startTokens),
    comparesBytes: ties !== "smaller id",
    smallerWins: ties !== "greater bytes",
    spelling: places ? { ...spelling, bytes: inAlphabet(spelling.bytes, places) } : spelling,
    ranks: startTokens.ranks ?? ranksOf(options),
    specials: places ? specials.map((s) => ({ ...s, bytes: inAlphabet(s.bytes, places) })) : specials,
  };
}

const noSpelling = ({ count }: StartTokens) => ({
  bytes: new Uint8Array(0),
  starts: new Uint32Array(count + 1),
});

function ranksOf({ compat, startTokens = byteTokens }: MergeOptions): Int32Array {
  if (compat === "huggingface" && startTokens === byteTokens) return alphabetOrder();
  return Int32Array.from({ length: startTokens.count }, (_, id) => id);
}

/** HF: the special tokens that a merge may spell, as the bytes that their text stands for in byte-to-character form. */
function specialsOf({ compat, specialTokens }: MergeOptions) {
  if (compat !== "huggingface") return [];
  const texts = [...new Set(specialTokens)];
  return texts.flatMap((text, index) => {
    const bytes = decodeCharacters(text);
    // The first special token has the smallest id of all, so the greatest key.
    return bytes === null ? [] : [{ bytes, key: middleKey + BigInt(texts.length - index) }];
  });
}

/** Place of each byte in the alphabet, which HF sorts by the code points of the byte-to-character form. */
export function alphabetOrder(): Int32Array {
  const ranks = new Int32Array(256);
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  bytes.sort((a, b) => byteToCharacter[a]!.codePointAt(0)! - byteToCharacter[b]!.codePointAt(0)!);
  bytes.forEach((byte, rank) => {
    ranks[byte] = rank;
  });
  return ranks;
}

/** Each byte as its place in the alphabet: so bytes are in the order of the strings of their characters. */
const inAlphabet = (bytes: Uint8Array, places: Int32Array) => bytes.map((byte) => places[byte]!);

/** Writes start tokens and rule into the regions of an engine. */
export function fillTieRule({ exports, memory }: Kernel, { spelling, ranks, specials }: TieRule): void {
  const { buffer } = memory;
  new Uint8Array(buffer, exports.startBytes.value >>> 0).set(spelling.bytes);
  new Uint32Array(buffer, exports.startOffsets.value >>> 0).set(spelling.starts);
  new Int32Array(buffer, exports.startRanks.value >>> 0).set(ranks);
  const entries = new Uint32Array(buffer, exports.specials.value >>> 0, 4 * specials.length);
  const allBytes = new Uint8Array(buffer, exports.specialBytes.value >>> 0);
  let start = 0;
  specials.forEach(({ bytes, key }, index) => {
    entries.set([start, bytes.length, Number(key & 0xffffffffn), Number(key >> 32n)], 4 * index);
    allBytes.set(bytes, start);
    start += bytes.length;
  });
}

const space = 0x20;
const colon = 0x3a;
/** More are counted as so many. */
const countMax = 5;

/** What the engine has to know of the words in the bytes of a token (src/kernel/merge/merge-tokens.ts). */
function wordFactsOf(bytes: Uint8Array): number {
  let count = 0;
  let hasColonAndSpace = false;
  let before = space;
  for (const byte of bytes) {
    if (byte !== space && before === space) count++;
    if (byte === space && before === colon) hasColonAndSpace = true;
    before = byte;
  }
  return (
    Math.min(count, countMax) |
    (Number(bytes[0] === space) << 3) |
    (Number(bytes.at(-1) === space) << 4) |
    (Number(bytes.at(-1) === colon) << 5) |
    (Number(hasColonAndSpace) << 6)
  );
}

/** Writes the facts of the start tokens into the regions of an engine. */
export function fillWordFacts({ exports, memory }: Kernel, { count, spelling }: StartTokens): void {
  const facts = new Uint8Array(memory.buffer, exports.wordFacts.value >>> 0, count);
  const { bytes, starts } = spelling!;
  for (let id = 0; id < count; id++) facts[id] = wordFactsOf(bytes.subarray(starts[id]!, starts[id + 1]!));
}
