import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { typesWithoutDoors, withoutDoors } from "../../scripts/without-doors.ts";

const path = resolve(import.meta.dir, "../../src/words/any.ts");

test("an import through a door becomes imports from the files that declare the names", () => {
  const text =
    'import { ascii, grow, type Text, type schema, utf8 as other } from "#bytes";\nuse(ascii.tab);';
  expect(withoutDoors(path, text).replaceAll('"; ', '";\n')).toBe(`import * as ascii from "../bytes/ascii.ts";
import * as other from "../bytes/utf8-characters.ts";
import { grow } from "../bytes/arrays.ts";
use(ascii.tab);`);
});

test("declarations also keep the imports of types", () => {
  const text = `import type { Text, schema } from "#bytes";
export declare const check: import("#bytes").schema.Check<import("#bytes").Text>;`;
  expect(typesWithoutDoors(path, text).replaceAll('"; ', '";\n')).toBe(
    `import type * as schema from "../bytes/schema.ts";
import type { Text } from "../bytes/text.ts";
export declare const check: import("../bytes/schema.ts").Check<import("../bytes/text.ts").Text>;`,
  );
});

test("a door exports all that is imported through it", () => {
  expect(() => withoutDoors(path, 'import { missing } from "#bytes";')).toThrow("does not export");
});
