// Runs commands with --memory-limit on inputs that would fill the memory. Checks that each run stays near the limit,
// and prints the peaks.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { binary as built } from "../binary.ts";
import { randomNumbers } from "../random.ts";
import {
  bombCodecs,
  unitOf,
  writeDictionaryBomb,
  writeFooterBomb,
  writePacked,
  writePageBomb,
  writeParts,
  writeSharedBomb,
  writeTinyRows,
} from "./bombs.ts";

/**
 * The maximum peak memory of a run, as a multiple of its limit. It is more than 1, because the system also counts pages
 * of code, and garbage.
 */
const shareMost = 1.2;

type HostileInput = {
  readonly name: string;
  /** The steps for --normalize. */
  readonly normalize?: string;
  /** Writes the input in a size that challenges a memory limit of `megabytes` MB. */
  readonly write: (path: string, megabytes: number) => void;
};

const words = unitOf("some words, some");
const letters = unitOf("a");
const syllables = unitOf("someword");

/** Returns 1 MiB of random letters. With spaces, most words occur only once. */
function randomUnit(seed: number, hasSpaces: boolean): Uint8Array {
  const random = randomNumbers(seed);
  return Uint8Array.from({ length: 1 << 20 }, () => (hasSpaces && random(8) === 0 ? 32 : 97 + random(26)));
}

const units = (count: number, hasSpaces: boolean) =>
  Array.from({ length: count }, (_, seed) => randomUnit(seed, hasSpaces));

/** The sizes are in proportion to the limit. At a limit of 400 MB, each input once made some command exceed it. */
export const hostileInputs: readonly HostileInput[] = [
  {
    name: "decomposing.txt",
    normalize: "NFC,NFD,NFKC,NFKD,lowercase",
    write: (path, limit) => writeFileSync(path, "\u0344".repeat(15_000 * limit)),
  },
  {
    name: "marks.txt",
    normalize: "NFC",
    write: (path, limit) => writeFileSync(path, `a${"\u0301\u0323".repeat(3600 * limit)}`),
  },
  { name: "word.txt", write: (path, limit) => writeParts(path, Array(limit >> 3).fill(syllables)) },
  { name: "letters.txt", write: (path, limit) => writeParts(path, units(limit >> 3, false)) },
  { name: "distinct.txt", write: (path, limit) => writeParts(path, units(limit >> 3, true)) },
  {
    name: "word.txt.gz",
    write: (path, limit) =>
      writePacked(path, "gzip", { first: letters, unit: letters, unitCount: limit >> 3 }),
  },
  {
    name: "line.jsonl",
    write: (path, limit) =>
      writeParts(path, [Buffer.from('{"text":"'), ...Array(limit >> 3).fill(words), Buffer.from('"}\n')]),
  },
  {
    name: "line.jsonl.zst",
    write: (path, limit) =>
      writePacked(path, "zstd", {
        first: Buffer.from('{"text":"'),
        unit: letters,
        unitCount: limit >> 4,
        last: Buffer.from('"}\n'),
      }),
  },
  { name: "rows.parquet", write: (path, limit) => writeTinyRows(path, "a", limit * 100_000, 10) },
  ...bombCodecs.map((codec) => ({
    name: `${codec}.parquet`,
    write: (path: string, limit: number) => writePageBomb(path, codec, words, limit >> 2),
  })),
  { name: "dictionary.parquet", write: (path, limit) => writeDictionaryBomb(path, words, limit >> 2, 2) },
  {
    name: "shared.parquet",
    write: (path, limit) => writeSharedBomb(path, words.subarray(0, 30_000), 10 * limit),
  },
  { name: "footer.parquet", write: (path, limit) => writeFooterBomb(path, 1000 * limit) },
];

/**
 * The command lines for an input and a tokenizer. `normal` is the --normalize option with which the tokenizer was
 * trained.
 */
export const limitedCommands: Readonly<
  Record<string, (input: string, tokenizer: string, normal: readonly string[]) => readonly string[]>
> = {
  train: (input, _, normal) => ["train", input, "-n", "300", "-o", "trained", ...normal],
  count: (input, _, normal) => ["count", input, "-o", "counts.tsv", ...normal],
  encode: (input, tokenizer) => ["encode", input, "--tokenizer", tokenizer, "-o", "ids.npy"],
  tokens: (input, tokenizer) => ["tokens", input, "--tokenizer", tokenizer],
  eval: (input, tokenizer) => ["eval", tokenizer, "--text", input],
  diff: (input, tokenizer) => ["diff", tokenizer, "other", "--text", input],
};

export type LimitedRun = {
  readonly code: number | null;
  readonly stderr: string;
  readonly peakBytes: number;
};

/**
 * Runs a command, and measures the peak memory of its process. The peak is read from /proc, because the peak that the
 * system reports at the end includes memory of the parent.
 */
export async function runLimited(
  program: string,
  args: readonly string[],
  home: string,
): Promise<LimitedRun> {
  const child = Bun.spawn([program, ...args, "-q"], {
    cwd: home,
    env: { TMPDIR: home },
    stdout: "ignore",
    stderr: "pipe",
  });
  let peakBytes = 0;
  const status = Bun.file(`/proc/${child.pid}/status`);
  const timer = setInterval(async () => {
    const text = await status.text().catch(() => "");
    peakBytes = Math.max(peakBytes, 1024 * Number(/^VmHWM:\s+(\d+) kB/m.exec(text)?.[1] ?? 0));
  }, 2);
  const [stderr, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  clearInterval(timer);
  return { code, stderr, peakBytes };
}

const refusal = /needs (about|at least) [\d.]+ [MG]B( of memory; the limit|\nhint: raise --memory-limit)/;

/**
 * Returns what is wrong with a run; undefined if it stayed within its memory, and either succeeded or gave an expected
 * error.
 */
export function wrongOf({ code, stderr, peakBytes }: LimitedRun, limitBytes: number): string | undefined {
  if (peakBytes > shareMost * limitBytes) return `${(peakBytes / limitBytes).toFixed(2)} times the limit`;
  if (/undefined|NaN [kMG]?B|\[object/.test(stderr)) return `an odd message: ${stderr}`;
  if (code === 0 || refusal.test(stderr) || stderr.includes('has no column "text"')) return undefined;
  return stderr;
}

async function runWithinLimit(
  limitMegabytes: number,
  { only, input, binary: program = built }: { only?: string; input?: string; binary?: string },
): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), "bpe-memory-"));
  process.on("exit", () => rmSync(home, { recursive: true, force: true }));
  process.on("SIGINT", () => process.exit(130));
  const limit = ["--memory-limit", `${limitMegabytes}MB`, "-w", "1"];
  writeFileSync(join(home, "few.txt"), "some words, some other words\n".repeat(20));
  const tokenizerOf = async (name: string, normal: readonly string[]) => {
    await runLimited(program, ["train", "few.txt", "-n", "280", "-o", name, ...normal], home);
    return name;
  };
  await tokenizerOf("plain", []);
  await tokenizerOf("other", []);
  const commands = Object.entries(limitedCommands).filter(([name]) => only === undefined || name === only);
  console.log(
    ["peak in MB; in brackets: refused".padEnd(34), ...commands.map(([name]) => name.padStart(8))].join(""),
  );
  const wrongs: string[] = [];
  for (const { name, normalize, write } of hostileInputs) {
    if (input !== undefined && name !== input) continue;
    write(join(home, name), limitMegabytes);
    const normal = normalize === undefined ? [] : ["--normalize", normalize];
    const tokenizer = normalize === undefined ? "plain" : await tokenizerOf("normal", normal);
    const cells: string[] = [];
    for (const [command, argumentsOf] of commands) {
      const run = await runLimited(program, [...argumentsOf(name, tokenizer, normal), ...limit], home);
      const wrong = wrongOf(run, limitMegabytes * 1e6);
      if (wrong !== undefined) wrongs.push(`${command} ${name}: ${wrong}`);
      const peak = String(Math.round(run.peakBytes / 1e6));
      cells.push(`${run.code === 0 ? peak : `(${peak})`}${wrong === undefined ? " " : "!"}`.padStart(8));
    }
    console.log([name.padEnd(34), ...cells].join(""));
    for (const output of [name, "normal", "trained", "counts.tsv", "ids.npy"])
      rmSync(join(home, output), { recursive: true, force: true });
  }
  for (const wrong of wrongs) console.log(wrong.trim());
  return wrongs.length === 0 ? 0 : 1;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      limit: { type: "string", default: "400" },
      only: { type: "string" },
      input: { type: "string" },
      binary: { type: "string" },
    },
  });
  process.exit(await runWithinLimit(Number(values.limit), values));
}
