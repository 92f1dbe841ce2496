import { expect, test } from "bun:test";
import { cutText } from "../../../src/pattern/cut-text.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import type { Cutting } from "../../../src/text/cutting.ts";
import * as cuttings from "../../../src/text/cutting.ts";
import * as textPieces from "../../../src/text/text-pieces.ts";
import { pick, type Random, randomNumbers } from "../../random.ts";

const pattern = compiledPatterns.compile(["'s| ?\\p{L}+| ?[^\\s\\p{L}]+|\\s+(?!\\S)|\\s+"]);
const contents = ["<s>", "<s>>", "é", "a b", "ﬁ", " ", "\n", "e\u0301", "A"];
const parts = [
  "<s>",
  "é",
  "e\u0301",
  "a b",
  "ﬁ",
  "A",
  "word",
  "'s",
  " ",
  "  ",
  "\n",
  "\t",
  "\0",
  "\x85",
  "\u200b",
  "\ufeff",
  "\\x0a",
  "😀",
];

const spelled = (pieces: readonly Uint8Array[]) =>
  pieces.map((piece) => Buffer.from(piece).toString("latin1"));

function randomCutting(random: Random): Cutting {
  const isSet = () => random(3) === 0;
  return {
    ...cuttings.plain(pattern),
    normalization: isSet() ? pick(random, ["NFC", "NFKC,lowercase", "NFD"] as const) : null,
    addsPrefixSpace: isSet(),
    isLinewise: isSet(),
    addedTokens: contents.filter(isSet).map((content, id) => ({
      ...{ content, id, special: true, normalized: isSet() },
      ...{ lstrip: isSet(), rstrip: isSet(), singleWord: isSet() },
    })),
  };
}

test("the pieces are the pretokens that encoding merges, with added tokens verbatim", () => {
  const random = randomNumbers(5);
  for (let i = 0; i < 3000; i++) {
    const cutting = randomCutting(random);
    const text = Buffer.from(Array.from({ length: random(12) }, () => pick(random, parts)).join(""));
    if (random(4) === 0 && text.length > 0) text[random(text.length)] = random(256);
    const pieces = textPieces.of(cutting, text);
    // A token's piece includes the white space that the token strips, so all pieces together are the text.
    if (cutting.normalization === null && !cutting.addsPrefixSpace)
      expect({ i, joined: Buffer.concat(pieces) }).toEqual({ i, joined: Buffer.from(text) });
    const twin = textPieces
      .sectionsOf(cutting, text)
      .map((section) =>
        section.id !== undefined
          ? section.id
          : cutText(cutting.pattern, section.bytes).map((end, k, ends) =>
              section.bytes.subarray(ends[k - 1] ?? 0, end),
            ),
      );
    const found = spelled(pieces);
    for (const section of twin) {
      if (typeof section === "number") found.shift();
      else expect({ i, found: found.splice(0, section.length) }).toEqual({ i, found: spelled(section) });
    }
    expect(found).toEqual([]);
  }
});

test("changes by a step are visible in the pieces", () => {
  const cut = (text: string, more: Partial<Cutting>) =>
    textPieces.of({ ...cuttings.plain(pattern, ["<s>"]), ...more }, Buffer.from(text)).map(String);
  expect(cut("ﬁ A<s> Ⅸ\n", { normalization: "NFKC,lowercase" })).toEqual(["fi", " a", "<s>", " ix", "\n"]);
  expect(cut("a<s>b", { addsPrefixSpace: true })).toEqual([" a", "<s>", " b"]);
  const mask = { id: 0, content: "<m>", special: true, normalized: false, singleWord: false };
  const strips = (lstrip: boolean, rstrip: boolean) => ({ addedTokens: [{ ...mask, lstrip, rstrip }] });
  expect(cut("a  <m> \n b", strips(true, true))).toEqual(["a", "  <m> \n ", "b"]);
  expect(cut("a  <m> \n b", strips(false, true))).toEqual(["a", "  ", "<m> \n ", "b"]);
  expect(cut("", {})).toEqual([]);
});
