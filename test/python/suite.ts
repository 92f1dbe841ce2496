// `npm run suite python` tests the installed wheel. If BPE_TEST_CORE is set, the modules in `core` replace the list of
// all modules, and there is no fault injection.
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildModule } from "../../scripts/native/build.ts";
import { scratch } from "../binary.ts";
import { expectPage } from "../docs/expect-page.ts";
import { playedPages } from "../docs/play.ts";

const root = resolve(import.meta.dir, "../..");
/** The modules that run in dist/python-rc. All others run in dist/python. */
const ofOne = ["test_one"];
const isCore = process.env.BPE_TEST_CORE !== undefined;
const core = [
  "test_arguments",
  "test_bpe",
  "test_canonical",
  "test_calls",
  "test_commands",
  "test_cs336",
  "test_cuts",
  "test_files",
  "test_interrupts",
  "test_image",
  "test_memory",
  "test_object",
  "test_segments",
  "test_text_sessions",
  "test_session",
  "test_training",
];

const saidBy = async (environment: string, ...args: string[]) => {
  const python = join(root, "dist", environment, "bin/python");
  // Runs in this directory, because Python looks for the modules of tests in the current one.
  const run = Bun.spawn([python, ...args], { cwd: import.meta.dir, stdout: "pipe", stderr: "pipe" });
  const [out, log] = await Promise.all([run.stdout.text(), run.stderr.text()]);
  return { status: await run.exited, text: out + log };
};
const said = (...args: string[]) => saidBy("python", ...args);

const list = `
import sys, unittest
for module in sys.argv[1:]:
    for case in unittest.defaultTestLoader.loadTestsFromName(module):
        for one in case:
            print(one.id().rpartition(".")[0])
`;
const modules = readdirSync(import.meta.dir).flatMap((name) => /^(test_.*)\.py$/.exec(name)?.[1] ?? []);
const environments: [name: string, modules: string[]][] = isCore
  ? [["python", core]]
  : [
      ["python", modules.filter((name) => !ofOne.includes(name)).toSorted()],
      ["python-rc", ofOne],
    ];
for (const [environment, wanted] of environments) {
  const listed = await saidBy(environment, "-W", "ignore", "-c", list, ...wanted);
  if (listed.status !== 0) throw new Error(listed.text);
  // Each class has a process of its own. A single test has none, because importing the compared packages takes longer
  // than most tests.
  for (const name of new Set(listed.text.split("\n").filter((line) => line.startsWith("test_")))) {
    test.concurrent(name, async () => {
      const { status, text } = await saidBy(
        environment,
        ...(name.startsWith("test_transformers") ? [] : ["-W", "error::ResourceWarning"]),
        "-m",
        "unittest",
        name,
      );
      expect(status, text).toBe(0);
      expect(text).not.toContain("Exception ignored");
    });
  }
}

/** Tests that depend on sizes also run at small scale. */
await buildModule(true);
for (const name of ["test_calls", "test_cuts", "test_session", "test_text_sessions", "test_training"]) {
  test.concurrent(`${name} at small scale`, async () => {
    const { status, text } = await said("at_small_scale.py", name);
    expect(status, text).toBe(0);
  });
}

test.skipIf(isCore).concurrent("rounds of fault injection lose nothing", async () => {
  const { status, text } = await said("fault_injection.py", "--seed", "1", "--rounds", "16");
  expect(status, text).toBe(0);
});

test.concurrent("the types of the module are complete", async () => {
  const { status, text } = await said(
    "-m",
    "mypy",
    "--strict",
    "--ignore-missing-imports",
    "--cache-dir=/dev/null",
    join(root, "python/bpe_trainer"),
    ...["compare.py", "first.py", "work.py"].map((name) => join(root, "bench/peers", name)),
  );
  expect(status, text).toBe(0);
});

for (const path of playedPages("python")) {
  test(`every example of ${path} prints the output on the page`, () => {
    expectPage(path, scratch(), join(root, "dist/python/bin/python"));
  });
}
