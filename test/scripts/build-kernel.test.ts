import { expect, test } from "bun:test";
import { withBlankComments, withoutComments } from "../../scripts/build-kernel.ts";

const source = `// What it does.
/**
 * Returns the sum.
 */
export function sum(a: i32, b: i32): i32 {
  /* one line */
  const both = a // trailing
    * b;
  return both; /* also trailing */
}
`;

const code = `export function sum(a: i32, b: i32): i32 {
  const both = a // trailing
    * b;
  return both; /* also trailing */
}
`;

test("the code of a module stays when its comments are left out", () => {
  expect(withoutComments(source)).toBe(code);
  expect(withoutComments(code)).toBe(code);
});

test("code after a comment counts", () => {
  const line = "/* a */ const one = 1;\n/* b */ const two = 2; /* c */\n";
  expect(withoutComments(line)).toBe(line);
});

test("lines keep their numbers where assertions contain them", () => {
  const blank = withBlankComments(source);
  expect(blank.split("\n").map((line) => line.trim() !== "")).toEqual([
    false,
    false,
    false,
    false,
    true,
    false,
    true,
    true,
    true,
    true,
    false,
  ]);
  expect(
    blank
      .split("\n")
      .filter((line) => line !== "")
      .join("\n"),
  ).toBe(code.trimEnd());
});
