import { byteToCharacter, decodeCharacters } from "../bytes/byte-characters.ts";
import type { Kernel } from "../runtime/kernel.ts";
import type { MergeOptions } from "./merge-options.ts";

/** How a rule decides ties (src/kernel/merge/tie-rules.ts). */
export type TieRule = {
  readonly comparesBytes: boolean;
  /** 256: the id of each byte in ties, where ids decide. */
  readonly byteRanks: Int32Array;
  /** The special tokens that a merge may spell, as the bytes that their text stands for in byte-to-character form. */
  readonly specials: readonly { readonly bytes: Uint8Array; readonly rank: number }[];
};

export function tieRuleOf({ compat, specialTokens }: MergeOptions): TieRule {
  if (compat !== "huggingface") {
    const byteRanks = Int32Array.from({ length: 256 }, (_, byte) => byte);
    return { comparesBytes: compat === "cs336", byteRanks, specials: [] };
  }
  const texts = [...new Set(specialTokens)];
  const specials = texts.flatMap((text, index) => {
    const bytes = decodeCharacters(text);
    return bytes === null ? [] : [{ bytes, rank: texts.length - index }];
  });
  return { comparesBytes: false, byteRanks: alphabetOrder(), specials };
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

/** Writes the rule into the regions of an engine. */
export function fillTieRule({ exports, memory }: Kernel, { byteRanks, specials }: TieRule): void {
  const { buffer } = memory;
  new Int32Array(buffer, exports.byteRanks.value >>> 0, 256).set(byteRanks);
  const entries = new Uint32Array(buffer, exports.specials.value >>> 0, 3 * specials.length);
  const allBytes = new Uint8Array(buffer, exports.specialBytes.value >>> 0);
  let start = 0;
  specials.forEach(({ bytes, rank }, index) => {
    entries.set([start, bytes.length, rank], 3 * index);
    allBytes.set(bytes, start);
    start += bytes.length;
  });
}
