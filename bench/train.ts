// Compares training with other tools, in interleaved rounds.
//
//   node scripts/bun.mjs bench/train.ts <corpus> [--vocab-size 32000] [--rounds 5] [--workers N]
//                                       [--special-token '<|endoftext|>'] [--peers gigabpe,tokenizers] [--record name]
//                                       [--pattern REGEX] [--bpe '--superwords-from 24000'] [--before EXECUTABLE]
//
//   --workers   without it, each tool chooses its number of threads
//   --bpe       options for `bpe`, which also trains without them
//   --before    an older executable, which takes turns
//
// Whole jobs are compared; for other tools, the training call alone is measured as well.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { keepRecord, longSeconds, median, runProcess } from "./record.ts";

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    "vocab-size": { type: "string", default: "32000" },
    rounds: { type: "string", default: "5" },
    workers: { type: "string" },
    "special-token": { type: "string", default: "<|endoftext|>" },
    peers: { type: "string", default: "gigabpe,tokenizers" },
    pattern: { type: "string", default: "gpt2" },
    bpe: { type: "string", default: "" },
    before: { type: "string" },
    record: { type: "string" },
  },
});
const corpus = positionals[0];
if (corpus === undefined || !existsSync(corpus)) {
  console.error(
    "usage: train.ts <corpus> [--vocab-size N] [--rounds N] [--workers N] [--peers LIST] [--record NAME]",
  );
  process.exit(2);
}

const { workers } = values;
const root = `${import.meta.dir}/..`;
const python = `${root}/dist/peers/bin/python`;
type Run = {
  seconds: number;
  processorSeconds: number;
  wholeSeconds: number;
  peakMemoryBytes: number;
  mergeCount: number;
  mergesSha256: string;
};

function runBpe(executable: string, options: string): Run {
  const output = mkdtempSync(`${tmpdir()}/bpe-bench-`);
  const command = [
    "train",
    corpus!,
    "-n",
    values["vocab-size"],
    "-s",
    values["special-token"],
    ...(workers === undefined ? [] : ["-w", workers]),
    "-p",
    values.pattern,
    ...options.split(" ").filter(Boolean),
  ];
  const { seconds, processorSeconds } = runProcess([executable, ...command, "-o", output, "-q"]);
  const { peakMemoryBytes, mergeCount, mergesSha256 } = JSON.parse(
    readFileSync(`${output}/training.json`, "utf8"),
  );
  rmSync(output, { recursive: true });
  return { seconds, processorSeconds, wholeSeconds: seconds, peakMemoryBytes, mergeCount, mergesSha256 };
}

function runPeer(peer: string): Run {
  const started = String(Date.now() / 1000);
  const script = `${import.meta.dir}/peers/train.py`;
  const { pattern } = values;
  if (peer === "gigabpe" && pattern !== "gpt2") throw new Error("it has one pattern");
  const command = [script, peer, corpus!, values["vocab-size"], workers ?? "", started, pattern];
  return JSON.parse(runProcess([python, ...command]).stdout.toString());
}

const executable = `${root}/dist/bpe`;
const contestants = new Map<string, () => Run>([["bpe", () => runBpe(executable, values.bpe)]]);
const { before } = values;
if (before !== undefined) contestants.set("bpe, before", () => runBpe(before, values.bpe));
if (values.bpe !== "") contestants.set("bpe, plain", () => runBpe(executable, ""));
for (const peer of values.peers.split(",").filter(Boolean)) {
  if (existsSync(python)) contestants.set(peer, () => runPeer(peer));
  else console.log(`${peer}: skipped, no dist/peers (run bench/peers/setup)`);
}

const runs = new Map<string, Run[]>([...contestants.keys()].map((name) => [name, []]));
for (let round = 0; round < Number(values.rounds); round++) {
  // Each contestant takes each position in turn, because the previous run affects the next one.
  const entries = [...contestants];
  const first = round % entries.length;
  for (const [name, run] of [...entries.slice(first), ...entries.slice(0, first)]) {
    // These files are read again before each run, because if memory is scarce, a long run evicts their pages from the
    // cache.
    Bun.spawnSync(["cat", corpus, executable, ...(before === undefined ? [] : [before])], {
      stdout: "ignore",
    });
    if (runs.get(name)!.some(({ wholeSeconds }) => wholeSeconds > longSeconds)) continue;
    try {
      runs.get(name)!.push(run());
    } catch (error) {
      if (name.startsWith("bpe")) throw error;
      console.log(`${name}: skipped, ${(error as Error).message}`);
      contestants.delete(name);
    }
  }
}

const sizeBytes = statSync(corpus).size;
const ours = median(runs.get("bpe")!.map((run) => run.seconds));
const table = [...runs]
  .filter(([, done]) => done.length > 0)
  .map(([name, done]) => {
    const seconds = median(done.map((run) => run.seconds));
    const whole = median(done.map((run) => run.wholeSeconds));
    return {
      name,
      seconds: Number(seconds.toFixed(4)),
      "MB/s": Number((sizeBytes / 1e6 / seconds).toFixed(1)),
      "x bpe": Number((seconds / ours).toFixed(2)),
      "processor s": Number(median(done.map((run) => run.processorSeconds)).toFixed(4)),
      "whole s": Number(whole.toFixed(4)),
      "x bpe whole": Number((whole / ours).toFixed(2)),
      "peak MB": Math.round(Math.max(...done.map((run) => run.peakMemoryBytes)) / 1e6),
      merges: done[0]!.mergeCount,
      checksum: done[0]!.mergesSha256.slice(0, 12),
      same: done.every((run) => run.mergesSha256 === done[0]!.mergesSha256),
    };
  });
console.table(table);
if (values.record !== undefined) {
  const options = { ...values, record: undefined };
  keepRecord(values.record, { corpus: corpus.split("/").at(-1), sizeBytes, options, results: table });
}
