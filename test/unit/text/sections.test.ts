import { expect, test } from "bun:test";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import * as unicode from "../../../src/pattern/unicode.ts";
import { wordCharacters } from "../../../src/pattern/unicode.ts";
import * as cuttings from "../../../src/text/cutting.ts";
import { type AddedToken, type Cutting, sectionSettings } from "../../../src/text/cutting.ts";
import * as normalForms from "../../../src/text/normalization.ts";
import { TextSections, type TextSink } from "../../../src/text/text-sections.ts";
import { pick, type Random, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { naiveSections, type Section, type Segment } from "./naive-sections.ts";

const seed = Number(process.env.TEST_SEED ?? 61);
/** The number of settings. For more: `TEST_TRIALS=20000 node scripts/bun.mjs test test/unit/text/sections.test.ts`. */
const trialCount = Number(process.env.TEST_TRIALS ?? rounds(1500));
const plain = cuttings.plain(compiledPatterns.compile(patterns.none.sources));

/** Characters of texts and of added tokens. */
const characters = [
  ...[
    "a",
    "b",
    "A",
    "<",
    "m",
    ">",
    "|",
    " ",
    " ",
    "  ",
    "\n",
    "\t",
    "\r",
    "\u3000",
    "\u00a0",
    "\u2028",
    "_",
    "1",
  ],
  ...[
    "e",
    "\u0301",
    "\u0316",
    "é",
    "É",
    "ﬁ",
    "Ⅸ",
    "漢",
    "가",
    "\u1100",
    "\u1161",
    "\u11a8",
    "🙂",
    "Å",
    "\u212b",
  ],
  ...["aaaa", "<m>", "<mm>"],
];
const wrong = [[0xff], [0xc3], [0xe2, 0x80], [0xf0, 0x9f], [0xed, 0xa0, 0x80]];
const forms = [
  ...[null, null, "NFC", "NFD", "NFKC", "NFKD", "lowercase", "NFKC,lowercase", "NFD,lowercase,NFC"],
  "NFKD,NFC",
] as const;

const madeText = (random: Random, count: number) =>
  Array.from({ length: count }, () => pick(random, characters)).join("");

function madeCutting(random: Random): Cutting {
  const isSet = () => random(3) === 0;
  const token = (id: number, content: string): AddedToken => ({
    ...{ id, content, special: random(2) === 0, normalized: random(2) === 0 },
    ...{ lstrip: isSet(), rstrip: isSet(), singleWord: isSet() },
  });
  const contents = Array.from({ length: random(6) }, () =>
    madeText(random, 1 + random(random(8) === 0 ? 30 : 4)),
  );
  // Adds tokens with many different first bytes, for which the kernel searches in another way
  // (src/kernel/token-search.ts).
  if (random(20) === 0)
    for (const letter of "abcdefghijkl") contents.push(letter + madeText(random, random(3)));
  return {
    ...plain,
    normalization: pick(random, forms),
    addsPrefixSpace: isSet(),
    isLinewise: random(2) === 0,
    specialTokensAsText: isSet(),
    addedTokens: [...new Set(contents)].map((content, id) => token(id, content)),
  };
}

function madeBytes(random: Random, { addedTokens }: Cutting): Buffer {
  const part = () => {
    if (random(3) === 0 && addedTokens.length > 0) return Buffer.from(pick(random, addedTokens).content);
    return random(12) === 0 ? Buffer.from(pick(random, wrong)) : Buffer.from(madeText(random, 1 + random(4)));
  };
  return Buffer.concat(Array.from({ length: random(20) }, part));
}

/** Returns the sections of a text that arrives in pieces. */
function sectionsOf(
  sections: TextSections,
  text: Buffer,
  pieceSize: () => number,
  segments: readonly Segment[] = [{ end: text.length, isTrusted: true }],
): Section[] {
  const found: Section[] = [];
  let pushed = "";
  const latin1 = (bytes: Uint8Array, start: number, end: number) =>
    Buffer.from(bytes.slice(start, end)).toString("latin1");
  const sink: TextSink = {
    push: (bytes, start, end) => void (pushed += latin1(bytes, start, end)),
    end: () => {
      found.push(pushed);
      pushed = "";
    },
    token: (id, bytes, start, end) => void found.push({ id, text: latin1(bytes, start, end) }),
    strip: (bytes, start, end) => {
      const { id, text } = found.pop() as Exclude<Section, string>;
      found.push({ id, text: text + latin1(bytes, start, end) });
    },
  };
  let pos = 0;
  for (const [i, segment] of segments.entries()) {
    if (i > 0) sections.endSegment(!segment.isTrusted);
    while (pos < segment.end) {
      const end = Math.min(segment.end, pos + pieceSize());
      sections.push(text, pos, end, sink);
      pos = end;
    }
  }
  sections.end(sink);
  expect(pushed).toBe("");
  return found;
}

test(`the sections of a text are those of its steps, however it arrives: ${trialCount} settings`, () => {
  for (let trial = 0; trial < trialCount; trial++) {
    const random = randomNumbers(seed * 1_000_003 + trial);
    const cutting = madeCutting(random);
    // Here, tokens may become equal by normalization. Only the reader of a tokenizer refuses such tokens.
    const sections = new TextSections(sectionSettings(cutting));
    for (let round = 0; round < 4; round++) {
      const text = madeBytes(random, cutting);
      const asText = round % 2 === 0 ? (cutting.specialTokensAsText ?? false) : random(2) === 0;
      sections.open(asText);
      const most = pick(random, [1, 16, 1000]);
      const found = sectionsOf(sections, text, () => 1 + random(most));
      const wanted = naiveSections({ ...cutting, specialTokensAsText: asText }, text);
      if (Bun.deepEquals(found, wanted)) continue;
      const about = {
        seed,
        trial,
        round,
        text: text.toString("latin1"),
        asText,
        cutting: { ...cutting, pattern: 0 },
      };
      expect({ ...about, found }).toEqual({ ...about, found: wanted });
    }
  }
}, 600_000);

/** Cuts a text into random segments, some of which are trusted. */
function madeSegments(random: Random, text: Buffer) {
  const ends = Array.from({ length: random(5) }, () => random(text.length + 1)).toSorted((a, b) => a - b);
  return [...ends, text.length].map((end) => ({ end, isTrusted: random(2) === 0 }));
}

test(`added tokens are found within segments, special ones only in trusted ones: ${trialCount} settings`, () => {
  for (let trial = 0; trial < trialCount; trial++) {
    const random = randomNumbers(seed * 1_000_033 + trial);
    const cutting = madeCutting(random);
    const sections = new TextSections(sectionSettings(cutting));
    for (let round = 0; round < 4; round++) {
      // The text has no ASCII capitals. Normalization would lower a capital in a part with bytes of several segments,
      // and the part could then become one segment, as in the naive code, or stay several.
      const text = Buffer.from(normalForms.loweredAscii(madeBytes(random, cutting)));
      const segments = madeSegments(random, text);
      sections.open(!segments[0]!.isTrusted, false, true);
      const most = pick(random, [1, 16, 1000]);
      const found = sectionsOf(sections, text, () => 1 + random(most), segments);
      const wanted = naiveSections(cutting, text, segments);
      if (Bun.deepEquals(found, wanted)) continue;
      const about = { seed, trial, round, text: text.toString("latin1"), segments };
      expect({ ...about, found }).toEqual({ ...about, found: wanted });
    }
  }
}, 600_000);

test("white space and word characters are exactly those of Unicode", () => {
  const characters = Array.from({ length: 0x110000 }, (_, codePoint) => codePoint).filter(
    (codePoint) =>
      (codePoint < 0xd800 || codePoint > 0xdfff) && (codePoint < 0x30000 || codePoint % 0x101 === 0),
  );
  const found = (flags: Partial<AddedToken>, text: (character: string) => string): string[] => {
    const token = { id: 0, content: "<m>", special: true, normalized: false, ...flags };
    const addedTokens = [{ lstrip: false, rstrip: false, singleWord: false, ...token }];
    const sections = new TextSections(sectionSettings({ ...plain, addedTokens }));
    const all = characters.map((codePoint) => text(String.fromCodePoint(codePoint))).join("");
    const tokens = sectionsOf(sections, Buffer.from(all), () => 1 << 16).filter(
      (part) => typeof part !== "string",
    );
    return tokens.map((part) => Buffer.from(part.text, "latin1").toString());
  };
  const wanted = (set: unicode.CodePointSet, spelled: (character: string, isIn: boolean) => string) =>
    characters
      .map((codePoint) => spelled(String.fromCodePoint(codePoint), unicode.contains(set, codePoint)))
      .filter((part) => part !== "");
  expect(found({ lstrip: true }, (character) => `x${character}<m>`)).toEqual(
    wanted(unicode.whiteSpace, (character, isIn) => (isIn ? `${character}<m>` : "<m>")),
  );
  expect(found({ rstrip: true }, (character) => `<m>${character}x`)).toEqual(
    wanted(unicode.whiteSpace, (character, isIn) => (isIn ? `<m>${character}` : "<m>")),
  );
  for (const text of [(character: string) => ` ${character}<m> `, (character: string) => ` <m>${character} `])
    expect(found({ singleWord: true }, text)).toEqual(
      wanted(wordCharacters(), (_, isIn) => (isIn ? "" : "<m>")),
    );
});
