// Boundaries alone, one thread, in JavaScript: every named pattern as the twin of the kernel's scan reads it, against
// gpt2, a hand-written gpt2 scanner and the backtracking matcher. Interleaved in one process, medians; every scan's boundaries are summed up and checked.
//
//   node scripts/bun.mjs bench/split/bench.ts [--json] [--megabytes N] [--rounds N] [file]...
//
// Without files the texts are made by seed. --json keeps the numbers as bench/record/split.json.
import { parseArgs } from "node:util";
import { type Text, textOf } from "../../src/bytes/text.ts";
import { buildProgram } from "../../src/pattern/matcher-program.ts";
import { parsePattern } from "../../src/pattern/parse-pattern.ts";
import {
  type CompiledPattern,
  compilePattern,
  createSplitter,
  type NamedPattern,
  patterns,
} from "../../src/pattern/pattern.ts";
import { keepRecord, median } from "../record.ts";
import { scanByHand } from "./hand.ts";
import { madeUpTexts } from "./texts.ts";

const { values: options, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    megabytes: { type: "string", default: "8" },
    rounds: { type: "string", default: "9" },
  },
});
const sizeBytesMax = Number(options.megabytes) * 1e6;
const rounds = Number(options.rounds);
const blockSizeBytes = 1 << 14;
/** The fallback is slow: it reads a part of the text, fewer times. */
const fallbackSizeBytes = 500_000;
const fallbackRounds = 3;

type Sum = { endCount: number; checksum: number };

/** Adds ends up in an order-independent way that two different lists hardly share. */
function addUp(sum: Sum, ends: Int32Array, from: number, to: number): void {
  let { checksum } = sum;
  for (let i = from; i < to; i++) checksum = (checksum + Math.imul(ends[i]! ^ 0x5bd1e995, 0x9e3779b1)) | 0;
  sum.checksum = checksum;
  sum.endCount += to - from;
}

/** Scans a whole text in blocks; the number of its pretokens, and with `sum` their checksum. */
function scanAll(compiled: CompiledPattern): (text: Text, sizeBytes: number, sum?: Sum) => number {
  const splitter = createSplitter(compiled);
  return (text, sizeBytes, sum) => {
    let endCount = 0;
    const take = () => {
      endCount += splitter.endCount - 1;
      if (sum !== undefined) addUp(sum, splitter.ends, 1, splitter.endCount);
      splitter.take();
    };
    splitter.start(0);
    while (splitter.pos < sizeBytes) {
      splitter.scan(text, Math.min(sizeBytes, splitter.pos + blockSizeBytes), sizeBytes);
      take();
    }
    for (let isSettled = false; !isSettled; take()) isSettled = splitter.finish(sizeBytes);
    return endCount;
  };
}

const handEnds = new Int32Array(2 * blockSizeBytes);
function scanAllByHand(text: Text, sizeBytes: number, sum?: Sum): number {
  let endCount = 0;
  for (let pos = 0; pos < sizeBytes; ) {
    const found = scanByHand(text.bytes, pos, Math.min(sizeBytes, pos + blockSizeBytes), sizeBytes, handEnds);
    if (sum !== undefined) addUp(sum, handEnds, 0, found);
    pos = handEnds[found - 1]!;
    endCount += found;
  }
  return endCount;
}

function millisecondsOf(action: () => void): number {
  const started = performance.now();
  action();
  return performance.now() - started;
}

const texts: { name: string; text: Text; sizeBytes: number }[] = [];
for (const path of paths) {
  const bytes = await Bun.file(path).slice(0, sizeBytesMax).bytes();
  // Whole characters only: the hand-written scanner reads nothing else.
  let sizeBytes = bytes.length;
  while (sizeBytes > 0 && (bytes[sizeBytes - 1]! & 0x80) !== 0) sizeBytes--;
  texts.push({ name: path.split("/").at(-1)!, text: textOf(bytes.subarray(0, sizeBytes)), sizeBytes });
}
if (paths.length === 0) {
  for (const [name, bytes] of Object.entries(madeUpTexts(sizeBytesMax))) {
    texts.push({ name: `made-up ${name}`, text: textOf(bytes), sizeBytes: bytes.length });
  }
}

const names = Object.keys(patterns) as (keyof typeof patterns)[];
const results: object[] = [];
for (const { name: textName, text, sizeBytes } of texts) {
  console.log(`\n${textName}, ${(sizeBytes / 1e6).toFixed(1)} MB`);
  console.log("pattern           MB/s  of gpt2  of hand  of fallback  fallback MB/s    pretokens  checksum");
  const scanners = names.map((name) => scanAll(compilePattern(patterns[name].sources)));
  const sums = scanners.map((scan) => {
    const sum: Sum = { endCount: 0, checksum: 0 };
    scan(text, sizeBytes, sum);
    return sum;
  });
  const handSum: Sum = { endCount: 0, checksum: 0 };
  scanAllByHand(text, sizeBytes, handSum);
  const gpt2Sum = sums[names.indexOf("gpt2")]!;
  if (handSum.checksum !== gpt2Sum.checksum)
    throw new Error(`${textName}: the hand-written scanner splits otherwise`);

  const times: number[][] = names.map(() => []);
  const handTimes: number[] = [];
  for (let round = 0; round < rounds; round++) {
    handTimes.push(millisecondsOf(() => scanAllByHand(text, sizeBytes)));
    scanners.forEach((scan, i) => {
      times[i]!.push(millisecondsOf(() => scan(text, sizeBytes)));
    });
  }
  const speedOf = (bytes: number, list: readonly number[]) => bytes / 1e3 / median(list);
  const handSpeed = speedOf(sizeBytes, handTimes);
  const gpt2Speed = speedOf(sizeBytes, times[names.indexOf("gpt2")]!);

  let partBytes = Math.min(sizeBytes, fallbackSizeBytes);
  while (partBytes < sizeBytes && (text.bytes[partBytes]! & 0xc0) === 0x80) partBytes++;
  const fallbackRatios: number[] = [];
  names.forEach((name, i) => {
    const { sources }: NamedPattern = patterns[name];
    const programs = sources.map((source) => buildProgram(parsePattern(source), source));
    const fallback = scanAll({ kind: "programs", programs, lineWise: false, reason: "to be compared" });
    const wanted: Sum = { endCount: 0, checksum: 0 };
    const found: Sum = { endCount: 0, checksum: 0 };
    scanners[i]!(text, partBytes, wanted);
    fallback(text, partBytes, found);
    if (found.checksum !== wanted.checksum)
      throw new Error(`${textName}: the fallback of ${name} splits otherwise`);
    const fallbackTimes: number[] = [];
    for (let round = 0; round < fallbackRounds; round++) {
      fallbackTimes.push(millisecondsOf(() => fallback(text, partBytes)));
    }
    const speed = speedOf(sizeBytes, times[i]!);
    const fallbackSpeed = speedOf(partBytes, fallbackTimes);
    fallbackRatios.push(speed / fallbackSpeed);
    const { endCount, checksum } = sums[i]!;
    const columns = [
      name.padEnd(14),
      speed.toFixed(0).padStart(8),
      (speed / gpt2Speed).toFixed(2).padStart(8),
      (speed / handSpeed).toFixed(2).padStart(8),
      (speed / fallbackSpeed).toFixed(1).padStart(12),
      fallbackSpeed.toFixed(1).padStart(14),
      String(endCount).padStart(12),
      (checksum >>> 0).toString(16).padStart(9),
    ];
    console.log(columns.join(" "));
    results.push({
      text: textName,
      sizeBytes,
      pattern: name,
      megabytesPerSecond: speed,
      fallbackSpeed,
      endCount,
      checksum,
    });
  });
  console.log(`${"by hand (gpt2)".padEnd(14)} ${handSpeed.toFixed(0).padStart(8)}`);
  console.log(`of fallback, median over the patterns: ${median(fallbackRatios).toFixed(1)}`);
  results.push({ text: textName, sizeBytes, pattern: "gpt2 by hand", megabytesPerSecond: handSpeed });
}
if (options.json) keepRecord("split", { blockSizeBytes, rounds, results });
