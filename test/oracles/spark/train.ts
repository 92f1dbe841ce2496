// `npm run suite spark` runs examples/spark/train.py on real Spark, and compares the files that it writes with those of
// `bpe train`. This suite is not part of `npm test`, because it needs Java, Python and a download.
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { randomSource } from "../../../bench/random.ts";
import { binary, bpe, put, scratch, tokenizerFiles } from "../../binary.ts";

setDefaultTimeout(600_000);

const root = resolve(import.meta.dir, "../../..");
const environment = join(root, "dist/spark");
const spark = sparkHome();
const directory = scratch();
const special = "<|endoftext|>";
const options = ["--vocab-size", "4000", "--special-token", special, "--pattern", "o200k"];
let files: string[];
let expected: Record<string, string>;

beforeAll(() => {
  files = [900_000, 1_300_000].map((length, i) => put(directory, `${i}.txt`, text(i + 1, length)));
  const output = join(directory, "one-process");
  expect(bpe(["train", ...files, ...options, "-q", "-o", output]).stderr).toBe("");
  expected = tokenizerFiles(output);
});

describe("examples/spark/train.py", () => {
  test("gives the files of a single process", async () => {
    const { code, output } = await submit();
    expect(code).toBe(0);
    expect(tokenizerFiles(output)).toEqual(expected);
  });

  test("gives the same files if an executor is killed while it counts", async () => {
    const { code, output, log, killed } = await submit({
      killAt: /Finished task .* in stage 0\.0 .*executor (\d+)\) \(7\/\d\d\)/,
    });
    expect(killed).toBe(true);
    // The words that the killed executor had counted are lost, so they are counted again.
    expect(signsOf(log)).toContain("Resubmitted");
    expect(code).toBe(0);
    expect(tokenizerFiles(output)).toEqual(expected);
  });

  test("gives the same files if an executor is killed while the counts are added up", async () => {
    const { code, output, log, killed } = await submit({
      killAt: /Finished task .* in stage 1\.0 .*executor (\d+)\)/,
    });
    expect(killed).toBe(true);
    expect(signsOf(log)).toContain("FetchFailed");
    expect(code).toBe(0);
    expect(tokenizerFiles(output)).toEqual(expected);
  });

  test("reports the message of bpe if it fails", async () => {
    const missing = join(directory, "missing.txt");
    const { code, log, output } = await submit({ inputs: [missing] });
    expect(code).not.toBe(0);
    const [said] = log.match(/RuntimeError: bpe .*/) ?? [];
    expect(said).toBe(`RuntimeError: bpe plan ended with 1: bpe: error: "${missing}": no such file`);
    expect(existsSync(output)).toBe(false);
  });
});

let runCount = 0;

/** Runs the job. When a line of Spark's log matches `killAt`, kills the executor that this line names. */
async function submit({ inputs = files, killAt }: { inputs?: string[]; killAt?: RegExp } = {}) {
  const output = join(directory, `spark-${++runCount}`);
  const python = join(environment, "bin/python");
  const job = Bun.spawn(
    [
      join(spark, "bin/spark-submit"),
      // With `local-cluster`, the executors are separate processes, so tests can kill them.
      ...["--master", "local-cluster[2,1,1024]", "--files", binary],
      // Spark requests a lost executor's data three more times. The setting makes it wait half a second before each,
      // and not 5 s.
      ...["--conf", "spark.shuffle.io.retryWait=500ms"],
      join(root, "examples/spark/train.py"),
      ...[...inputs, ...options, "--range-size", "200kB", "--partitions", "6", "--output", output],
    ],
    {
      env: { ...process.env, SPARK_HOME: spark, PYSPARK_PYTHON: python, PYSPARK_DRIVER_PYTHON: python },
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  let log = "";
  let killed = false;
  const decoder = new TextDecoder();
  for await (const chunk of job.stderr) {
    log += decoder.decode(chunk, { stream: true });
    const id = killed ? undefined : killAt?.exec(log)?.[1];
    if (id === undefined) continue;
    // spark-submit becomes the driver, and the executors are its children.
    const executor = childrenOf(job.pid).find((pid) =>
      commandOf(pid).join(" ").includes(`--executor-id ${id} `),
    );
    if (executor !== undefined) killed = process.kill(executor, "SIGKILL");
  }
  // Spark copies the stderr of the driver's Python to its own stdout.
  log += await job.stdout.text();
  const code = await job.exited;
  writeFileSync(`${output}.log`, log);
  // Removes the workers' directories, because each has a copy of the executable for each job.
  rmSync(join(spark, "work"), { recursive: true, force: true });
  return { code, output, log, killed };
}

/** Returns the words with which Spark's log reports repeated work. */
const signsOf = (log: string) => log.match(/Resubmitted|FetchFailed|ExecutorLostFailure/g) ?? [];

function childrenOf(parent: number): number[] {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return processes.map(Number).filter((pid) => parentOf(pid) === parent);
}

/** Returns the parent of a process; undefined if the process has ended. */
function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}

function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** Returns the directory of the pip package, which contains all of Spark. */
function sparkHome(): string {
  const [found] = new Bun.Glob("lib/python*/site-packages/pyspark").scanSync({
    cwd: environment,
    onlyFiles: false,
  });
  if (found === undefined) throw new Error("dist/spark is missing: npm run suite spark sets it up");
  return join(environment, found);
}

/** Returns documents of made-up words in several scripts: a few frequent words, and many rare ones. */
function text(seed: number, length: number): string {
  const random = randomSource(seed);
  const alphabets = [
    "etaoinshrdlu",
    "оеаинтсрвлкм",
    "的一是不了人我在有他",
    "αοιετσνηυρ",
    "0123456789",
    "éßøñ'-_.",
  ];
  const separators = [" ", " ", " ", " ", " ", " ", ", ", ". ", "\n", "\n\n", "\r\n", `${special}`, "  "];
  let made = "";
  while (made.length < length) {
    const rank = Math.floor((random.unit() + 1e-3) ** -3);
    const word = randomSource(Math.imul(rank, 0x9e3779b1));
    const alphabet = alphabets[Math.floor(alphabets.length * word.unit() ** 2)]!;
    for (let letters = 1 + word.below(9); letters > 0; letters--)
      made += alphabet[word.below(alphabet.length)];
    made += separators[random.below(separators.length)];
  }
  return made;
}
