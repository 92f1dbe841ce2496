import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { modules, ownTestOf } from "./modules.ts";

const root = join(import.meta.dir, "../../..");
const exists = (path: string) => existsSync(join(root, path));

test("every module that is mutated exists, and so do the tests that must detect its mutants", () => {
  for (const { name, sources, tests = [], executableTests = [] } of modules) {
    if (sources === undefined) expect([name, exists(`src/${name}`)]).toEqual([name, true]);
    for (const path of [...tests, ...executableTests])
      expect([name, path, exists(path)]).toEqual([name, path, true]);
  }
});

test("most files of a module have a test of their own, which is found", () => {
  const files = [...new Bun.Glob("src/words/*.ts").scanSync(root)];
  expect(files.filter((file) => exists(ownTestOf(file))).length).toBeGreaterThan(files.length / 3);
  expect(ownTestOf("src/words/tsv.ts")).toBe("test/unit/words/tsv.test.ts");
});
