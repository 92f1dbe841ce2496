import { beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { binary, bpe, mergesOf, put, scratch } from "../binary.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

const examples = join(import.meta.dir, "..", "..", "examples");
const special = "<|end|>";
const options = ["--pattern=o200k", `--special-token=${special}`];
const vocabSize = "600";

const home = scratch();

/** The result of a run in one process, which all other runs must match. */
let expected: string[];
beforeAll(() => {
  mkdirSync(join(home, "corpus"));
  const text = (seeds: number[]) => seeds.map((seed) => madeText(seed, 20_000)).join(special);
  const files = [put(home, "corpus/a.txt", text([1, 2, 3, 4])), put(home, "corpus/b.txt", text([5, 6]))];
  const { code } = bpe(["train", ...files, ...options, "-n", vocabSize, "-o", join(home, "whole"), "-q"]);
  expect(code).toBe(0);
  expected = mergesOf(join(home, "whole"));
});

/** Makes a folder that all tasks share, with the file of options. */
function sharedFolder(name: string): string {
  const run = join(home, name);
  mkdirSync(run);
  put(run, "options", `${options.join("\n")}\n`);
  return run;
}

function start(command: readonly string[], variables: Record<string, string>) {
  return Bun.spawn([...command], {
    env: { PATH: process.env.PATH!, BPE: binary, RANGE_SIZE: "64KB", ...variables },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function succeed(command: readonly string[], variables: Record<string, string> = {}): Promise<void> {
  const task = start(command, variables);
  const [code, stderr] = [await task.exited, await new Response(task.stderr).text()];
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
}

const step = join(examples, "step.sh");
const counted = (run: string) =>
  existsSync(join(run, "counts"))
    ? readdirSync(join(run, "counts")).filter((name) => !name.startsWith("."))
    : [];

test("Slurm: an array of tasks, one of them killed and run again, gives the tokenizer of a single process", async () => {
  const run = sharedFolder("slurm");
  // A fake scheduler that records what it is given, and runs nothing.
  const fake = join(home, "sbatch-only");
  mkdirSync(fake);
  put(fake, "sbatch", `#!/bin/sh\necho "$STEP $RUN $VOCAB_SIZE $*" >> '${run}/jobs'\necho '17;cluster'\n`);
  chmodSync(join(fake, "sbatch"), 0o755);
  const submit = join(examples, "slurm", "submit.sh");
  await succeed([submit, run, "5", vocabSize, join(home, "corpus/a.txt"), join(home, "corpus/b.txt")], {
    PATH: `${fake}:${process.env.PATH}`,
  });
  const jobs = readFileSync(join(run, "jobs"), "utf8").trim().split("\n");
  const [count, train] = jobs.map((job) => job.split(" ")) as [string[], string[]];
  expect(count.slice(1, -1)).toEqual([run, vocabSize, "--parsable", "--array=0-4"]);
  expect(train.slice(1, -1)).toEqual([run, vocabSize, "--dependency=afterok:17"]);
  const variables = { STEP: count[0]!, RUN: run, VOCAB_SIZE: vocabSize };
  const taskOf = (index: number) => ({ ...variables, SLURM_ARRAY_TASK_ID: String(index) });

  // In place of its slice of the plan, the task gets a pipe without a writer, so it waits until it is killed.
  const slice = join(run, "slices", "00002");
  renameSync(slice, `${slice}.whole`);
  expect(Bun.spawnSync(["mkfifo", slice]).exitCode).toBe(0);
  const killed = start(["bash", count.at(-1)!], taskOf(2));
  const lock = join(run, "counts", ".00002.counts.bpe-lock");
  while (!existsSync(lock) && killed.exitCode === null) await Bun.sleep(1);
  killed.kill("SIGKILL");
  await killed.exited;
  expect(killed.signalCode).toBe("SIGKILL");
  expect(existsSync(lock)).toBe(true);
  renameSync(`${slice}.whole`, slice);
  expect(counted(run)).toEqual([]);

  for (const index of [4, 0, 3]) await succeed(["bash", count.at(-1)!], taskOf(index));
  const early = start(["bash", train.at(-1)!], variables);
  expect([await early.exited, await new Response(early.stderr).text()]).toEqual([
    1,
    "not counted yet: slices 00001 00002\n",
  ]);
  await Promise.all([1, 2, 0].map((index) => succeed(["bash", count.at(-1)!], taskOf(index))));
  await succeed(["bash", train.at(-1)!], variables);
  expect(mergesOf(join(run, "tokenizer"))).toEqual(expected);

  for (const index of [3, 1, 0, 2, 4]) await succeed([step, "encode", run, String(index)]);
  const files = ["a", "b"].map((name) => join(home, "corpus", `${name}.txt`));
  const whole = join(home, "whole.bin");
  await succeed([binary, "encode", ...files, "--tokenizer", join(run, "tokenizer"), "-o", whole]);
  const parts = readdirSync(join(run, "ids")).filter((name) => name.endsWith(".bin"));
  const joined = Buffer.concat(parts.sort().map((name) => readFileSync(join(run, "ids", name))));
  expect(joined.equals(readFileSync(whole))).toBe(true);
}, 600_000);

type Manifest = {
  spec: {
    completions?: number;
    template: { spec: { containers: { command: string[]; env: { name: string; value: string }[] }[] } };
  };
};

test("Kubernetes: the commands of the manifests, with one process per index, train what one process trains", async () => {
  const shared = join(home, "kubernetes");
  mkdirSync(shared);
  for (const [name, target] of [
    ["bpe", binary],
    ["corpus", join(home, "corpus")],
  ] as const) {
    symlinkSync(target, join(shared, name));
  }
  copyFileSync(step, join(shared, "step.sh"));
  const run = sharedFolder("kubernetes/run");
  const runJob = async (name: string) => {
    const text = readFileSync(join(examples, "kubernetes", `${name}.yaml`), "utf8");
    const { spec } = Bun.YAML.parse(
      text.replaceAll("/shared", shared).replace('"200000"', `"${vocabSize}"`),
    ) as Manifest;
    const [{ command, env }] = spec.template.spec.containers as [
      { command: string[]; env: { name: string; value: string }[] },
    ];
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    const indices =
      spec.completions === undefined ? [undefined] : Array.from({ length: spec.completions }, (_, i) => i);
    for (let from = 0; from < indices.length; from += 8) {
      await Promise.all(
        indices.slice(from, from + 8).map((index) =>
          succeed(command, {
            ...variables,
            ...(index !== undefined && { JOB_COMPLETION_INDEX: String(index) }),
          }),
        ),
      );
    }
  };
  for (const name of ["plan", "count", "train"]) await runJob(name);
  expect(counted(run).length).toBeGreaterThan(3);
  expect(mergesOf(join(run, "tokenizer"))).toEqual(expected);
}, 600_000);

const isThere = (tool: string) => Bun.which(tool) !== null;

test.skipIf(!isThere("parallel"))(
  "GNU parallel trains what one process trains",
  async () => {
    const run = sharedFolder("parallel");
    const script = join(examples, "parallel", "train.sh");
    await succeed([script, run, "5", vocabSize, join(home, "corpus/a.txt"), join(home, "corpus/b.txt")], {
      HOME: home,
    });
    expect(mergesOf(join(run, "tokenizer"))).toEqual(expected);
  },
  600_000,
);

describe("the examples are well formed", () => {
  const under = (folder: string) =>
    readdirSync(join(examples, folder)).map((name) => join(examples, folder, name));

  test.skipIf(!isThere("shellcheck"))("shellcheck finds nothing in the scripts", () => {
    const scripts = [step, ...under("slurm"), ...under("parallel")].filter((path) =>
      /\.(sh|sbatch)$/.test(path),
    );
    const { exitCode, stdout } = Bun.spawnSync(["shellcheck", ...scripts]);
    expect([exitCode, stdout.toString()]).toEqual([0, ""]);
  });

  test.skipIf(!isThere("kubernetes-validate"))("the manifests fit the schema of Kubernetes", () => {
    const manifests = under("kubernetes").filter((path) => path.endsWith(".yaml"));
    const { exitCode, stderr } = Bun.spawnSync(["kubernetes-validate", "--strict", "--quiet", ...manifests]);
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  });
});
