import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The compiled binary; `npm test` builds it first. */
export const binary = join(import.meta.dir, "..", "dist", "bpe");
if (!existsSync(binary)) throw new Error("dist/bpe is missing: npm run build");

type Finished = { code: number | null; stdout: string; stderr: string };

/** Runs the binary to its end, with an empty environment. */
export function bpe(args: readonly string[], options: { cwd?: string } = {}): Finished {
  const { exitCode, stdout, stderr } = Bun.spawnSync([binary, ...args], { env: {}, ...options });
  return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

/** A new empty directory. */
export const scratch = () => mkdtempSync(join(tmpdir(), "bpe-test-"));

/** Writes a file into the directory and gives its path. */
export function put(directory: string, name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

/** Every file of a tokenizer directory but its record, by name. */
export function tokenizerFiles(directory: string): Record<string, string> {
  const names = readdirSync(directory).filter((name) => name !== "training.json");
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(directory, name), "utf8")]));
}

/** The merges of a tokenizer directory, a line each. */
export const mergesOf = (directory: string) =>
  readFileSync(join(directory, "merges.txt"), "utf8").split("\n").slice(1, -1);
