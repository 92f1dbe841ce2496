// `npm run test:python`: the wheel, installed, beside HF's tokenizers of two versions and tiktoken; and its types.
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { scratch } from "../binary.ts";
import { expectPage } from "../docs/expect-page.ts";
import { playedPages } from "../docs/play.ts";

const root = resolve(import.meta.dir, "../..");
/** The modules of the second environment; the first has all others. */
const ofOne = ["test_one"];

const saidBy = (environment: string, ...args: string[]) => {
  const python = join(root, "dist", environment, "bin/python");
  // Not in the project's directory, where the sources of the module are.
  const { status, stdout, stderr } = spawnSync(python, args, { encoding: "utf8", cwd: import.meta.dir });
  return { status, text: stdout + stderr };
};
const said = (...args: string[]) => saidBy("python", ...args);

const list = `
import sys, unittest
for module in sys.argv[1:]:
    for case in unittest.defaultTestLoader.loadTestsFromName(module):
        for one in case:
            print(one.id())
`;
const modules = readdirSync(import.meta.dir).flatMap((name) => /^(test_.*)\.py$/.exec(name)?.[1] ?? []);
for (const [environment, wanted] of [
  ["python", modules.filter((name) => !ofOne.includes(name)).toSorted()],
  ["python-rc", ofOne],
] as const) {
  const listed = saidBy(environment, "-W", "ignore", "-c", list, ...wanted);
  if (listed.status !== 0) throw new Error(listed.text);
  for (const name of listed.text.split("\n").filter((line) => line.startsWith("test_"))) {
    test(name.slice(name.indexOf(".") + 1).replaceAll("_", " "), () => {
      const { status, text } = saidBy(
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

test("rounds of the fault campaign lose nothing", () => {
  const { status, text } = said("campaign.py", "--seed", "1", "--rounds", "16");
  expect(status, text).toBe(0);
});

test("the types of the module are whole", () => {
  const { status, text } = said(
    "-m",
    "mypy",
    "--strict",
    "--ignore-missing-imports",
    "--cache-dir=/dev/null",
    join(root, "python/bpe_trainer"),
  );
  expect(status, text).toBe(0);
});

for (const path of playedPages("python")) {
  test(`every example of ${path} prints what the page shows`, () => {
    expectPage(path, scratch(), join(root, "dist/python/bin/python"));
  });
}
