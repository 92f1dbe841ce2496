// The first rows of README's table: bpe, both versions of HF's `tokenizers` and other peers train and encode, in turns.
//
//   bench/peers/setup && npm run build
//   node scripts/bun.mjs bench/huggingface.ts <corpus> [--rounds 3]
//
// It runs train.ts, and encode/encode.ts with the tokenizer that bpe learns, keeps both records by the corpus' name, and
// prints rows of Markdown. Of a peer it is the call that is timed, in seconds and in seconds of all its threads; memory is
// that of the process.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { table } from "./markdown.ts";

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: { rounds: { type: "string", default: "3" } },
});
const [corpus] = positionals;
if (corpus === undefined) {
  console.error("usage: huggingface.ts <corpus> [--rounds N]");
  process.exit(2);
}

function run(program: string, ...args: string[]): void {
  const { status } = spawnSync(program, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed`);
}

/** Runs a bench, and reads the results that it keeps. */
function resultsOf<Result extends { name: string }>(script: string, ...args: string[]): Result[] {
  const record = `${basename(script, ".ts")}-${basename(corpus!).replace(/\.\w+$/, "")}`;
  const options = ["--rounds", values.rounds, "--record", record];
  run(process.execPath, join(import.meta.dir, script), ...args, ...options);
  return JSON.parse(readFileSync(join(import.meta.dir, `record/${record}.json`), "utf8")).results;
}

type Trained = { name: string; seconds: number; "processor s": number; "peak MB": number };
type Encoded = {
  name: string;
  seconds: number;
  callSeconds: number | null;
  processorSeconds: number;
  peakMemoryBytes: number | null;
};

/** Time, time of all threads, and memory, as cells say them. */
type Cells = readonly [time: string, processorsAndMemory: string];

function cells(seconds: number, processorSeconds: number, megabytes: number | null): Cells {
  const shown = (value: number) => `${value < 10 ? value.toPrecision(2) : value.toPrecision(3)} s`;
  const memory = megabytes === null ? "" : `, ${megabytes.toFixed(0)} MB`;
  return [shown(seconds), `${shown(processorSeconds)}${memory}`];
}

const trained = new Map(
  resultsOf<Trained>("train.ts", corpus).map((result): [string, Cells] => [
    result.name,
    cells(result.seconds, result["processor s"], result["peak MB"]),
  ]),
);

const home = mkdtempSync(join(tmpdir(), "bpe-bench-"));
const learned = join(home, "tokenizer");
const bpe = join(import.meta.dir, "../dist/bpe");
run(bpe, "train", corpus, "-n", "32000", "-s", "<|endoftext|>", "-o", learned, "-q");
const encoded = new Map(
  resultsOf<Encoded>("encode/encode.ts", corpus, learned, "--workers", "2").map(
    ({ name, seconds, callSeconds, processorSeconds, peakMemoryBytes }): [string, Cells] => [
      name,
      cells(
        callSeconds ?? seconds,
        processorSeconds,
        peakMemoryBytes === null ? null : peakMemoryBytes / 1e6,
      ),
    ],
  ),
);
rmSync(home, { recursive: true });

const cannot: Cells = ["–", ""];
const columns: readonly (readonly [head: string, train: Cells | undefined, encode: Cells | undefined])[] = [
  ["bpe", trained.get("bpe"), encoded.get("bpe -w 2")],
  ["HF `tokenizers` 0.23.3", trained.get("tokenizers"), encoded.get("huggingface")],
  ["HF 1.0.0rc3", cannot, encoded.get("huggingface-1")],
  ["gigabpe", trained.get("gigabpe"), cannot],
  ["tiktoken", cannot, encoded.get("tiktoken")],
];
const size = `${Math.round(statSync(corpus).size / 1e6)} MB`;
const row = (head: string, at: 1 | 2, cell: 0 | 1) => [
  head,
  ...columns.map((column) => column[at]?.[cell] ?? ""),
];
console.log(
  table(
    ["", ...columns.map(([head]) => head)],
    [
      row(`train on ${size}, 32,000 tokens, two cores`, 1, 0),
      row("… processor time, memory", 1, 1),
      row(`encode ${size}, two cores`, 2, 0),
      row("… processor time, memory", 2, 1),
    ],
  ),
);
