// Runs the ladder: learns the same merges with every algorithm (each is a *rung*), on inputs that grow tenfold.
//
//   node scripts/bun.mjs bench/ladder/run.ts [text] [--words 1000000] [--merges 31744] [--bound 20] [--rounds 3]
//                                            [--output bench/ladder]
//
// Words are made from the text. A timed run is stopped after `--bound` seconds, in the final comparison after four
// times as long. Writes ladder.md and ladder.svg into `--output`. Without that option, writes a record, too.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { circumstances, keepRecord, median } from "../record.ts";
import { buildCpp, compilerVersion } from "./cpp/build.ts";
import { type Point, type Timing, timeAt } from "./growth.ts";
import { makeInputs, writeInstalledText } from "./inputs.ts";
import { linked } from "./linked.ts";
import { writePages } from "./pages.ts";
import type { Comparison, Ladder, RungResult } from "./report.ts";
import { type Measured, measure, ourName, type Rung, rungsOf } from "./rungs.ts";
import { mergeSize } from "./words-file.ts";

const home = import.meta.dir;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    words: { type: "string", default: "1000000" },
    merges: { type: "string", default: "31744" },
    bound: { type: "string", default: "20" },
    rounds: { type: "string", default: "3" },
    output: { type: "string", default: home },
  },
});
const mergeCountMax = Number(values.merges);
const boundSeconds = Number(values.bound);
const rounds = Number(values.rounds);
const wordCounts = [1_000, 10_000, 100_000, 1_000_000].filter((count) => count <= Number(values.words));
const mergeCounts = [100, 316, 1_000, 3_162, 10_000, 31_744].filter((count) => count <= mergeCountMax);
/** The number of words in the runs that show how time grows with the number of merges. */
const wordCountHeld = Math.min(100_000, wordCounts.at(-1)!);
/** The number of merges in the runs that show how time grows with the number of words. */
const mergeCountHeld = Math.min(1_000, mergeCounts.at(-1)!);
/** A run shorter than this is repeated. */
const shortMs = 2_500;

const directory = mkdtempSync(`${tmpdir()}/ladder-`);
try {
  writeFindings(timeLadder());
} finally {
  rmSync(directory, { recursive: true });
}

function timeLadder(): Ladder {
  const compiler = compilerVersion();
  const cppProgram = compiler === undefined ? undefined : `${directory}/train`;
  if (cppProgram === undefined) console.log("no g++ on this machine: the C++ rungs are left out");
  else buildCpp(cppProgram);
  const textPath = positionals[0] ?? `${directory}/installed.txt`;
  if (positionals[0] === undefined) writeInstalledText(textPath);
  const inputs = makeInputs(textPath, directory, wordCounts);
  const rungs = rungsOf(cppProgram);
  const ours = rungs.find((rung) => rung.name === ourName)!;
  const results: RungResult[] = rungs.map(({ command: _, ...rung }) => ({ ...rung, points: [], whole: [] }));
  for (const [i, wordCount] of wordCounts.entries()) {
    const reference = measure(ours, inputs[i]!, mergeCountMax, Number.POSITIVE_INFINITY, []).merges;
    for (const [r, rung] of rungs.entries()) {
      timeRung(rung, results[r]!, inputs[i]!, wordCount, reference);
    }
  }
  const comparison = compareInTurns(rungs, inputs.at(-1)!);
  const text = basename(positionals[0] ?? "documentation and typings of the installed packages");
  return {
    circumstances: { ...circumstances(), compiler },
    text,
    boundSeconds,
    wordCounts,
    mergeCounts,
    wordCountHeld,
    mergeCountHeld,
    mergeCountMax,
    rungs: results,
    comparison,
  };
}

/** Runs a rung on one file of words, and records the timings that the report needs. */
function timeRung(rung: Rung, result: RungResult, input: string, wordCount: number, reference: Buffer): void {
  const mergesThere = reference.length / mergeSize;
  const last = Math.min(mergeCountMax, mergesThere);
  const wanted = mergeCounts.filter((count) => count < last);
  // Unless the rung `isIncremental`, a run for few merges does not take the same time as the beginning of a longer run.
  // So each number of merges in the report needs a separate run.
  const separate = rung.isIncremental ? [] : wordCount === wordCountHeld ? wanted : [mergeCountHeld];
  const runs = [...separate.filter((count) => count < last), last];
  for (const mergeCount of runs) {
    const timings = repeat(rung, input, mergeCount, rung.isIncremental ? wanted : [], reference);
    const shown = rung.isIncremental ? [...wanted, last] : [mergeCount];
    for (const count of shown) {
      const point = pointOf(timings, wordCount, count);
      if (point === undefined) continue;
      if (count === last) result.whole.push(point);
      if (mergeCounts.includes(count)) result.points.push(point);
    }
    const { end, isStopped } = timings[0]!;
    const outcome = isStopped ? `stopped after ${end.mergeCount} merges` : `${end.mergeCount} merges`;
    console.log(
      `${wordCount} words  ${rung.name.padEnd(28)} ${outcome} in ${(end.ms / 1000).toFixed(3)} s` +
        (timings.length > 1 ? ` (first of ${timings.length})` : ""),
    );
  }
}

function repeat(
  rung: Rung,
  input: string,
  mergeCount: number,
  checkpoints: readonly number[],
  reference: Buffer,
): Timing[] {
  const timings: Timing[] = [];
  for (let round = 0; round < rounds; round++) {
    const measured = measure(rung, input, mergeCount, boundSeconds, checkpoints);
    checkMerges(rung, measured, reference.subarray(0, mergeSize * mergeCount));
    timings.push(measured.timing);
    if (measured.timing.end.ms > shortMs) break;
  }
  return timings;
}

/** Returns the point with the median time of the rounds. */
function pointOf(timings: readonly Timing[], wordCount: number, mergeCount: number): Point | undefined {
  const points = timings.flatMap((timing) => timeAt(timing, wordCount, mergeCount) ?? []);
  if (points.length === 0) return undefined;
  return { ...points[0]!, ms: median(points.map((point) => point.ms)) };
}

/** Throws if the merges differ from the expected ones; a stopped run may have fewer. */
function checkMerges(rung: Rung, { merges, timing }: Measured, expected: Buffer): void {
  const comparable = timing.isStopped ? expected.subarray(0, merges.length) : expected;
  if (!merges.equals(comparable)) throw new Error(`${rung.name} learned other merges than ours`);
}

function compareInTurns(rungs: readonly Rung[], input: string): Comparison {
  const names = [ourName, linked.name];
  const compared = rungs.filter((rung) => rung.language === "C++" || names.includes(rung.name));
  const rows = compared.map(({ name }) => ({
    name,
    ms: [] as number[],
    cpuMs: [] as number[],
    peakBytes: 0,
    mergesSha256: "",
  }));
  const loads: string[] = [];
  for (let round = 0; round < rounds; round++) {
    loads.push(circumstances().load!);
    for (const [i, rung] of compared.entries()) {
      const { timing, cpuMs, peakBytes, merges } = measure(rung, input, mergeCountMax, 4 * boundSeconds, []);
      const row = rows[i]!;
      row.ms.push(timing.end.ms);
      row.cpuMs.push(cpuMs);
      row.peakBytes = Math.max(row.peakBytes, peakBytes);
      row.mergesSha256 = createHash("sha256").update(merges).digest("hex");
      console.log(`round ${round + 1}  ${rung.name.padEnd(28)} ${(timing.end.ms / 1000).toFixed(3)} s`);
    }
  }
  if (new Set(rows.map((row) => row.mergesSha256)).size > 1)
    throw new Error("the checksums of the merges differ");
  return { wordCount: wordCounts.at(-1)!, mergeCount: mergeCountMax, loads, rows };
}

function writeFindings(ladder: Ladder): void {
  writePages(ladder, values.output);
  if (values.output === home) keepRecord("ladder", ladder);
}
