import type { Kernel } from "../runtime/kernel.ts";
import type { StartTokens } from "./start-tokens.ts";

const space = 0x20;
const colon = 0x3a;
/** More are counted as so many. */
const countMax = 5;

/** What the engine has to know of the words in the bytes of a token (src/kernel/merge/word-facts.ts). */
export function wordFactsOf(bytes: Uint8Array): number {
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
