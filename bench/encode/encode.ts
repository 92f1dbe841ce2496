// Encoding against peers, in one run: rounds are interleaved, medians printed, and every answer is compared.
//
//   node scripts/bun.mjs bench/encode/encode.ts <text> <tokenizer directory> [--rounds 3] [--workers 1,2]
//        [--peers huggingface,tiktoken,npm-tiktoken,gigatoken] [--python dist/peers/bin/python] [--binary dist/bpe] [--record name]
//
// `bpe` is timed as a whole process, from start to exit, with loading and writing; a peer by its batch call alone, on all
// threads, with the text in memory (see peers.py, npm-tiktoken.ts). The checksum is over the ids, special tokens left out.
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Tokenizer } from "../../src/index.ts";
import { keepRecord, median } from "../record.ts";

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "3" },
    workers: { type: "string", default: "1,2" },
    peers: { type: "string", default: "huggingface,tiktoken,gigatoken" },
    python: { type: "string", default: "dist/peers/bin/python" },
    binary: { type: "string", default: "dist/bpe" },
    record: { type: "string" },
  },
});
const [text, directory] = positionals;
if (text === undefined || directory === undefined) {
  console.error("usage: encode.ts <text> <tokenizer directory> [--rounds N] [--peers LIST] [--record NAME]");
  process.exit(2);
}

type Run = { seconds: number; idCount: number; sha256: string; peakMemoryBytes?: number };

const tokenizer = await Tokenizer.load(directory);
const specialIds = new Set(tokenizer.specialTokens.values());

function runBpe(workers: string): Run {
  const home = mkdtempSync(join(tmpdir(), "bpe-bench-"));
  const output = join(home, "ids.bin");
  const args = ["encode", text!, "--tokenizer", directory!, "-o", output, "-w", workers];
  const startMs = performance.now();
  const run = Bun.spawnSync([values.binary, ...args, "--progress", "json", "--dtype", "uint32"]);
  const seconds = (performance.now() - startMs) / 1000;
  if (run.exitCode !== 0) throw new Error(run.stderr.toString());
  const result = JSON.parse(run.stderr.toString().trim().split("\n").at(-1)!);
  const written = new Uint8Array(readFileSync(output));
  rmSync(home, { recursive: true });
  const ids = new Uint32Array(written.buffer).filter((id) => !specialIds.has(id));
  return {
    seconds,
    idCount: ids.length,
    sha256: new Bun.CryptoHasher("sha256").update(ids).digest("hex"),
    peakMemoryBytes: result.peakMemoryBytes,
  };
}

function runPeer(peer: string): Run {
  const [source] = tokenizer.parts.description.patternSources;
  const program =
    peer === "npm-tiktoken"
      ? [process.execPath, join(import.meta.dir, "npm-tiktoken.ts")]
      : [values.python, join(import.meta.dir, "peers.py"), peer];
  const run = Bun.spawnSync([...program, directory!, text!, source!]);
  if (run.exitCode !== 0) throw new Error(run.stderr.toString());
  const { seconds, ids, sha256 } = JSON.parse(run.stdout.toString());
  return { seconds, idCount: ids, sha256 };
}

const contestants = new Map<string, () => Run>();
for (const workers of values.workers.split(",")) contestants.set(`bpe -w ${workers}`, () => runBpe(workers));
for (const peer of values.peers.split(",").filter((name) => name !== "")) {
  contestants.set(peer, () => runPeer(peer));
}
const runs = new Map(Array.from(contestants.keys(), (name): [string, Run[]] => [name, []]));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [name, run] of contestants) runs.get(name)!.push(run());
}

const sizeBytes = statSync(text).size;
const results = Array.from(runs, ([name, all]) => {
  const seconds = median(all.map((run) => run.seconds));
  const megabytesPerSecond = Number((sizeBytes / 1e6 / seconds).toFixed(1));
  const peaks = all.flatMap((run) => run.peakMemoryBytes ?? []);
  const peakMemoryBytes = peaks.length === 0 ? null : Math.max(...peaks);
  const { idCount, sha256 } = all[0]!;
  return {
    name,
    seconds: Number(seconds.toFixed(3)),
    megabytesPerSecond,
    peakMemoryBytes,
    idCount,
    sha256,
    all: all.map((run) => run.seconds),
  };
});
const [ours] = results;
for (const { name, seconds, megabytesPerSecond, peakMemoryBytes, sha256 } of results) {
  const ratio = (seconds / ours!.seconds).toFixed(2);
  const memory = peakMemoryBytes === null ? "" : `, ${(peakMemoryBytes / 1e6).toFixed(0)} MB`;
  const answer = sha256 === ours!.sha256 ? "same ids" : "OTHER IDS";
  console.log(
    `${name.padEnd(12)} ${seconds.toFixed(3)} s, ${megabytesPerSecond} MB/s, x ${ratio}, ${answer}${memory}`,
  );
}
if (values.record !== undefined) keepRecord(values.record, { text, sizeBytes, results });
