// Measures the numbers from which the model in docs/many-machines.md is computed:
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
    sampling: measureSampling(),
    merging: [measureMerging(), sixMillionWords()],
  };
  keepRecord("scale", record);
  writePages({ ...circumstances(), ...record } as ScaleRecord);
} finally {
  rmSync(directory, { recursive: true });
}

type Ran = {
  cpuSeconds: number;
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
  return { cpuSeconds, result: JSON.parse(last) };
}

function measureGrowth(): ScaleRecord["growth"] {
  const groups = [
    ...corpora.map(({ name, text }) => ({ name, texts: [shuffled(text)] })),
    { name: "all", texts: corpora.map(({ text }) => shuffled(text)) },
  ];
  return groups.map(({ name, texts }) => {
    const points = Array.from({ length: doublings + 1 }, (_, i): Point => {
      const share = 2 ** (i - doublings);
      const parts = writeShares(texts, share);
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
  // The runs are interleaved, so that other load on the machine affects all of them alike.
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

/**
 * Counts every slice separately, like the tasks of a cluster. Adds the slices up, first with all words, then without
 * words that are rare in a slice.
 */
function measureSlices(): Pick<ScaleRecord, "addingUp" | "leavingOut"> {
  const sizeBytes = corpora.reduce((sum, { text }) => sum + text.length, 0);
  const leavingOut: LeavingOut[] = [];
  let addingUp: ScaleRecord["addingUp"] | undefined;
  for (const wishedCount of [4, 16, 64]) {
    const slices = cutIntoSlices(sizeBytes / wishedCount);
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
      const merges = mergesOf(output);
      if (minCount === 1) {
        exact = merges;
        exactWordCount = summed.result.wordCount;
      }
      const sentWordCount = counted.reduce((sum, { result }) => sum + result.distinctWordCount, 0);
      const { distinctWordCount, wordCount } = summed.result;
      const differing = exact.findIndex((merge, k) => merge !== merges[k]);
      const found = new Set(merges);
      leavingOut.push({
        sliceCount: slices.length,
        sliceBytes: Math.round(sizeBytes / slices.length),
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
      const { cpuSeconds } = summed;
      addingUp = {
        fileCount: slices.length,
        readWordCount: sentWordCount,
        distinctWordCount,
        cpuSeconds,
      };
    }
    for (const path of slices) {
      rmSync(path);
      rmSync(`${path}.counts`);
    }
  }
  return { addingUp: addingUp!, leavingOut };
}

/** Measures how many merges are lost by training on a part of the same text, for comparison. */
function measureSampling(): ScaleRecord["sampling"] {
  const texts = corpora.map(({ text }) => shuffled(text));
  const mergesFrom = (share: number) => {
    const parts = writeShares(texts, share);
    const output = join(directory, "tokenizer");
    bpe("train", ...parts, "-n", `${vocabSize}`, "-o", output);
    return mergesOf(output);
  };
  const exact = mergesFrom(1);
  return [1 / 2, 1 / 8].map((share) => {
    const found = new Set(mergesFrom(share));
    return {
      share,
      mergeCount: exact.length,
      sharedMerges: exact.filter((merge) => found.has(merge)).length,
    };
  });
}

function mergesOf(output: string): string[] {
  return readFileSync(join(output, "merges.txt"), "utf8").split("\n").slice(1, -1);
}

/** Writes the beginning of each text into a file. */
function writeShares(texts: readonly Uint8Array[], share: number): string[] {
  return texts.map((text, i) => {
    const path = join(directory, `part-${i}.txt`);
    writeFileSync(path, text.subarray(0, lineEnd(text, Math.floor(text.length * share))));
    return path;
  });
}

/** Cuts the corpora into slices of about this size, at line ends. No slice spans two corpora. */
function cutIntoSlices(sliceBytes: number): string[] {
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

/** Times the training on the word counts of all corpora. */
function measureMerging(): ScaleRecord["merging"][number] {
  const counts = join(directory, "words.counts");
  const tsv = join(directory, "words.tsv");
  const { result } = bpe("count", ...paths, "--output", tsv, "--save-counts", counts);
  const output = join(directory, "tokenizer");
  const rounds = Array.from({ length: roundCount }, () =>
    bpe("train", "--counts", counts, "-n", `${vocabSize}`, "-o", output),
  );
  const { peakMemoryBytes } = JSON.parse(readFileSync(join(output, "training.json"), "utf8"));
  return {
    distinctWordCount: result.distinctWordCount,
    wordBytes: wordBytesOf(tsv),
    cpuSeconds: median(rounds.map(({ cpuSeconds }) => cpuSeconds)),
    peakBytes: peakMemoryBytes,
  };
}

/**
 * Returns the measurements of bench/merge/peers.ts. The merge engine has 72 million cells for its words: one for each
 * byte, and one more for each word.
 */
function sixMillionWords(): ScaleRecord["merging"][number] {
  const path = join(root, "bench/record/merge-6-million.json");
  const { distinctWordCount, results } = JSON.parse(readFileSync(path, "utf8"));
  const { seconds, "peak MB": peakMegabytes } = results[0];
  return {
    distinctWordCount,
    wordBytes: 72e6 - distinctWordCount,
    cpuSeconds: seconds,
    peakBytes: peakMegabytes * 1e6,
  };
}

/** Returns the number of bytes of the words of a counts file in text form, where each byte is one character. */
function wordBytesOf(tsv: string): number {
  let byteCount = 0;
  let isWord = true;
  const text = readFileSync(tsv);
  for (const byte of text.subarray(text.indexOf(0x0a) + 1)) {
    if (byte === 0x09) isWord = false;
    else if (byte === 0x0a) isWord = true;
    // In UTF-8, only continuation bytes have the form 10xxxxxx.
    else if (isWord && byte >> 6 !== 0b10) byteCount++;
  }
  return byteCount;
}

/** Returns the text in blocks of about 16 KB, in a random order, because files are often sorted by content. */
function shuffled(text: Uint8Array): Uint8Array {
  const random = randomSource(1);
  const blocks: Uint8Array[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf(0x0a, start + blockBytes - 1) + 1 || text.length;
    // Puts each block at a random position, and moves the block that was there to the end.
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
