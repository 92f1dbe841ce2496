import { expect, test } from "bun:test";
import * as tokenShapes from "../../../src/tokenizer/token-shape.ts";

const shape = (text: string | number[]) => {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : Uint8Array.from(text);
  // The bytes around the token must be ignored.
  const around = Uint8Array.of(0x61, ...bytes, 0x61);
  return tokenShapes.of(around, 1, 1 + bytes.length);
};

const examples = {
  letters: ["a", "Z", " the", "----a", "-é", "漢字", "  ü", "3rd", "aaaa", "\n\nThe"],
  whitespace: ["  ", "\n\n", " \t\r\n\v\f", "\u00a0\u00a0", "\u3000 "],
  separator: ["---", " ====", "-----\n", ". . .", "───", "***", "  ### ", "。。。", "___"],
  other: [
    "",
    " ",
    "\n",
    "--",
    "-=-",
    "--=",
    "=--",
    "111",
    "2026",
    "().",
    "─━─",
    "[[[]",
    "@[`{",
    "\x00\x00\x00",
    "---1",
    "1---",
    "٣٣٣",
  ],
};

for (const [name, texts] of Object.entries(examples)) {
  test(`tokens of the shape "${name}"`, () => {
    expect(texts.map((text) => [text, shape(text)])).toEqual(texts.map((text) => [text, name]));
  });
}

test("parts of characters and bytes that are not UTF-8 are neither white space nor a separator", () => {
  expect(shape([0xe2, 0x94])).toBe("other");
  expect(shape([0xff, 0xff, 0xff])).toBe("other");
  expect(shape([0x2d, 0x2d, 0x2d, 0xe2])).toBe("other");
  expect(shape([0xe2, 0x2d, 0x2d, 0x2d])).toBe("other");
  expect(shape([0x20, 0x20, 0x80])).toBe("other");
  expect(shape([0x80, 0x61])).toBe("letters");
});
