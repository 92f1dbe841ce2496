// Compares encoding with other tools, in interleaved rounds.
//
//   node scripts/bun.mjs bench/encode/encode.ts <text> <tokenizer directory> [--rounds 3] [--workers 1,2,default]
//        [--peers huggingface,huggingface-1,tiktoken,npm-tiktoken,gigatoken] [--python dist/peers/bin/python]
//        [--python-rc dist/peers-rc/bin/python] [--binary dist/bpe] [--record name]
//
// huggingface-1 is `tokenizers` 1.0. The text must have <|endoftext|> between documents, and ids must fit into 16 bits.
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { npyHead } from "../../src/ids/id-writers.ts";
import { Tokenizer } from "../../src/index.ts";
import { keepRecord, longSeconds, median, runProcess } from "../record.ts";

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "3" },
    workers: { type: "string", default: "1,2" },
    peers: { type: "string", default: "huggingface,huggingface-1,tiktoken,gigatoken" },
    python: { type: "string", default: "dist/peers/bin/python" },
    "python-rc": { type: "string", default: "dist/peers-rc/bin/python" },
    binary: { type: "string", default: "dist/bpe" },
    record: { type: "string" },
  },
});
const [text, directory] = positionals;
if (text === undefined || directory === undefined) {
  console.error("usage: encode.ts <text> <tokenizer directory> [--rounds N] [--peers LIST] [--record NAME]");
  process.exit(2);
}

type Run = {
  seconds: number;
  /**
   * Processor time of all threads, in seconds. For other tools in Python, it is that of the call alone; otherwise, that
   * of the whole process.
   */
  processorSeconds: number;
  callSeconds?: number;
  idCount: number;
  sha256: string;
  peakMemoryBytes?: number;
};

const tokenizer = await Tokenizer.load(directory);
const endId = tokenizer.specialTokens.get("<|endoftext|>");

/** Runs a command that writes ids to the path `output`. `read` parses what the command prints. */
function run(
  command: (output: string) => string[],
  read: (run: ReturnType<typeof runProcess>) => Partial<Run>,
): Run {
  const home = mkdtempSync(join(tmpdir(), "bpe-bench-"));
  const output = join(home, "ids.npy");
  try {
    const run = runProcess(command(output));
    const { seconds, processorSeconds } = run;
    const ids = readFileSync(output).subarray(npyHead("uint16", 0).length);
    const sha256 = new Bun.CryptoHasher("sha256").update(ids).digest("hex");
    return { seconds, processorSeconds, idCount: ids.length / 2, sha256, ...read(run) };
  } finally {
    rmSync(home, { recursive: true });
  }
}

function runBpe(workers: string): Run {
  return run(
    (output) =>
      [values.binary, "encode", text!, "--tokenizer", directory!, "-o", output, "--progress", "json"].concat(
        workers === "default" ? [] : ["-w", workers],
      ),
    ({ stderr }) => {
      const { peakMemoryBytes } = JSON.parse(stderr.toString().trim().split("\n").at(-1)!);
      return { peakMemoryBytes };
    },
  );
}

function runPeer(peer: string): Run {
  const [source] = tokenizer.parts.description.patternSources;
  const program =
    peer === "npm-tiktoken"
      ? [process.execPath, join(import.meta.dir, "npm-tiktoken.ts")]
      : [pythonOf(peer), join(import.meta.dir, "peers.py"), peer];
  return run(
    (output) => [...program, directory!, text!, source!, String(endId), output],
    ({ stdout }) => {
      const { peer: _, seconds: callSeconds, ...usage } = JSON.parse(stdout.toString());
      return { callSeconds, ...usage };
    },
  );
}

const pythonOf = (peer: string) => (peer === "huggingface-1" ? values["python-rc"] : values.python);

const contestants = new Map<string, () => Run>();
for (const workers of values.workers.split(",")) contestants.set(`bpe -w ${workers}`, () => runBpe(workers));
for (const peer of values.peers.split(",").filter((name) => name !== "")) {
  contestants.set(peer, () => runPeer(peer));
}
const runs = new Map(Array.from(contestants.keys(), (name): [string, Run[]] => [name, []]));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [name, run] of contestants) {
    // A run of more than 5 seconds is not repeated.
    if (!runs.get(name)!.some(({ seconds }) => seconds > longSeconds)) runs.get(name)!.push(run());
  }
}

const sizeBytes = statSync(text).size;
const results = Array.from(runs, ([name, all]) => {
  const seconds = median(all.map((run) => run.seconds));
  const calls = all.flatMap((run) => run.callSeconds ?? []);
  const megabytesPerSecond = Number((sizeBytes / 1e6 / seconds).toFixed(1));
  const peaks = all.flatMap((run) => run.peakMemoryBytes ?? []);
  const peakMemoryBytes = peaks.length === 0 ? null : Math.max(...peaks);
  const { idCount, sha256 } = all[0]!;
  return {
    name,
    seconds: Number(seconds.toFixed(3)),
    callSeconds: calls.length === 0 ? null : Number(median(calls).toFixed(3)),
    processorSeconds: Number(median(all.map((run) => run.processorSeconds)).toFixed(3)),
    megabytesPerSecond,
    peakMemoryBytes,
    idCount,
    sha256,
    all: all.map((run) => run.seconds),
    allCalls: calls,
  };
});
/** The result of `bpe` that has the smallest median time. */
const best = results
  .filter(({ callSeconds }) => callSeconds === null)
  .toSorted((a, b) => a.seconds - b.seconds)[0]!;
for (const result of results) {
  const { name, seconds, callSeconds, processorSeconds, megabytesPerSecond, peakMemoryBytes, sha256 } =
    result;
  const ratio = (seconds / best.seconds).toFixed(2);
  const call =
    callSeconds === null
      ? ""
      : `; its call alone ${callSeconds} s, x ${(callSeconds / best.seconds).toFixed(2)}`;
  const memory = peakMemoryBytes === null ? "" : `, ${(peakMemoryBytes / 1e6).toFixed(0)} MB`;
  const answer = sha256 === best.sha256 ? "same ids" : "OTHER IDS";
  console.log(
    `${name.padEnd(12)} ${seconds.toFixed(3)} s, ${megabytesPerSecond} MB/s, x ${ratio}${call}, processors ${processorSeconds} s, ${answer}${memory}`,
  );
}
if (values.record !== undefined) keepRecord(values.record, { text: basename(text!), sizeBytes, results });
