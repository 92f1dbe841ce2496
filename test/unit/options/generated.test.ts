import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { generated, trainingSchema, trainingSchemaPath } from "../../../scripts/generate-options.ts";
import { trainingOptions } from "../../../src/options/training-table.ts";

const root = join(import.meta.dir, "../../..");

/** Removes layout, because the formatter breaks lines of TypeScript, and adds bars and commas there. */
const withoutLayout = (text: string) => text.replaceAll(/[\s|,;()*/]+/g, "");

describe("files generated from the tables of options are up to date (npm run suite options writes them):", () => {
  for (const [path, make] of Object.entries(generated)) {
    test(path, () => {
      const [found, made] = [readFileSync(join(root, path), "utf8"), make()];
      if (path.endsWith(".ts")) expect(withoutLayout(found)).toBe(withoutLayout(made));
      else expect(found).toBe(made);
    });
  }

  // Flags, decisions and sizes have no entry in the table of printers.
  test("Python prints every kind of value", () => {
    const printers = readFileSync(join(root, "python/bpe_trainer/_training.py"), "utf8").match(
      /^_PRINTERS[^{]*\{(.*?)^\}/ms,
    )![1]!;
    const missing = Object.values(trainingOptions)
      .map(({ kind }) => kind.python.print)
      .filter(
        (print) => !["flag", "decision", "sizes"].includes(print) && !printers.includes(`    "${print}": `),
      );
    expect(missing).toEqual([]);
  });

  test("docs/training.schema.json", () => {
    expect(JSON.parse(readFileSync(trainingSchemaPath, "utf8"))).toEqual(trainingSchema());
  });
});
