/**
 * Makes a text with the given number of words, most of them distinct. The same seed gives the same text:
 *
 *   node scripts/bun.mjs bench/corpora/many-words.ts many.txt [--words 22000000] [--seed 1]
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { randomSource } from "../random.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { words: { type: "string", default: "22000000" }, seed: { type: "string", default: "1" } },
});
const syllables =
  "th e an in er on re at en or ti es is st ar al ing ed nt to it ou ha io le ve co me de hi".split(" ");
const encoded = syllables.map((syllable) => new TextEncoder().encode(syllable));
const random = randomSource(Number(values.seed));
const chunk = new Uint8Array(1 << 20);
const wordBytesMax = 32;

const fd = openSync(positionals[0]!, "w");
let end = 0;
for (let word = 0; word < Number(values.words); word++) {
  chunk[end++] = word % 16 === 15 ? 10 : 32;
  for (let left = 5 + random.below(2); left > 0; left--) {
    for (const byte of encoded[random.below(encoded.length)]!) chunk[end++] = byte;
  }
  if (end < chunk.length - wordBytesMax) continue;
  writeSync(fd, chunk, 0, end);
  end = 0;
}
writeSync(fd, chunk, 0, end);
closeSync(fd);
