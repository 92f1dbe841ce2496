// Runs an executable and the sources on the same corpus, on any platform, and compares their merges and ids:
//
//   node scripts/bun.mjs run scripts/release/results.ts path/to/bpe
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { run } from "./run.ts";

const root = resolve(import.meta.dir, "../..");

/** Writes a corpus to corpus.txt in `home`, and returns the results of the sources for it. */
export function resultsOfSources(home: string): string {
  writeFileSync(join(home, "corpus.txt"), corpus());
  return results([process.execPath, join(root, "src/main.ts")], home, (path) => join(home, path));
}

/** Trains, encodes and decodes corpus.txt in `home`. Returns the checksums of the merges and of the ids. */
export function results(
  command: readonly string[],
  home: string,
  pathInside: (path: string) => string,
): string {
  const [program, ...args] = command as [string, ...string[]];
  const bpe = (...more: string[]) => inBareEnvironment([program, ...args, ...more, "-q"], home);
  const [text, tokenizer, ids] = ["corpus.txt", "tokenizer", "ids.npy"].map(pathInside) as [
    string,
    string,
    string,
  ];
  bpe("train", text, "-n", "2000", "--special-token", "<|endoftext|>", "-w", "2", "-o", tokenizer);
  bpe("encode", text, "--tokenizer", tokenizer, "-o", ids);
  bpe("decode", ids, "--tokenizer", tokenizer, "-o", pathInside("text"));
  const bytes = (path: string) => readFileSync(join(home, path));
  if (!bytes("text").equals(bytes("corpus.txt"))) throw new Error("what was decoded is not what was encoded");
  const { mergesSha256 } = JSON.parse(bytes("tokenizer/training.json").toString());
  const idsSha256 = createHash("sha256").update(bytes("ids.npy")).digest("hex");
  return `merges ${mergesSha256.slice(0, 16)}, ids ${idsSha256.slice(0, 16)}`;
}

/** Runs a command with the minimal environment that a system needs, and returns its output. */
export function inBareEnvironment([program, ...args]: readonly string[], cwd: string): string {
  const { PATH, SystemRoot, TEMP } = process.env;
  return run(program!, args, cwd, { PATH, ...(SystemRoot && { SystemRoot, TEMP }) });
}

/** About 200 KB of text: our own documents, and lines in other writing systems. */
function corpus(): string {
  const names = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".md"),
  );
  const texts = names.sort().map((name) => readFileSync(join(root, "docs", name), "utf8"));
  const others = Array.from(
    { length: 400 },
    (_, n) => `${n} naïve Größe 数据 данные δεδομένα 🦊🐟 ${n * n}\r\n`,
  );
  return [...texts, others.join("")].join("<|endoftext|>");
}

if (import.meta.main) {
  const program = resolve(process.argv[2]!);
  const home = mkdtempSync(join(tmpdir(), "bpe-results-"));
  try {
    const expected = resultsOfSources(home);
    for (const name of ["tokenizer", "ids.npy", "text"]) rmSync(join(home, name), { recursive: true });
    cpSync(program, join(home, "program.exe"));
    const made = results([join(home, "program.exe")], home, (path) => join(home, path));
    if (made !== expected) throw new Error(`"${program}" makes ${made}, and the sources make ${expected}`);
    console.log(`${inBareEnvironment([program, "--version"], home).trim()}: ${made}, as the sources`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
