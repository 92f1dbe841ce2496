import { afterAll } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { type Finished, WarmProgram } from "./warm-runs.ts";

/** The compiled binary; `npm test` builds it first. */
export const binary = join(import.meta.dir, "..", "dist", "bpe");
if (!existsSync(binary)) throw new Error("dist/bpe is missing: npm run build");

/** The environment of a process: only the directory for temporary files. */
export const environment = { TMPDIR: tmpdir() };

/**
 * Turns off the engine's fast WebAssembly memories. With them, the engine collects all garbage before it makes more
 * than a few memories, which takes long.
 */
const manyMemories = { BUN_JSC_useWasmFastMemory: "0" };
let warm: WarmProgram | undefined;
const everyRunIsAProcess = process.env.BPE_TEST_PROCESSES !== undefined;

/**
 * Runs the program to its end. The run is a process of its own if it has text on stdin or a memory limit, or if
 * BPE_TEST_PROCESSES is set. All other runs share one process, which stays alive between them.
 */
export function bpe(args: readonly string[], options: { cwd?: string; stdin?: Buffer } = {}): Finished {
  if (
    !everyRunIsAProcess &&
    options.stdin === undefined &&
    !args.some((arg) => /^--memory-limit/.test(arg))
  ) {
    warm ??= new WarmProgram([`${binary}-warm`], { ...environment, ...manyMemories });
    return warm.run(args, options.cwd);
  }
  const { exitCode, stdout, stderr } = Bun.spawnSync([binary, ...args], { env: environment, ...options });
  return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

/**
 * Waits until a run has installed its handler for a signal, or has ended. Without the handler, the signal would end the
 * run at once, without a cleanup.
 */
export async function untilItCatches(run: Bun.Subprocess, signal: "SIGINT" | "SIGTERM"): Promise<void> {
  const bit = 1n << BigInt(constants.signals[signal] - 1);
  const isRunning = () => run.exitCode === null && run.signalCode === null;
  const caught = () => /^SigCgt:\s*(\w+)/m.exec(readFileSync(`/proc/${run.pid}/status`, "utf8"))?.[1] ?? "0";
  while (isRunning() && (BigInt(`0x${caught()}`) & bit) === 0n) await Bun.sleep(1);
}

/** A new empty directory. It is removed after the tests of the file, block or test that made it. */
export function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), "bpe-test-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function put(directory: string, name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

/** Returns the lines of word counts in text form, without the header. */
export const wordLines = (tsv: string) => tsv.split("\n").slice(1, -1);

/** Returns the content of each file of a tokenizer directory except its record, by the file's name. */
export function tokenizerFiles(directory: string): Record<string, string> {
  const names = readdirSync(directory).filter((name) => name !== "training.json");
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(directory, name), "utf8")]));
}

/** Returns the merges in a tokenizer directory, each as its line in merges.txt. */
export const mergesOf = (directory: string) =>
  readFileSync(join(directory, "merges.txt"), "utf8").split("\n").slice(1, -1);

/** Returns the processor time that a process has used so far, in milliseconds. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The program's name may contain anything, so only what follows it is split: fields from the third on. Fields 14 and
  // 15 are times in hundredths of a second.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}
