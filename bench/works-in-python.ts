import { existsSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { end } from "./bench-texts.ts";
import { runProcess } from "./record.ts";
import { type Cost, isOurs, type Row } from "./speed-table.ts";

// Rows that bench/peers/compare.py and bench/peers/first.py measure.

const root = join(import.meta.dir, "..");

/** Returns the command that runs a program of bench/peers with the packages of one environment. */
function python(environment: string, program: string, ...args: string[]): string[] {
  const bin = join(root, "dist", environment, "bin");
  // Python's module expects the executable at this path.
  if (!existsSync(join(bin, "bpe"))) symlinkSync("../../bpe", join(bin, "bpe"));
  return [
    ...["env", `PYTHONPATH=${join(root, "python")}`, join(bin, "python")],
    ...[join(root, "bench/peers", program), ...args],
  ];
}

type PythonTable = {
  title: string;
  work: string;
  rows: {
    name: string;
    isRight: boolean | null;
    texts: number | null;
    medianSeconds: number | null;
    processorSeconds: number | null;
    peakMemoryBytes: number | null;
  }[];
};

/** The comparison of libraries on the first 10 MB of a text. */
export class LibraryComparison {
  private readonly tables = new Map<string, readonly PythonTable[]>();

  constructor(
    private readonly path: string,
    private readonly rounds: number,
  ) {}

  /**
   * Returns the costs of one table, either for tools that return lists or for tools that return arrays. HF's next
   * release is in an environment of its own (peers-rc).
   */
  costs(title: string, form: "lists" | "arrays"): Cost[] {
    const environments = ["peers", "peers-rc"].filter((name) =>
      existsSync(join(root, "dist", name, "bin/python")),
    );
    return environments.flatMap((environment) => {
      const found = this.tablesOf(environment).find((each) => each.title === title);
      return (found?.rows ?? []).flatMap(({ name, isRight, texts, medianSeconds, ...row }) => {
        const isAsked =
          name.endsWith(", arrays") === (form === "arrays") && (environment === "peers" || !isOurs(name));
        if (!isAsked || isRight !== true || medianSeconds === null) return [];
        const calls = found!.work.startsWith("calls-") ? texts! : 1;
        return {
          name: name.replace(", arrays", "") + (environment === "peers" ? "" : " 1.0.0rc3"),
          seconds: medianSeconds / calls,
          ...(row.processorSeconds !== null && { processorSeconds: row.processorSeconds / calls }),
          ...(row.peakMemoryBytes !== null && { megabytes: Math.round(row.peakMemoryBytes / 1e6) }),
        };
      });
    });
  }

  private tablesOf(environment: string): readonly PythonTable[] {
    const known = this.tables.get(environment);
    if (known !== undefined) return known;
    const options = ["--quick", "-s", end, "--runs", String(this.rounds), "--json"];
    const { stdout } = runProcess(python(environment, "compare.py", this.path, ...options));
    const { tables } = JSON.parse(stdout.toString()) as { tables: PythonTable[] };
    this.tables.set(environment, tables);
    return tables;
  }
}

/** Published tokenizers that `test/oracles/real/setup.ts` installs: their names in rows, and their directories. */
const published = [
  ["o200k", "gpt-4o"],
  ["Llama 3", "llama-3"],
  ["Qwen 3", "qwen-3"],
  ["GPT-2", "gpt2"],
  ["Gemma 3", "gemma-3"],
] as const;

export type TokenizerFile = { readonly name: string; readonly path: string };

/** Returns the published tokenizers that are installed. */
export const publishedTokenizers = (): TokenizerFile[] =>
  published
    .map(([name, directory]) => ({ name, path: join(root, "dist/real/files", directory, "tokenizer.json") }))
    .filter(({ path }) => existsSync(path));

export type FirstCalls = {
  readonly text: string;
  readonly tokenizer: TokenizerFile;
  readonly libraries: readonly string[];
  readonly unit: "documents" | "lines";
  readonly threads: readonly number[];
  readonly runs: number;
};

type FirstTable = {
  unit: string;
  threads: number;
  rows: {
    name: string;
    problem?: string;
    isRight?: boolean;
    calls?: Record<string, { seconds: number; processorSeconds: number }>;
    peakMemoryBytes?: number;
  }[];
};

export const threadsOf = (count: number) => (count === 1 ? "one thread" : "two threads");

/**
 * Measures a process's first calls, which return arrays, and returns a row for each. A library that fails, or whose ids
 * differ from those of `bpe`, has no costs.
 */
export function firstCalls({ text, tokenizer, libraries, unit, threads, runs }: FirstCalls): Row[] {
  if (threads.length === 0) return [];
  // The number of characters of each of the two parts: 10 million, or fewer, so that both fit even if every character
  // has two bytes.
  const size = Math.min(10e6, Math.floor(statSync(text).size / 4));
  const options = {
    only: libraries.join(),
    size: String(size),
    units: unit,
    threads: threads.join(),
    runs: String(runs),
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const { stdout } = runProcess(python("peers", "first.py", text, tokenizer.path, ...args, "--json"));
  return (JSON.parse(stdout.toString()) as FirstTable[]).flatMap(({ unit, threads, rows }) =>
    ["first", "unseen", "again"].map((call) => ({
      work: `arrays: ${tokenizer.name}, ${unit}, ${threadsOf(threads)}, ${call}`,
      isOnlyRecorded: true,
      costs: rows.flatMap(({ name, isRight, calls, peakMemoryBytes }) =>
        isRight === true ? { name, ...calls![call]!, megabytes: Math.round(peakMemoryBytes! / 1e6) } : [],
      ),
    })),
  );
}
