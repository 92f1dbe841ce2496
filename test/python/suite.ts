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

const listed = said(
  "-c",
  "import unittest, test_bpe\nfor case in unittest.defaultTestLoader.loadTestsFromModule(test_bpe):\n  for one in case: print(one.id())",
);
for (const name of listed.text.trim().split("\n")) {
  test(name.replace("test_bpe.", "").replaceAll("_", " "), () => {
    const { status, text } = said("-W", "error::ResourceWarning", "-m", "unittest", name);
    expect(status, text).toBe(0);
    expect(text).not.toContain("Exception ignored");
  });
}

test("the types of the module are whole", () => {
  const { status, text } = said("-m", "mypy", "--strict", "--cache-dir=/dev/null", join(root, "python/bpe"));
  expect(status, text).toBe(0);
});
