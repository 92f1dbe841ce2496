import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer as HuggingFace } from "tokenizers";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import * as cuttings from "../../../src/text/cutting.ts";
import { type AddedToken, plainSpecial, sectionSettings } from "../../../src/text/cutting.ts";
import { TextSections } from "../../../src/text/text-sections.ts";
import { TextEncoding } from "../../../src/tokenizer/text-encoding.ts";
import { scratch } from "../../binary.ts";
import { rounds } from "../../rounds.ts";
import {
  bothOf,
  huggingFaceIds,
  jsonOf,
  specialTokens,
  type TokenizerJson,
  writeTokenizer,
} from "../tokenizer/made-tokenizer.ts";
import { madeTrial } from "./made-trials.ts";

const seed = Number(process.env.TEST_SEED ?? 23);
/**
 * The number of random tokenizers. For more: `TEST_TRIALS=20000 node scripts/bun.mjs test
 * test/unit/text/added-tokens.test.ts`.
 */
const trialCount = Number(process.env.TEST_TRIALS ?? rounds(75));

async function load<T>(make: () => T | Promise<T>): Promise<T | Error> {
  try {
    return await make();
  } catch (error) {
    return error as Error;
  }
}

/** Returns the ids of a text that is pushed in pieces of this size. */
function encodeInPieces(encoding: TextEncoding, text: string, pieceBytes: number): number[] {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += pieceBytes)
    encoding.push(bytes, start, Math.min(bytes.length, start + pieceBytes));
  encoding.end();
  return [...encoding.out.flush()];
}

const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };

type Change = (json: TokenizerJson) => void;

function jsonWith(added: Record<string, unknown>[], change: Change = () => {}): TokenizerJson {
  const json = jsonOf(writeTokenizer("gpt2"));
  for (const content of specialTokens) delete json.model.vocab[content];
  json.added_tokens = added.map((token, i) => ({ id: 556 + i, ...flags, ...token }));
  change(json);
  return json;
}

test("an added token of one character after white space that rstrip strips is found at the end", async () => {
  const { theirs, ours } = await bothOf(jsonWith([{ content: "<A>", rstrip: true }, { content: "Ⅷ" }]));
  for (const text of ["<A>Ⅷ", "<A> Ⅷ", "<A>\u3000Ⅷ", "Ⅷ<A>\u3000"])
    expect([...ours.encode(text)]).toEqual(await huggingFaceIds(theirs, text));
  expect([...ours.encode("<A>Ⅷ")]).toEqual([556, 557]);
});

test("the ids of added tokens are HF's, whatever the file contains", async () => {
  const added = [
    { content: "the", id: 5 },
    { content: "<A>", id: 1000 },
    { content: "<B>", id: 3 },
    { content: "<A>", id: 7, lstrip: true },
  ];
  const { theirs, ours } = await bothOf(jsonWith(added));
  for (const text of ["<A><B>the", " <A> <B> the"])
    expect([...ours.encode(text)]).toEqual(await huggingFaceIds(theirs, text));
  expect([...ours.encode("<A><B>")]).toEqual([556, 557]);
  expect(ours.notes).toEqual([
    expect.stringMatching(
      /^added tokens get the ids that HF gives them, not those of the file: "the" is \d+, not 5, and 3 more differ$/,
    ),
  ]);
});

test("added tokens that HF confuses, or does not read, are refused by name", async () => {
  const refusals: [
    added: Record<string, unknown>[],
    message: string,
    change?: (json: TokenizerJson) => void,
  ][] = [
    [
      [
        { content: "Å", normalized: true },
        { content: "\u212b", normalized: true },
      ],
      'its normalizer turns the added tokens "Å" and "\u212b" into the same text',
      (json) => (json.normalizer = { type: "NFC" }),
    ],
    [
      [{ content: "<A>", rstrip: true }, { content: "\n\n" }],
      'the added token "\\n\\n" begins with white space, which "<A>" strips (rstrip)',
    ],
    [
      [{ content: "<B>" }, { content: "<A>" }],
      'the added tokens "<B>" and "<A>" have the same id, 557',
      (json) => (json.model.vocab["<B>"] = 557),
    ],
    [[{ content: "<A>", normalized: undefined }], '"normalized" of the added token "<A>" is missing'],
  ];
  const path = join(scratch(), "tokenizer.json");
  for (const [added, message, change] of refusals) {
    writeFileSync(path, JSON.stringify(jsonWith(added, change)));
    await expect(Tokenizer.load(path)).rejects.toThrow(message);
  }
});

/**
 * Returns how much is read backwards, divided by the size of the text: the bytes that are read to find tokens, plus the
 * characters that are read to find white space.
 */
function readsOf(tokens: readonly Partial<AddedToken>[], text: Buffer, pieceBytes: number): number {
  const addedTokens = tokens.map((token, id) => ({ id, content: "", ...plainSpecial, ...token }));
  const sections = new TextSections(
    sectionSettings({ ...cuttings.plain(compiledPatterns.compile([])), addedTokens, addsPrefixSpace: false }),
  );
  const sink = { push() {}, end() {}, token() {}, strip() {} };
  for (let pos = 0; pos < text.length; pos += pieceBytes)
    sections.push(text, pos, Math.min(text.length, pos + pieceBytes), sink);
  sections.end(sink);
  return sections.kernel.exports.readBytes() / text.length;
}

test("white space that a token strips before it is read once", () => {
  const spaces = Buffer.alloc(rounds(100_000), " ");
  const tokens = (contents: readonly string[]) => contents.map((content) => ({ content, lstrip: true }));
  for (const contents of [["  <m>"], ["  <m>", " <n>"], ["<m>"]])
    expect(readsOf(tokens(contents), spaces, 64)).toBeLessThan(8);
});

test("no byte is read more than a few times to find added tokens, however long they are", () => {
  const size = rounds(1 << 18);
  const added = [
    [`${"a".repeat(10_000)}b`],
    [`${"a".repeat(10_000)}b`, "a", "aa"],
    [`${"ab".repeat(5000)}c`, "b"],
    Array.from({ length: 300 }, (_, i) => `${"a".repeat(i)}b`),
    Array.from({ length: 300 }, (_, i) => `<|reserved_special_token_of_this_model_${i}|>`),
  ];
  for (const contents of added) {
    const tokens = contents.map((content) => ({ content }));
    for (const run of ["a", "ab", `${"a".repeat(999)}c`, contents.at(-1)!.slice(0, -1)])
      for (const pieceBytes of [16, 5000])
        expect(readsOf(tokens, Buffer.alloc(size, run), pieceBytes)).toBeLessThan(8);
  }
});

test("a content that any of its entries calls special stays text where special tokens do", async () => {
  const { ours: without } = await bothOf(jsonWith([]));
  for (const specials of [
    [true, false],
    [false, true],
  ]) {
    const added = specials.map((special) => ({ content: "<A>", id: 556, special }));
    const { ours } = await bothOf(jsonWith(added));
    expect([...ours.encode("<A>")]).toEqual([556]);
    expect([...ours.encode("<A>", { specialTokensAsText: true })]).toEqual([...without.encode("<A>")]);
  }
});

test(`added tokens of any kind are found like in HF, or refused: ${trialCount} tokenizers`, async () => {
  const base = jsonOf(writeTokenizer("gpt2"));
  for (const { content } of base.added_tokens) delete base.model.vocab[content as string];
  const path = join(scratch(), "tokenizer.json");
  const counts = { equal: 0, refused: 0, unreadable: 0 };
  const refusals: Record<string, number> = {};
  for (let trial = 0; trial < trialCount; trial++) {
    const { json, texts } = madeTrial(base, seed * 1_000_003 + trial);
    const source = JSON.stringify(json);
    writeFileSync(path, source);
    const theirs = await load(() => HuggingFace.fromString(source));
    const ours = await load(() => Tokenizer.load(path));
    const about = { seed, trial, added: json.added_tokens, normalizer: json.normalizer };
    if (ours instanceof Error) {
      expect(ours).toBeInstanceOf(UserError);
      const why = ours.message
        .replace(path, "")
        .replace(/"[^"]*"/g, '"…"')
        .replace(/\d+/g, "N");
      refusals[why] = (refusals[why] ?? 0) + 1;
      counts[theirs instanceof Error ? "unreadable" : "refused"]++;
      continue;
    }
    if (theirs instanceof Error) expect({ ...about, theirs: theirs.message }).toBeNull();
    const encoding = new TextEncoding(ours.parts);
    for (const text of texts) {
      const ids = [...ours.encode(text)];
      const expected = await huggingFaceIds(theirs as HuggingFace, text);
      if (!Bun.deepEquals(ids, expected))
        expect({ ...about, text, ids }).toEqual({ ...about, text, ids: expected });
      const inPieces = encodeInPieces(encoding, text, 1 + (trial % 5));
      if (!Bun.deepEquals(ids, inPieces))
        expect({ ...about, text, inPieces }).toEqual({ ...about, text, inPieces: ids });
    }
    counts.equal++;
  }
  if (process.env.TEST_TRIALS !== undefined) console.log(counts, refusals);
  expect(counts.equal).toBeGreaterThan(trialCount / 2);
}, 600_000);
