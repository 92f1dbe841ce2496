// Compares the time to count JSON records on one line with the time if each has a line of its own:
//
//   node scripts/bun.mjs bench/one-line-json.ts <corpus with <|endoftext|>> [size in bytes] [rounds] [record]
import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { keepRecord, median } from "./record.ts";

const [source, size = "1e9", rounds = "3", record] = process.argv.slice(2);
if (source === undefined) {
  console.error("usage: one-line-json.ts <corpus> [size in bytes] [rounds] [record]");
  process.exit(2);
}
const records = readFileSync(source, "utf8")
  .split("<|endoftext|>")
  .map((document) => JSON.stringify({ text: document.trim() }));

function write(path: string, separator: string): void {
  const file = openSync(path, "w");
  const block = Buffer.from(records.join(separator));
  let written = writeSync(file, "[");
  while (written < Number(size)) {
    written += writeSync(file, block) + writeSync(file, separator);
  }
  writeSync(file, "{}]");
  closeSync(file);
}

const files = [
  { name: "one line", path: `${tmpdir()}/bpe-one-line.json`, separator: ", ", seconds: [] as number[] },
  { name: "a line each", path: `${tmpdir()}/bpe-lines.json`, separator: ",\n", seconds: [] as number[] },
];
for (const { path, separator } of files) write(path, separator);
for (let round = 0; round < Number(rounds); round++) {
  for (const { path, seconds } of files) {
    const startMs = performance.now();
    const command = [`${import.meta.dir}/../dist/bpe`, "count", path, "-w", "2", "-q", "-o", "/dev/null"];
    const { exitCode, stderr } = Bun.spawnSync(command);
    if (exitCode !== 0) throw new Error(stderr.toString());
    seconds.push((performance.now() - startMs) / 1000);
  }
}
const results = files.map(({ name, path, seconds }) => ({
  name,
  sizeBytes: statSync(path).size,
  seconds: Number(median(seconds).toFixed(2)),
  "MB/s": Math.round(statSync(path).size / 1e6 / median(seconds)),
}));
for (const { path } of files) rmSync(path);
console.table(results);
const ratio = Number((results[0]!.seconds / results[1]!.seconds).toFixed(3));
console.log(`one line takes ${ratio} times as long`);
if (record !== undefined) keepRecord(record, { source: source.split("/").at(-1), results, ratio });
