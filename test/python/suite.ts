// `npm run test:python`: the wheel, installed, beside HF's tokenizers and tiktoken; and its types.
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "../..");
const python = join(root, "dist/python/bin/python");

const said = (...args: string[]) => {
  // Not in the project's directory, where the sources of the module are.
  const { status, stdout, stderr } = spawnSync(python, args, { encoding: "utf8", cwd: import.meta.dir });
  return { status, text: stdout + stderr };
};

const list = `
import pathlib, unittest
for module in sorted(path.stem for path in pathlib.Path(".").glob("test_*.py")):
    for case in unittest.defaultTestLoader.loadTestsFromName(module):
        for one in case:
            print(one.id())
`;
const listed = said("-W", "ignore", "-c", list);
if (listed.status !== 0) throw new Error(listed.text);
for (const name of listed.text.split("\n").filter((line) => line.startsWith("test_"))) {
  test(name.slice(name.indexOf(".") + 1).replaceAll("_", " "), () => {
    const { status, text } = said(
      ...(name.startsWith("test_transformers") ? [] : ["-W", "error::ResourceWarning"]),
      "-m",
      "unittest",
      name,
    );
    expect(status, text).toBe(0);
    expect(text).not.toContain("Exception ignored");
  });
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
