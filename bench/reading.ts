// Mapping against reading: the same bytes through windows of several sizes, each touched once (a sum of its 32-bit
// words), interleaved, medians.
//
//   node scripts/bun.mjs bench/reading.ts <file>
import { closeSync, openSync, readSync, statSync } from "node:fs";

const [path] = process.argv.slice(2);
if (path === undefined) {
  console.error("usage: reading.ts <file>");
  process.exit(2);
}
const sizeBytes = statSync(path).size;
const rounds = 5;

function sumOf(words: Int32Array): number {
  let sum = 0;
  for (let i = 0; i < words.length; i++) sum = (sum + words[i]!) | 0;
  return sum;
}

function mapped(windowBytes: number): number {
  let sum = 0;
  for (let offset = 0; offset < sizeBytes; offset += windowBytes) {
    const size = Math.min(windowBytes, sizeBytes - offset);
    const window = Bun.mmap(path!, { offset, size } as Bun.MMapOptions) as Uint8Array<ArrayBuffer>;
    sum = (sum + sumOf(new Int32Array(window.buffer, window.byteOffset, size >> 2))) | 0;
    window.buffer.transfer(0);
  }
  return sum;
}

function read(windowBytes: number): number {
  const fd = openSync(path!, "r");
  const words = new Int32Array(windowBytes >> 2);
  let sum = 0;
  for (let offset = 0; offset < sizeBytes; offset += windowBytes) {
    const got = readSync(fd, words, 0, Math.min(windowBytes, sizeBytes - offset), offset);
    sum = (sum + sumOf(words.subarray(0, got >> 2))) | 0;
  }
  closeSync(fd);
  return sum;
}

const variants = [1, 4, 16].flatMap((megabytes) => [
  { name: `map  ${megabytes} MB windows`, run: () => mapped(megabytes << 20), ms: [] as number[], sum: 0 },
  { name: `read ${megabytes} MB windows`, run: () => read(megabytes << 20), ms: [] as number[], sum: 0 },
]);
for (let round = 0; round <= rounds; round++) {
  for (const variant of variants) {
    const startMs = performance.now();
    variant.sum = variant.run();
    if (round > 0) variant.ms.push(performance.now() - startMs); // the first round warms up
  }
}
for (const { name, ms, sum } of variants) {
  const median = ms.sort((a, b) => a - b)[rounds >> 1]!;
  console.log(`${name.padEnd(22)} ${(sizeBytes / 1e6 / median).toFixed(2)} GB/s  checksum ${sum >>> 0}`);
}
