// Times `bpe train` without a cache, with an empty one, with nothing changed, and with a few files changed:
//
//   node scripts/bun.mjs bench/nightly.ts <text> [--files 100] [--size 10e6] [--changed 3] [--rounds 3] [--workers N]
//     [--record name]
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { randomSource } from "./random.ts";
import { keepRecord, median } from "./record.ts";

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    files: { type: "string", default: "100" },
    size: { type: "string", default: "10e6" },
    changed: { type: "string", default: "3" },
    rounds: { type: "string", default: "3" },
    workers: { type: "string" },
    record: { type: "string" },
  },
});
const [source] = positionals;
if (source === undefined || !existsSync(source)) {
  console.error(
    "usage: nightly.ts <text> [--files N] [--size BYTES] [--changed N] [--rounds N] [--record NAME]",
  );
  process.exit(2);
}
const fileCount = Number(values.files);
const sizeBytes = Number(values.size);
const changedCount = Number(values.changed);
const text = readFileSync(source);
const home = mkdtempSync(join(tmpdir(), "bpe-nightly-"));
const bpe = join(import.meta.dir, "..", "dist", "bpe");
const isLetter = (byte: number) => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

function makeFile(seed: number): Buffer {
  const random = randomSource(seed);
  const file = Buffer.alloc(sizeBytes);
  let untilSuffix = random.below(400);
  let end = 0;
  for (let pos = (seed * 997_117) % text.length; end < sizeBytes; pos = (pos + 1) % text.length) {
    if (text[pos] === 0x20 && isLetter(text[pos - 1] ?? 0) && untilSuffix-- === 0) {
      for (let letters = 2 + random.below(5); letters > 0 && end < sizeBytes; letters--)
        file[end++] = 0x61 + random.below(26);
      untilSuffix = random.below(400);
    }
    if (end < sizeBytes) file[end++] = text[pos]!;
  }
  return file;
}

const corpus = join(home, "corpus");
mkdirSync(corpus);
const pathOf = (file: number) => join(corpus, `${String(file).padStart(6, "0")}.txt`);
for (let file = 0; file < fileCount; file++) writeFileSync(pathOf(file), makeFile(file + 1));
// Waits, because `bpe` always hashes a file that was written less than two seconds ago.
Bun.sleepSync(2500);

type Way = { name: string; countMs: number[]; totalMs: number[]; cpuMs: number[]; checksum: string };
const ways = ["no cache", "empty cache", "nothing changed", `${changedCount} changed`].map(
  (name): Way => ({ name, countMs: [], totalMs: [], cpuMs: [], checksum: "" }),
);

function train(way: Way, ...options: string[]): void {
  const output = join(home, "out");
  const workers = values.workers === undefined ? [] : ["-w", values.workers];
  const { exitCode, stderr, resourceUsage } = Bun.spawnSync(
    [bpe, "train", corpus, "-s", "<|endoftext|>", "-n", "32000", "-o", output, "-q", ...workers, ...options],
    { env: {} },
  );
  if (exitCode !== 0) throw new Error(stderr.toString());
  const record = JSON.parse(readFileSync(join(output, "training.json"), "utf8"));
  way.countMs.push(record.timings.countMs);
  way.totalMs.push(record.timings.totalMs);
  way.cpuMs.push(Number(resourceUsage.cpuTime.total) / 1000);
  way.checksum = record.mergesSha256;
}

for (let round = 0; round < Number(values.rounds); round++) {
  const cache = join(home, "cache");
  rmSync(cache, { recursive: true, force: true });
  const [none, empty, same, changed] = ways as [Way, Way, Way, Way];
  train(none);
  train(empty, "--cache", cache);
  train(same, "--cache", cache);
  if (new Set([none, empty, same].map(({ checksum }) => checksum)).size > 1)
    throw new Error("results differ");
  for (let i = 0; i < changedCount; i++) {
    const file = Math.floor(((i + 0.5) * fileCount) / changedCount);
    writeFileSync(pathOf(file), makeFile((round + 1) * 100_000 + file));
  }
  Bun.sleepSync(2500);
  train(changed, "--cache", cache);
  train(none);
  if (none.checksum !== changed.checksum) throw new Error("results differ");
}
rmSync(home, { recursive: true });

const full = median(ways[0]!.countMs);
const measured = ways.map(({ name, countMs, totalMs, cpuMs }) => ({
  name,
  countMs: median(countMs),
  shareOfFullCount: Number((median(countMs) / full).toFixed(3)),
  totalMs: median(totalMs),
  cpuMs: Math.round(median(cpuMs)),
}));
console.table(measured);
console.log(`load ${loadavg()[0]!.toFixed(1)}`);
if (values.record !== undefined) {
  keepRecord(values.record, {
    source: basename(source),
    fileCount,
    sizeBytes,
    changedCount,
    rounds: Number(values.rounds),
    ways: measured,
  });
}
