// Times `bpe train` on a corpus that is plain, compressed, or read through a pipe. Needs zstd and gzip.
//
//   node scripts/bun.mjs bench/packed.ts <corpus> [--workers 2] [--rounds 5] [--vocab-size 32000] [--record name]
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { keepRecord, median } from "./record.ts";

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    workers: { type: "string", default: "2" },
    rounds: { type: "string", default: "5" },
    "vocab-size": { type: "string", default: "32000" },
    record: { type: "string" },
  },
});
const [corpus] = positionals;
if (corpus === undefined || !existsSync(corpus)) {
  console.error("usage: packed.ts <corpus> [--workers N] [--rounds N] [--vocab-size N] [--record NAME]");
  process.exit(2);
}

const home = mkdtempSync(join(tmpdir(), "bpe-packed-"));
const output = join(home, "out");
const bpe = join(import.meta.dir, "..", "dist", "bpe");
const shell = (line: string) => {
  const startMs = performance.now();
  const { exitCode, stderr, resourceUsage } = Bun.spawnSync(["bash", "-c", line], {
    env: { ...process.env, bpe, corpus, home },
  });
  if (exitCode !== 0) throw new Error(`${line}: ${stderr}`);
  // This is the processor time of all processes of the command line.
  const cpuSeconds = Number(resourceUsage.cpuTime.total) / 1e6;
  return { seconds: (performance.now() - startMs) / 1000, cpuSeconds };
};
shell(`zstd -q "$corpus" -o $home/zst; gzip < "$corpus" > $home/gz`);
const train = `-n ${values["vocab-size"]} -s '<|endoftext|>' -w ${values.workers} -o $home/out -q`;

type Way = { name: string; line: string; seconds: number[]; cpuSeconds: number[]; checksum: string };
const way = (name: string, line: string): Way => ({ name, line, seconds: [], cpuSeconds: [], checksum: "" });
const ways = [
  way("plain file", `$bpe train "$corpus" ${train}`),
  way("zst", `$bpe train $home/zst ${train}`),
  way("gz", `$bpe train $home/gz ${train}`),
  way("cat |", `cat "$corpus" | $bpe train - ${train}`),
  way("zstd -dc |", `zstd -dc $home/zst | $bpe train - ${train}`),
  way("gzip -dc |", `gzip -dc $home/gz | $bpe train - ${train}`),
  way("zstd -dc alone", "zstd -dc $home/zst > /dev/null"),
  way("gzip -dc alone", "gzip -dc $home/gz > /dev/null"),
];
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [turn] of ways.entries()) {
    const way = ways[(turn + round) % ways.length]!;
    rmSync(output, { recursive: true, force: true });
    const { seconds, cpuSeconds } = shell(way.line);
    way.seconds.push(seconds);
    way.cpuSeconds.push(cpuSeconds);
    if (!way.line.includes("$bpe")) continue;
    const { mergesSha256 } = JSON.parse(readFileSync(join(output, "training.json"), "utf8"));
    if (way.checksum !== "" && way.checksum !== mergesSha256) throw new Error(`${way.line}: other merges`);
    way.checksum = mergesSha256;
  }
}
const plain = median(ways[0]!.seconds);
const table = ways.map(({ name, seconds, cpuSeconds, checksum }) => ({
  name,
  seconds: Number(median(seconds).toFixed(3)),
  "x plain": Number((median(seconds) / plain).toFixed(2)),
  "cpu seconds": Number(median(cpuSeconds).toFixed(3)),
  checksum: checksum.slice(0, 12),
}));
console.table(table);
console.log(`load ${loadavg()[0]!.toFixed(1)}`);
rmSync(home, { recursive: true });
if (values.record !== undefined) {
  const options = { ...values, record: undefined };
  const sizeBytes = statSync(corpus).size;
  keepRecord(values.record, { corpus: corpus.split("/").at(-1), sizeBytes, options, results: table });
}
