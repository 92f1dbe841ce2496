// The stages of counting alone, one thread, interleaved, medians: reading, reading + boundaries, and all of it.
//
//   node scripts/bun.mjs bench/stages.ts <corpus> [pattern] [rounds]
import { closeSync } from "node:fs";
import { findInputs, openInput } from "../src/corpus/inputs.ts";
import { RangeReader } from "../src/corpus/range-reader.ts";
import { RangeCounter } from "../src/count/range-counter.ts";
import { compilePattern, patterns } from "../src/pattern/index.ts";
import { WordCounter } from "../src/words/counter.ts";
import { median } from "./record.ts";

const [path, patternName = "gpt2", rounds = "5"] = process.argv.slice(2);
if (path === undefined) {
  console.error("usage: stages.ts <corpus> [pattern] [rounds]");
  process.exit(2);
}
const input = findInputs([path])[0]!;
const pattern = compilePattern(patterns[patternName as keyof typeof patterns].sources);
const specialTokens = [new TextEncoder().encode("<|endoftext|>")];
const whole = {
  inputIndex: 0,
  startByte: 0,
  endByte: input.sizeBytes,
  startsInside: false,
  endsInside: false,
};

function drain(counter: WordCounter): number {
  const fd = openInput(input);
  const work = new RangeCounter(pattern, specialTokens, counter).count(fd, input, whole);
  while (!work.next().done);
  closeSync(fd);
  return counter.distinctWordCount;
}

class NoCounter extends WordCounter {
  override count(): void {}
}

const stages: Record<string, () => number> = {
  reading: () => {
    const fd = openInput(input);
    const reader = new RangeReader(1 << 20);
    reader.open(fd, input, 0, input.sizeBytes);
    while (!reader.atEnd) reader.advance(reader.limit);
    closeSync(fd);
    return 0;
  },
  "+ boundaries": () => drain(new NoCounter()),
  "+ words": () => drain(new WordCounter()),
};

const times = new Map(Object.keys(stages).map((name) => [name, [] as number[]]));
const answers = new Map<string, number>();
for (let round = 0; round < Number(rounds); round++) {
  for (const [name, run] of Object.entries(stages)) {
    const startMs = performance.now();
    answers.set(name, run());
    times.get(name)!.push(performance.now() - startMs);
  }
}
for (const [name, ms] of times) {
  const [first, rest] = [ms[0]!, median(ms.slice(1))];
  const rate = (each: number) => `${(input.sizeBytes / 1e3 / each).toFixed(0)} MB/s`.padStart(10);
  console.log(
    `${name.padEnd(14)} first ${rate(first)}  median ${rate(rest)}  distinct words ${answers.get(name)}`,
  );
}
