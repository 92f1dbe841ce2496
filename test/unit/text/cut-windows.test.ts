import { expect, test } from "bun:test";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import * as cuttings from "../../../src/text/cutting.ts";
import { type AddedToken, type Cutting, sectionSettings } from "../../../src/text/cutting.ts";
import { TextSections, type TextSink } from "../../../src/text/text-sections.ts";
import { pick, type Random, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { pieces } from "./made-trials.ts";
import type { Section } from "./naive-sections.ts";

const seed = Number(process.env.TEST_SEED ?? 83);
const plain = cuttings.plain(compiledPatterns.compile(patterns.none.sources));
const forms = [null, "NFC", "NFC", "NFD", "NFKC", "NFKD", "lowercase", "NFKC,lowercase", "NFKD,NFC"] as const;
const hard = [
  ...[
    "\u0301",
    "\u0301".repeat(30),
    "\u0316\u0301",
    "\u11a8",
    "\u1161",
    "가",
    "각",
    "a\u0316\u0301",
    "क्",
    "\u0344",
  ],
  ...[" ".repeat(20), "\u3000".repeat(9), "\n", "A", "𝐀", "\u212a", "ﷺ", "a", "b", "c", "<m>", "<m", ">"],
];
const wrong = [[0xff], [0xc3], [0xe2, 0x80], [0x80], [0xf0, 0x9f]];
const encoder = new TextEncoder();

const madeText = (random: Random, most: number, contents: readonly string[] = []) =>
  Buffer.concat(
    Array.from({ length: random(most + 1) }, () => {
      const kind = random(12);
      if (kind === 0) return Buffer.from(pick(random, wrong));
      const [content] =
        kind < 3 && contents.length > 0 ? [pick(random, contents)] : [pick(random, kind < 8 ? hard : pieces)];
      return Buffer.from(kind === 1 ? content.slice(0, random(content.length + 1)) : content);
    }),
  );

function madeCutting(random: Random): { cutting: Cutting; contents: string[] } {
  const isSet = () => random(4) === 0;
  const contents = Array.from({ length: random(4) }, () =>
    Array.from({ length: 1 + random(3) }, () =>
      pick(random, ["<m>", "a", "é", "e\u0301", "\u0301", " ", "한", "ﬁ", "|"]),
    ).join(""),
  );
  const addedTokens = contents.map(
    (content, id): AddedToken => ({
      ...{ id, content, special: random(2) === 0, normalized: random(2) === 0 },
      ...{ lstrip: isSet(), rstrip: isSet(), singleWord: isSet() },
    }),
  );
  const addsPrefixSpace = random(3) === 0;
  return {
    cutting: {
      ...plain,
      addedTokens,
      normalization: pick(random, forms),
      addsPrefixSpace,
      ...(addsPrefixSpace && random(2) === 0 && { prefixRule: "every section" as const }),
      isLinewise: addsPrefixSpace && random(8) === 0,
    },
    contents,
  };
}

/**
 * Returns the sections of a text. With `continues`, the text comes after a cut; without `ends`, it comes before one.
 */
function sectionsOf(
  sections: TextSections,
  text: Buffer,
  { asText = false, continues = false, ends = true },
): Section[] {
  const found: Section[] = [];
  let open = "";
  const latin1 = (bytes: Uint8Array, start: number, end: number) =>
    Buffer.from(bytes.subarray(start, end)).toString("latin1");
  const end = () => {
    if (open !== "") found.push(open);
    open = "";
  };
  const sink: TextSink = {
    push: (bytes, start, stop) => void (open += latin1(bytes, start, stop)),
    end,
    token: (id, bytes, start, stop) => void found.push({ id, text: latin1(bytes, start, stop) }),
    strip: (bytes, start, stop) => {
      const last = found.at(-1) as { id: number; text: string };
      found[found.length - 1] = { ...last, text: last.text + latin1(bytes, start, stop) };
    },
  };
  sections.kernel.exports.openText(Number(asText) | (continues ? 8 : 0));
  sections.push(text, 0, text.length, sink);
  sections.end(sink, !ends);
  end();
  return found;
}

/**
 * Returns the text in normalized form (a window of src/kernel/text/cut-windows.ts), and the possible cuts: `at` is a
 * cut's offset in the normalized form, `position` its offset in the text.
 */
function windowOf({ kernel }: TextSections, text: Uint8Array, startsText: boolean) {
  const { exports, memory } = kernel;
  const address = exports.windowAddress(text.length) >>> 0;
  new Uint8Array(memory.buffer, address, text.length).set(text);
  expect([address > 0, exports.makeWindow(text.length, Number(startsText))]).toEqual([true, 1]);
  const pairs = (at: number, count: number) => new Uint32Array(memory.buffer, at >>> 0, 2 * count);
  const bytes = Buffer.from(
    new Uint8Array(memory.buffer, exports.madeWindowAddress() >>> 0, exports.madeWindowBytes()),
  );
  const isFree = new Uint8Array(bytes.length).fill(1);
  for (const list of [
    pairs(exports.holesAddress(), exports.holeCount()),
    pairs(exports.barredAddress(), exports.barredCount()),
  ])
    for (let i = 0; i < list.length; i += 2) isFree.fill(0, list[i]!, Math.min(list[i + 1]!, bytes.length));
  const cuts = [...bytes.keys()].filter((at) => at > 0 && isFree[at] === 1 && (bytes[at]! & 0xc0) !== 0x80);
  return { bytes, cuts: cuts.map((at) => ({ at, position: exports.givenPosition(at) })) };
}

const joined = (left: readonly Section[], right: readonly Section[]): Section[] => {
  const [last, first] = [left.at(-1), right[0]];
  if (typeof last !== "string" || typeof first !== "string") return [...left, ...right];
  return [...left.slice(0, -1), last + first, ...right.slice(1)];
};

test("a text may be cut at positions of a window, whatever surrounds the part that decides about them", () => {
  let [cutCount, changedCount, tokenCount] = [0, 0, 0];
  for (let round = 0; round < rounds(3000); round++) {
    const random = randomNumbers(seed * 1_000_003 + round);
    const { cutting, contents } = madeCutting(random);
    const sections = new TextSections(sectionSettings(cutting));
    const { exports, memory } = sections.kernel;
    const reach = exports.windowReach();
    const startsText = random(3) === 0;
    // The window may begin inside a token.
    const content = Buffer.from(pick(random, ["", "", ...contents]));
    const given = Buffer.concat([
      content.subarray(random(content.length + 1)),
      madeText(random, 30, contents),
    ]);
    const { bytes, cuts } = windowOf(sections, given, startsText);
    for (const { at, position } of random(2) === 0 ? cuts.slice(-3) : cuts) {
      if (random(3) !== 0) continue;
      if (position + reach > given.length) continue;
      // Neither the text before the window nor the text from `reach` bytes after the cut on may matter, so both are
      // made up.
      const before = startsText
        ? []
        : [madeText(random, 4, contents), content.subarray(0, random(content.length + 1))];
      const left = Buffer.concat([...before, given.subarray(0, position)]);
      const right = Buffer.concat([
        given.subarray(position, position + reach),
        madeText(random, 4, contents),
      ]);
      const asText = random(4) === 0;
      const whole = sectionsOf(sections, Buffer.concat([left, right]), { asText });
      const first = sectionsOf(sections, left, { asText, ends: false });
      const second = sectionsOf(sections, right, { asText, continues: left.length > 0 });
      const about = {
        seed,
        round,
        at,
        position,
        cutting: { ...cutting, pattern: "" },
        left: left.toString("latin1"),
        right: right.toString("latin1"),
      };
      expect({ ...about, sections: joined(first, second) }).toEqual({ ...about, sections: whole });
      // `makeFollowing` gets only the text after the cut. Its result must begin with the character that follows the cut
      // in the window.
      new Uint8Array(memory.buffer, exports.windowAddress(right.length) >>> 0, right.length).set(right);
      const size = exports.makeFollowing(right.length);
      const following = Buffer.from(new Uint8Array(memory.buffer, exports.followingAddress() >>> 0, size));
      const character = Buffer.from([...bytes.subarray(at).toString()][0]!);
      if (!character.equals(encoder.encode("\ufffd")))
        expect({ ...about, following: following.subarray(0, character.length) }).toEqual({
          ...about,
          following: character,
        });
      cutCount++;
      if (whole.some((section) => typeof section !== "string")) tokenCount++;
      if (!bytes.equals(given)) changedCount++;
    }
  }
  expect([cutCount > rounds(1000), changedCount > rounds(300), tokenCount > rounds(200)]).toEqual([
    true,
    true,
    true,
  ]);
});
