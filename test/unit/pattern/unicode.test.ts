import { describe, expect, test } from "bun:test";
import { readPreTokenizer } from "../../../src/formats/pre-tokenizer.ts";
import { parsePattern } from "../../../src/pattern/parse-pattern.ts";
import * as unicode from "../../../src/pattern/unicode.ts";
import { wordCharacters } from "../../../src/pattern/unicode.ts";
import { binaryPropertyBase64, scriptBase64 } from "../../../src/pattern/unicode-data.ts";
import { unicodeVersion } from "../../../src/pattern/unicode-version.ts";
import { turns } from "../../rounds.ts";
import {
  askedOf,
  characters,
  edgesOf,
  everyCharacter,
  huggingface,
  preTokenize,
  setIn,
  textAbout,
  textOf,
  tiktoken,
} from "./engines.ts";

/*
 * A test fails when a dev dependency brings another version of Unicode. Then use the package of that version in
 * scripts/generate-unicode-data.ts, and update docs/internals/pattern.md.
 */

const generalCategories = Object.keys(unicode.categoryNames).filter(
  (name) => name.length === 2 && name !== "LC",
);

test("the embedded data have the pinned version", () => {
  expect(unicodeVersion).toBe("16.0.0");
});

test("the categories partition all code points", () => {
  const sets = generalCategories.map((name) => unicode.propertySet(name)!);
  const sizes = sets.flat().map((bound, i) => (i % 2 === 0 ? -bound : bound + 1));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(0x110000);
  expect(unicode.unionOf(sets)).toEqual([0, 0x10ffff]);
});

test("names are matched loosely, by Unicode's rule", () => {
  expect(unicode.propertySet("uppercase letter")).toEqual(unicode.propertySet("Lu")!);
  expect(unicode.propertySet("LC")).toEqual(
    unicode.unionOf(["Lu", "Ll", "Lt"].map((name) => unicode.propertySet(name)!)),
  );
  expect(parsePattern("\\p{Script=Han}")).toMatchObject({ set: unicode.propertySet("han") });
  expect(parsePattern("\\p{gc=Lu}")).toMatchObject({ set: unicode.propertySet("Lu") });
  expect(unicode.propertySet("Nonsense")).toBeUndefined();
});

describe.each([
  ["HF's tokenizers", huggingface],
  ["tiktoken", tiktoken],
] as const)("%s", (_, engine) => {
  test("has our categories, on all code points", () => {
    for (const name of [...generalCategories, "L", "M", "N", "P", "S", "Z", "LC"]) {
      const ours = unicode.intersectionOf(unicode.propertySet(name)!, characters);
      // Tries only characters at the edges of the category. For some categories, another test below tries all
      // characters.
      const text = textOf(edgesOf(ours));
      expect([name, askedOf(engine, `\\p{${name}}`, text)]).toEqual([
        name,
        unicode.intersectionOf(ours, setIn(text)),
      ]);
    }
    for (const name of turns(["L", "N", "Cn"], 1)) {
      expect([name, askedOf(engine, `\\p{${name}}`)]).toEqual([
        name,
        unicode.intersectionOf(unicode.propertySet(name)!, characters),
      ]);
    }
  });

  test("has our scripts and binary properties, at all their edges", () => {
    for (const name of [...Object.keys(scriptBase64), ...Object.keys(binaryPropertyBase64)]) {
      if (name === "Unknown") continue;
      const ours = unicode.propertySet(name)!;
      const text = textOf(edgesOf(ours));
      expect([name, askedOf(engine, `\\p{${name}}`, text)]).toEqual([
        name,
        unicode.intersectionOf(ours, setIn(text)),
      ]);
    }
  });

  test("has our s and d, on all code points, or at all edges in a quick run", () => {
    for (const [source, ours] of [
      ["\\s", unicode.whiteSpace],
      ["\\d", unicode.decimalDigits()],
    ] as const) {
      const text = textAbout(ours);
      expect(askedOf(engine, source, text)).toEqual(unicode.intersectionOf(ours, setIn(text)));
    }
  });
});

test("tiktoken has our \\w, on all code points", () => {
  expect(askedOf(tiktoken, "\\w")).toEqual(wordCharacters());
});

test("tiktoken has our case folding, on all code points", () => {
  // Asks for many classes at a time. The classes are numbered, and a query has the first member of each class whose
  // number has a certain bit set, or not set.
  const classes = unicode.caseClasses().map((members) => unicode.setOf(members));
  const text = textOf(unicode.unionOf(classes));
  for (let bit = 1; bit < classes.length; bit *= 2) {
    for (const isSet of [true, false]) {
      const chosen = classes.filter((__, number) => ((number & bit) !== 0) === isSet);
      const firsts = chosen.map(([first]) => `\\x{${first!.toString(16)}}`);
      const regex = `(?i:[${firsts.join("")}])`;
      expect(unicode.foldCase(unicode.unionOf(chosen.map(([first]) => [first!, first!])))).toEqual(
        unicode.unionOf(chosen),
      );
      expect(askedOf(tiktoken, regex, bit === 1 ? everyCharacter : text)).toEqual(unicode.unionOf(chosen));
    }
  }
  expect(classes.length).toBeGreaterThan(1000);
});

test.each([
  { type: "Digits", individual_digits: true },
  { type: "Punctuation", behavior: "Isolated" },
])("what HF's $type cuts is what we cut, on all code points, or at all edges in a quick look", (step) => {
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, use_regex: false };
  const { sources } = readPreTokenizer({ type: "Sequence", pretokenizers: [step, byteLevel] }, "");
  const tree = parsePattern(sources[0]!);
  if (tree.kind !== "set") throw new Error("one character is cut at a time");
  // The letter a, which is put between the characters, is not in the set. So a character that is not cut stays in one
  // piece with its neighbours, and only cut characters are pieces of their own.
  const asked = textAbout(tree.set);
  const text = Array.from(asked).join("a");
  const cut = preTokenize(step, text).filter((piece) => piece !== "a" && Array.from(piece).length === 1);
  expect(setIn(cut.join(""))).toEqual(unicode.intersectionOf(tree.set, setIn(asked)));
  expect(unicode.contains(tree.set, 0x61)).toBe(false);
});
