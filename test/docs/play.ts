import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { binary, environment } from "../binary.ts";
import { randomNumbers } from "../random.ts";

// Runs the examples of a page. Its scripts run in order, in one directory. The fenced blocks and their lines:
//
//     sh run, python run      a script, which must succeed
//     output                  what the preceding script prints; without this block, the script may print anything
//     output numbers aside    the same, but numbers are not compared
//     # before: CODE          in Python: the script is run again with CODE in place of the next line
//     …                       in `output`: any lines; within a line: any characters

export const root = join(import.meta.dir, "..", "..");

type Block = {
  /** The number of the first line between the fences, counted from 1. */
  readonly line: number;
  readonly info: string;
  readonly text: string;
};

export type Script = Block & { readonly language: Language; readonly output: Block | undefined };

type Language = "sh" | "python";

const numbersAside = "output numbers aside";

/** Returns the fenced blocks of a page. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let open: { fence: string; info: string; line: number } | undefined;
  const lines = page.split("\n");
  lines.forEach((text, i) => {
    const [, fence, info] = /^(`{3,})(.*)$/.exec(text) ?? [];
    if (open === undefined) {
      if (fence !== undefined) open = { fence, info: info!.trim(), line: i + 2 };
    } else if (text === open.fence) {
      const inside = lines.slice(open.line - 1, i).map((line) => `${line}\n`);
      blocks.push({ line: open.line, info: open.info, text: inside.join("") });
      open = undefined;
    }
  });
  return blocks;
}

/**
 * Returns the scripts of a page, each with the output block that follows it, if one does. A script with `# before:` is
 * followed by its second form.
 */
export function scriptsOf(page: string): Script[] {
  const blocks = blocksOf(page);
  return blocks.flatMap((block, i) => {
    const [, language] = /^(sh|python) run$/.exec(block.info) ?? [];
    const next = blocks[i + 1];
    const output = next?.info === "output" || next?.info === numbersAside ? next : undefined;
    if (language === undefined) return [];
    const script = { ...block, language: language as Language, output };
    const before = block.text.replaceAll(/^# before:(?: (.*))?\n.*$/gm, "$1");
    return before === block.text ? [script] : [script, { ...script, text: before }];
  });
}

export type Played = { readonly script: Script; readonly code: number | null; readonly printed: string };

/** Runs the scripts of a page in the directory. Without `python`, leaves out those in Python. */
export function play(page: string, directory: string, python?: string): Played[] {
  copyFileSync(join(root, "LICENSE"), join(directory, "LICENSE"));
  symlinkSync(join(root, "examples"), join(directory, "examples"));
  writeTexts(directory);
  const programs = [dirname(binary), ...(python === undefined ? [] : [dirname(python)]), process.env.PATH!];
  const env = {
    ...environment,
    HOME: directory,
    LC_ALL: "C",
    PATH: programs.join(delimiter),
    // Without this setting, transformers prints that PyTorch is missing, which readers who have PyTorch would not see.
    TRANSFORMERS_VERBOSITY: "error",
  };
  return scriptsOf(page)
    .filter(({ language }) => language === "sh" || python !== undefined)
    .map((script) => {
      const path = join(environment.TMPDIR, `bpe-page-${process.pid}.script`);
      writeFileSync(path, script.text);
      const command = script.language === "sh" ? ["bash", "-e", "-o", "pipefail", path] : [python!, path];
      // Stdout and stderr are the same pipe, so that their lines are in the order in which they were written.
      const run = Bun.spawnSync(["sh", "-c", 'exec "$@" 2>&1', "sh", ...command], {
        cwd: directory,
        env,
        // No example takes this long unless it hangs.
        timeout: 100_000,
      });
      rmSync(path);
      return { script, code: run.exitCode, printed: run.stdout.toString() };
    });
}

/** Writes documents of random words, which have enough pairs for a vocabulary of 32,000 tokens. */
function writeTexts(directory: string): void {
  const random = randomNumbers(28);
  const letters = (count: number) =>
    Array.from({ length: count }, () => String.fromCharCode(97 + random(26))).join("");
  const documents = Array.from({ length: 40 }, () =>
    Array.from({ length: 400 }, () => letters(3 + random(9))).join(" "),
  );
  writeFileSync(join(directory, "corpus.txt"), documents.join("<|endoftext|>"));
  writeFileSync(join(directory, "german.txt"), documents[0]!);
  mkdirSync(join(directory, "data"));
  // The records omit the first document, which is german.txt, so that a training on them has not seen german.txt.
  const records = documents.slice(1).map((text) => `${JSON.stringify({ text })}\n`);
  writeFileSync(join(directory, "data/1.jsonl"), records.slice(20).join(""));
  writeFileSync(join(directory, "data/2.jsonl.gz"), gzipSync(records.slice(0, 20).join("")));
}

/** Normalizes an output: replaces times, rates, memory and process ids, and joins blanks. */
export const settled = (text: string): string =>
  text
    // A stage prints this line only if it takes long, which a small one does only on a busy machine.
    .replaceAll(/^bpe: \w+ took .*\n/gm, "")
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME")
    .replaceAll(/\b\d{8}T\d{6}Z/g, "TIME")
    .replaceAll(/\b[\d,.]+( (ms|s|merges\/s|[kMG]?B\/s)|\/s)(?!\w)/g, "#")
    // No rate is printed for a small corpus.
    .replaceAll(" (#)", "")
    .replaceAll(/\b[\d,.]+ [kMG]?B (at its peak|memory)/g, "#")
    .replaceAll(/\bprocess \d+/g, "process #")
    .replaceAll(/[ \t]+/g, " ")
    .replaceAll(/ $/gm, "")
    .trimEnd();

/** Whether the output of a script matches what the page shows. */
export function isShown({ info, text: output }: Omit<Block, "line">, printed: string): boolean {
  if (info === numbersAside) return withoutNumbers(output) === withoutNumbers(printed);
  const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const lines = settled(output)
    .split("\n")
    .map((line) => (line === "…" ? "(.*\n)*?" : `${line.split("…").map(literal).join(".*")}\n`));
  return new RegExp(`^${lines.join("")}$`).test(`${settled(printed)}\n`);
}

/** Replaces numbers and their units, so that "1 file" equals "3 files", and "2 MB" equals "9 GB". */
const withoutNumbers = (text: string) =>
  settled(text)
    .replaceAll(/[\d,.]*\d( [kMG]?B\b| %)?/g, "#")
    .replaceAll(/# (file|document)s?\b/g, "# $1");

/** Returns the pages that have scripts, or scripts in the given language. */
export const playedPages = (language?: Language): string[] =>
  ["*.md", "{docs,python,npm,examples}/**/*.md"]
    .flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)])
    .filter((path) => !path.includes("node_modules/"))
    .filter((path) => {
      const scripts = scriptsOf(readFileSync(join(root, path), "utf8"));
      return scripts.some((script) => language === undefined || script.language === language);
    })
    .sort();
