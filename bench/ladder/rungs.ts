import type { Timing } from "./growth.ts";
import { strategies } from "./strategies.ts";
import { readMerges } from "./words-file.ts";

/** A rung of the ladder (ladder.md): one way to learn merges, as a separate program in any language. */
export type Rung = {
  readonly name: string;
  readonly language: string;
  readonly update: string;
  readonly selection: string;
  readonly isIncremental: boolean;
  readonly command: readonly string[];
};

export const ourName = "ours";

export function rungsOf(cppProgram: string | undefined): Rung[] {
  const inTypeScript = strategies.map(
    (strategy): Rung => ({
      ...strategy,
      language: "TypeScript",
      command: [process.execPath, `${import.meta.dir}/measure.ts`, strategy.name],
    }),
  );
  if (cppProgram === undefined) return inTypeScript;
  const inCpp = { language: "C++", selection: "heap, its top corrected lazily", isIncremental: true };
  const best = inTypeScript.pop()!;
  return [
    ...inTypeScript,
    {
      ...inCpp,
      name: "C++ exact index",
      update: "neighbours; flat hash sets of words, kept exact",
      command: [cppProgram, "exact-index"],
    },
    {
      ...inCpp,
      name: "C++ word lists",
      update: "neighbours; lists of words, read in vain at times",
      command: [cppProgram, "word-lists"],
    },
    best,
  ];
}

export type Measured = {
  readonly timing: Timing;
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly merges: Buffer;
};

export function measure(
  rung: Rung,
  wordsPath: string,
  mergeCount: number,
  boundSeconds: number,
  checkpoints: readonly number[],
): Measured {
  const mergesPath = `${wordsPath}.merges`;
  const numbers = [mergeCount, boundSeconds, ...checkpoints.filter((checkpoint) => checkpoint < mergeCount)];
  const command = [...rung.command, wordsPath, mergesPath, ...numbers.map(String)];
  const { exitCode, stdout, stderr, resourceUsage } = Bun.spawnSync(command);
  if (exitCode !== 0 && exitCode !== stoppedExitCode) {
    throw new Error(`${rung.name} failed (exit ${exitCode}): ${stderr.toString()}`);
  }
  const points = stdout
    .toString()
    .trim()
    .split("\n")
    .map((line) => line.split(" ").map(Number))
    .map(([merges, ms]) => ({ mergeCount: merges!, ms: ms! }));
  const end = points.pop()!;
  return {
    timing: { checkpoints: points, end, isStopped: exitCode === stoppedExitCode },
    cpuMs: Number(resourceUsage.cpuTime.total) / 1000,
    peakBytes: resourceUsage.maxRSS,
    merges: readMerges(mergesPath),
  };
}

const stoppedExitCode = 3;
