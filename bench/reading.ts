// Compares mapping a file with reading it. System time is shown separately, because mapping reduces only that.
//
//   node scripts/bun.mjs bench/reading.ts <file> [rounds]

import { findInputs } from "../src/corpus/find-inputs.ts";
import { wholeRange } from "../src/corpus/input.ts";
import { TaskTexts } from "../src/corpus/task-texts.ts";
import { patterns } from "../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../src/pattern/pattern.ts";
import * as cuttings from "../src/text/cutting.ts";
import { TextChain } from "../src/text/text-chain.ts";
import { WordCounter } from "../src/words/word-counter.ts";

const [path, roundCount = "5"] = process.argv.slice(2);
if (path === undefined) {
  console.error("usage: reading.ts <file> [rounds]");
  process.exit(2);
}
const rounds = Number(roundCount);
const inputs = findInputs([path]);
const pattern = compiledPatterns.compile(patterns.gpt2.sources);

class Way {
  readonly elapsedMs: number[] = [];
  readonly systemMs: number[] = [];
  private readonly counter = new WordCounter();
  private readonly tasks: TaskTexts;

  constructor(
    readonly name: string,
    mappedBytesLeast: number,
  ) {
    const mapping = { window: this.counter.window, fileBytesLeast: mappedBytesLeast };
    const chain = new TextChain(cuttings.plain(pattern), this.counter);
    this.tasks = new TaskTexts(chain, { inputs, mapping });
  }

  /** Counts the file, and returns the counts for comparison. */
  run(): string {
    const { system } = process.cpuUsage();
    const startMs = performance.now();
    const range = { ...wholeRange(inputs[0]!, 0), kind: "range", endsInput: true } as const;
    for (const _ of this.tasks.take(range));
    this.elapsedMs.push(performance.now() - startMs);
    this.systemMs.push((process.cpuUsage().system - system) / 1000);
    const { pretokenCount, distinctWordCount } = this.counter;
    this.counter.clear();
    return `${pretokenCount} words, ${distinctWordCount} distinct`;
  }
}

const ways = [new Way("read", Number.POSITIVE_INFINITY), new Way("mapped", 0)];
const answers = new Set<string>();
for (let round = 0; round <= rounds; round++) {
  for (const way of round % 2 === 0 ? ways : ways.toReversed()) {
    answers.add(way.run());
    // The first round is a warm-up.
    if (round > 0) continue;
    way.elapsedMs.pop();
    way.systemMs.pop();
  }
}
const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;
for (const { name, elapsedMs, systemMs } of ways) {
  const gigabytesPerSecond = inputs[0]!.sizeBytes / 1e6 / median(elapsedMs);
  const system = `${median(systemMs).toFixed(1)} ms of the system`;
  console.log(`${name.padEnd(8)} ${gigabytesPerSecond.toFixed(2)} GB/s   ${system}`);
}
console.log([...answers].join(" / "));
if (answers.size > 1) throw new Error("the ways differ");
