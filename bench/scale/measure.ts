// Measures what docs/SCALE.md computes with, keeps it as bench/record/scale.json, and writes the page anew:
//
//   node scripts/bun.mjs bench/scale/measure.ts english.txt multilingual.txt web.txt code.txt
//
// Needs dist/bpe (`npm run build`), 2 GB in $TMPDIR and some minutes.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { randomSource } from "../random.ts";
import { circumstances, keepRecord, median } from "../record.ts";
import type { Point } from "./heaps.ts";
import { writePages } from "./pages.ts";
import type { LeavingOut, ScaleRecord } from "./record.ts";

const root = resolve(import.meta.dir, "../..");
const paths = process.argv.slice(2);
if (paths.length === 0) {
  console.error("usage: measure.ts <corpus>...");
  process.exit(2);
}
const pattern = "o200k";
const how = ["--pattern", pattern, "--special-token", "<|endoftext|>"];
const vocabSize = 32_000;
const doublings = 6;
const roundCount = 3;
const directory = mkdtempSync(join(tmpdir(), "bpe-scale-"));
const blockBytes = 1 << 14;
const corpora = paths.map((path) => ({ name: basename(path, ".txt"), text: readFileSync(path) }));

try {
  const record: Omit<ScaleRecord, keyof ReturnType<typeof circumstances>> = {
    pattern,
    growth: measureGrowth(),
    counting: measureCounting(),
    planning: measurePlanning(),
    ...measureSlices(),
    merging: [1e6, 2e6, 4e6].map(measureMerging),
  };
  keepRecord("scale", record);
  writePages({ ...circumstances(), ...record } as ScaleRecord);
} finally {
  rmSync(directory, { recursive: true });
}

type Ran = {
  cpuSeconds: number;
  peakBytes: number;
  result: { distinctWordCount: number; wordCount: number };
};

/** Runs dist/bpe; its last line on stderr is the result. */
function bpe(...args: string[]): Ran {
  const { exitCode, stderr, resourceUsage } = Bun.spawnSync([
    join(root, "dist/bpe"),
    ...args,
    ...how,
    ...["--progress", "json"],
  ]);
  const last = stderr.toString().trim().split("\n").at(-1)!;
  if (exitCode !== 0) throw new Error(`bpe ${args.join(" ")}: ${last}`);
  const cpuSeconds = Number(resourceUsage.cpuTime.total) / 1e6;
  return { cpuSeconds, peakBytes: resourceUsage.maxRSS, result: JSON.parse(last) };
}

function measureGrowth(): ScaleRecord["growth"] {
  const groups = [
    ...corpora.map(({ name, text }) => ({ name, texts: [shuffled(text)] })),
    { name: "all", texts: corpora.map(({ text }) => shuffled(text)) },
  ];
  return groups.map(({ name, texts }) => {
    const points = Array.from({ length: doublings + 1 }, (_, i): Point => {
      const share = 2 ** (i - doublings);
      const parts = texts.map((text, part) => {
        const path = join(directory, `part-${part}.txt`);
        writeFileSync(path, text.subarray(0, lineEnd(text, Math.floor(text.length * share))));
        return path;
      });
      const { result } = bpe("count", ...parts, "--save-counts", join(directory, "words"));
      const sizeBytes = parts.reduce((sum, path) => sum + statSync(path).size, 0);
      return { sizeBytes, distinctWordCount: result.distinctWordCount };
    });
    console.log(name, points.map((point) => point.distinctWordCount).join(" "));
    return { name, points };
  });
}

function measureCounting(): ScaleRecord["counting"] {
  const groups = [
    ...corpora.map(({ name }, i) => ({ name, files: [paths[i]!] })),
    { name: "all", files: paths },
  ];
  const compact = join(directory, "words.counts");
  const tsv = join(directory, "words.tsv");
  // In turns, so that what else the machine does meets all alike.
  const rounds = Array.from({ length: roundCount }, () =>
    groups.map(({ files }) => bpe("count", ...files, "--workers", "1", "--save-counts", compact).cpuSeconds),
  );
  return groups.map(({ name, files }, i) => {
    const cpuSecondsAll = rounds.map((round) => round[i]!);
    const { result } = bpe("count", ...files, "--output", tsv, "--save-counts", compact);
    return {
      name,
      sizeBytes: files.reduce((sum, path) => sum + statSync(path).size, 0),
      cpuSeconds: median(cpuSecondsAll),
      cpuSecondsAll,
      distinctWordCount: result.distinctWordCount,
      wordBytes: wordBytesOf(tsv),
      compactBytes: statSync(compact).size,
      tsvBytes: statSync(tsv).size,
    };
  });
}

function measurePlanning(): ScaleRecord["planning"] {
  const plan = join(directory, "plan");
  const rounds = Array.from(
    { length: roundCount },
    () => bpe("plan", ...paths, "--range-size", "64KiB", "--output", plan).cpuSeconds,
  );
  const rangeCount = readFileSync(plan, "latin1").split("\n").length - 1;
  return { rangeCount, cpuSeconds: median(rounds) };
}

/** Counts every slice for itself, as tasks of a cluster do, and adds the slices up; exactly, and leaving words out. */
function measureSlices(): Pick<ScaleRecord, "addingUp" | "leavingOut"> {
  const sizeBytes = corpora.reduce((sum, { text }) => sum + text.length, 0);
  const leavingOut: LeavingOut[] = [];
  let addingUp: ScaleRecord["addingUp"] | undefined;
  for (const sliceCount of [4, 16, 64]) {
    const slices = cutIntoSlices(sliceCount, sizeBytes);
    let exact: string[] = [];
    let exactWordCount = 0;
    for (const minCount of [1, 2, 5]) {
      const counted = slices.map((path) =>
        bpe("count", path, "--min-count", `${minCount}`, "--save-counts", `${path}.counts`),
      );
      const parts = `${directory}/slice-*.counts`;
      const summed = bpe("count", "--counts", parts, "--save-counts", join(directory, "sum"));
      const output = join(directory, "tokenizer");
      bpe("train", "--counts", join(directory, "sum"), "-n", `${vocabSize}`, "-o", output);
      const merges = readFileSync(join(output, "merges.txt"), "utf8").split("\n").slice(1, -1);
      if (minCount === 1) {
        exact = merges;
        exactWordCount = summed.result.wordCount;
      }
      const sentWordCount = counted.reduce((sum, { result }) => sum + result.distinctWordCount, 0);
      const { distinctWordCount, wordCount } = summed.result;
      const differing = exact.findIndex((merge, k) => merge !== merges[k]);
      const found = new Set(merges);
      leavingOut.push({
        sliceCount,
        sliceBytes: Math.round(sizeBytes / sliceCount),
        minCount,
        sentWordCount,
        distinctWordCount,
        leftOutShare: 1 - wordCount / exactWordCount,
        mergeCount: exact.length,
        sameMergesFirst: differing < 0 ? exact.length : differing,
        sharedMerges: exact.filter((merge) => found.has(merge)).length,
      });
      console.log(leavingOut.at(-1));
      if (minCount > 1) continue;
      const { cpuSeconds, peakBytes } = summed;
      addingUp = {
        fileCount: slices.length,
        readWordCount: sentWordCount,
        distinctWordCount,
        cpuSeconds,
        peakBytes,
      };
    }
    for (const path of slices) {
      rmSync(path);
      rmSync(`${path}.counts`);
    }
  }
  return { addingUp: addingUp!, leavingOut };
}

/** Slices of one size, at line ends, none over two corpora. */
function cutIntoSlices(sliceCount: number, sizeBytes: number): string[] {
  const sliceBytes = sizeBytes / sliceCount;
  const slices: string[] = [];
  for (const { text } of corpora) {
    const count = Math.max(1, Math.round(text.length / sliceBytes));
    let start = 0;
    for (let i = 1; i <= count; i++) {
      const end = i === count ? text.length : lineEnd(text, Math.floor((text.length * i) / count));
      const path = join(directory, `slice-${slices.length}`);
      writeFileSync(path, text.subarray(start, end));
      slices.push(path);
      start = end;
    }
  }
  return slices;
}

function measureMerging(distinctWordCount: number): ScaleRecord["merging"][number] {
  const tsv = join(directory, "made.tsv");
  const make = [join(root, "bench/merge/make-words.ts"), paths[0]!, tsv, "--words", `${distinctWordCount}`];
  const made = Bun.spawnSync([process.execPath, ...make]);
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  const counts = join(directory, "made.counts");
  bpe("count", "--counts", tsv, "--save-counts", counts);
  const output = join(directory, "tokenizer");
  // The compact form is read in one pass, as the sum of many files is.
  bpe("train", "--counts", counts, "-n", `${vocabSize}`, "-o", output);
  const { timings, peakMemoryBytes } = JSON.parse(readFileSync(join(output, "training.json"), "utf8"));
  const point = {
    distinctWordCount,
    wordBytes: wordBytesOf(tsv),
    seconds: timings.mergeMs / 1000,
    peakBytes: peakMemoryBytes,
  };
  console.log(point);
  return point;
}

/** Bytes of the words in a file of counts: in its text form each is one character. */
function wordBytesOf(tsv: string): number {
  let byteCount = 0;
  let isWord = true;
  for (const byte of readFileSync(tsv)) {
    if (byte === 0x09) isWord = false;
    else if (byte === 0x0a) isWord = true;
    // The second bytes of characters are 10xxxxxx.
    else if (isWord && byte >> 6 !== 0b10) byteCount++;
  }
  return byteCount;
}

/** The text in blocks of some 16 KB, at line ends, in a seeded order: a file is often sorted by what it holds. */
function shuffled(text: Uint8Array): Uint8Array {
  const random = randomSource(1);
  const blocks: Uint8Array[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf(0x0a, start + blockBytes - 1) + 1 || text.length;
    // Each block at a place drawn among those before it.
    const place = random.below(blocks.length + 1);
    blocks.push(blocks[place] ?? new Uint8Array());
    blocks[place] = text.subarray(start, end);
    start = end;
  }
  return Buffer.concat(blocks);
}

function lineEnd(text: Uint8Array, before: number): number {
  return text.lastIndexOf(0x0a, before - 1) + 1;
}
