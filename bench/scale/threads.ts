// Measures what each thread adds to a training, and where more cores stop helping:
//
//   node scripts/bun.mjs bench/scale/threads.ts <corpus> [rounds]
//
// Computes the time on more cores from the processor time, assuming that their memory is no slower. The corpus should
// have a gigabyte or more and fit into the page cache.
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { keepRecord, median } from "../record.ts";

const bpe = join(resolve(import.meta.dir, "../.."), "dist/bpe");
const [corpus, rounds = "3"] = process.argv.slice(2);
if (corpus === undefined) {
  console.error("usage: threads.ts <corpus> [rounds]");
  process.exit(2);
}
const sizeBytes = statSync(corpus).size;
const threadCounts = [1, 2, 4, 8, 16, 32, 64];
const directory = mkdtempSync(join(tmpdir(), "bpe-threads-"));

/** One training; all times in seconds. */
type Training = {
  readonly processor: number;
  readonly elapsed: number;
  /** From the end of counting to the beginning of merging: one thread adds up the words of all threads. */
  readonly addingUp: number;
  readonly merging: number;
  readonly writing: number;
  readonly peakBytes: number;
};

async function train(threads: number): Promise<Training> {
  const output = join(directory, "tokenizer");
  const options = ["-n", "32000", "-o", output, "-w", String(threads), "--progress", "json"];
  rmSync(output, { recursive: true, force: true });
  const started = performance.now();
  const child = Bun.spawn([bpe, "train", corpus!, ...options], { stderr: "pipe", stdout: "ignore" });
  let [counted, merging] = [Number.NaN, Number.NaN];
  let text = "";
  for await (const chunk of child.stderr) {
    text += Buffer.from(chunk).toString();
    if (Number.isNaN(counted) && /"stage":"counting"[^\n]*"share":1,/.test(text)) counted = performance.now();
    if (Number.isNaN(merging) && text.includes('"stage":"merging"')) merging = performance.now();
  }
  const exitCode = await child.exited;
  const elapsed = (performance.now() - started) / 1000;
  if (exitCode !== 0) throw new Error(text.trim().split("\n").at(-1));
  const { timings, peakMemoryBytes } = JSON.parse(readFileSync(join(output, "training.json"), "utf8"));
  return {
    processor: Number(child.resourceUsage()!.cpuTime.total) / 1e6,
    elapsed,
    addingUp: (merging - counted) / 1000,
    merging: timings.mergeMs / 1000,
    writing: timings.writeMs / 1000,
    peakBytes: peakMemoryBytes,
  };
}

/** Returns how fast threads search the corpus for a byte that it does not have, in GB a second of elapsed time. */
async function reading(threads: number): Promise<number> {
  const code = `const text = Bun.mmap(${JSON.stringify(corpus)}); postMessage(0);
    onmessage = ({ data: [start, end] }) => postMessage(Buffer.from(text.buffer, start, end - start).indexOf(0xff));`;
  const url = URL.createObjectURL(new Blob([code]));
  const workers = Array.from({ length: threads }, () => new Worker(url));
  const answer = (worker: Worker) => new Promise((done) => (worker.onmessage = done));
  await Promise.all(workers.map(answer));
  const seconds: number[] = [];
  for (let round = 0; round < 5; round++) {
    const started = performance.now();
    const answers = workers.map(answer);
    for (const [i, worker] of workers.entries()) {
      worker.postMessage([i, i + 1].map((part) => Math.floor((part * sizeBytes) / threads)));
    }
    await Promise.all(answers);
    seconds.push((performance.now() - started) / 1000);
  }
  for (const worker of workers) worker.terminate();
  return sizeBytes / 1e9 / median(seconds.slice(1));
}

try {
  const readingGBs = [await reading(1), await reading(2)];
  const trainings = new Map<number, Training[]>(threadCounts.map((threads) => [threads, []]));
  for (let round = 0; round < Number(rounds); round++) {
    for (const [threads, all] of trainings) all.push(await train(threads));
  }
  const results = [...trainings].map(([threads, all]) => {
    const mid = (of: keyof Training) => median(all.map((training) => training[of]));
    const processor = mid("processor");
    const [addingUp, merging, writing] = [mid("addingUp"), mid("merging"), mid("writing")];
    // All processor time but that of the later stages is divided among the cores.
    const alone = addingUp + merging + writing;
    const onAsManyCores = (processor - alone) / threads + alone;
    const elapsed = mid("elapsed");
    return {
      threads,
      processor,
      elapsed,
      addingUp,
      merging,
      writing,
      onAsManyCores,
      peakBytes: mid("peakBytes"),
    };
  });
  console.log(
    `reading: ${readingGBs.map((speed) => speed.toFixed(1)).join(" and ")} GB/s by one and two threads`,
  );
  console.table(results);
  keepRecord("threads", { corpusBytes: sizeBytes, rounds: Number(rounds), readingGBs, results });
} finally {
  rmSync(directory, { recursive: true });
}
