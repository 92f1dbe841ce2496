// Makes a large corpus from a small one: repeats it, and gives one word in 200, on average, a made-up suffix, so that
// the number of distinct words grows with the size.
//
//   node scripts/bun.mjs bench/corpora/grow.ts english.txt 1e9 english-1gb.txt [seed]
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { randomSource } from "../random.ts";

const [source, size, target, seed = "1"] = process.argv.slice(2);
if (source === undefined || size === undefined || target === undefined) {
  console.error("usage: grow.ts <source> <size in bytes> <target> [seed]");
  process.exit(2);
}

const wordsPerSuffix = 200;
const text = readFileSync(source);
const random = randomSource(Number(seed));
const out = openSync(target, "w");
const block = Buffer.alloc(1 << 22);
const space = 0x20;
const isLetter = (byte: number) => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

let written = 0;
let filled = 0;
let untilSuffix = random.below(2 * wordsPerSuffix);
for (let pos = 0; written + filled < Number(size); pos = (pos + 1) % text.length) {
  if (filled > block.length - 16) {
    written += writeSync(out, block, 0, filled);
    filled = 0;
  }
  const byte = text[pos]!;
  if (byte === space && isLetter(text[pos - 1] ?? 0) && untilSuffix-- === 0) {
    for (let letters = 2 + random.below(5); letters > 0; letters--) block[filled++] = 0x61 + random.below(26);
    untilSuffix = random.below(2 * wordsPerSuffix);
  }
  block[filled++] = byte;
}
writeSync(out, block, 0, filled);
closeSync(out);
