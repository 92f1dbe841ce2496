import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { generated, trainingSchema, trainingSchemaPath } from "../../scripts/generate-options.ts";

const root = join(import.meta.dir, "../..");

/** The linter breaks the lines of TypeScript in its own way, and puts bars and commas where it breaks them. */
const withoutLayout = (text: string) => text.replaceAll(/[\s|,;()*/]+/g, "");

describe("what is made of the tables of options is as they are (npm run docs:options writes it):", () => {
  for (const [path, make] of Object.entries(generated)) {
    test(path, () => {
      const [found, made] = [readFileSync(join(root, path), "utf8"), make()];
      if (path.endsWith(".ts")) expect(withoutLayout(found)).toBe(withoutLayout(made));
      else expect(found).toBe(made);
    });
  }

  test("docs/training.schema.json", () => {
    expect(JSON.parse(readFileSync(trainingSchemaPath, "utf8"))).toEqual(trainingSchema());
  });
});
