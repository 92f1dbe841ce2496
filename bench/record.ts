import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";
import { join, relative } from "node:path";

const output = (command: string, ...args: string[]) =>
  spawnSync(command, args, { encoding: "utf8" }).stdout?.trim() ?? "";

/** Returns the context of a measurement: machine, versions, commit. */
export function circumstances() {
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: output("git", "rev-parse", "--short=12", "HEAD"),
    bun: Bun.version,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    load: readFileSync("/proc/loadavg", "utf8").split(" ")[0],
  };
}

/** Writes a measurement to bench/record/<name>.json, or to the path `name` if it contains a slash. */
export function keepRecord(name: string, measurement: object): void {
  const path = name.includes("/") ? name : `${import.meta.dir}/record/${name}.json`;
  writeFileSync(path, `${JSON.stringify({ ...circumstances(), ...measurement }, null, 2)}\n`);
  console.log(`record: ${relative(join(import.meta.dir, ".."), path)}`);
}

/** A run that takes more than this number of seconds is not repeated. */
export const longSeconds = 5;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}

/** Runs a command, which must succeed. Returns its time, the processor time of all its threads, and its output. */
export function runProcess(command: string[]) {
  const startMs = performance.now();
  const { exitCode, stdout, stderr, resourceUsage } = Bun.spawnSync(command);
  const seconds = (performance.now() - startMs) / 1000;
  if (exitCode !== 0) throw new Error(stderr.toString().trim().split("\n").at(-1));
  return { seconds, processorSeconds: Number(resourceUsage.cpuTime.total) / 1e6, stdout, stderr };
}
