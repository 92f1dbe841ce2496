// What src/kernel/module.ts exports by `export *` gives way, silently, to an export of the same name.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const kernel = join(import.meta.dir, "../../src/kernel");

/** The names in the `export { … }` lists of a file. */
function exportedNames(path: string): string[] {
  const text = readFileSync(join(kernel, path), "utf8");
  return [...text.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, list]) =>
    list!.split(",").flatMap((entry) => entry.trim().split(" as ").at(-1)?.trim() || []),
  );
}

test("no name is exported twice", () => {
  const names = [...exportedNames("module.ts"), ...exportedNames("merge/merge-module.ts")];
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
});
