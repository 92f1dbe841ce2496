import { expect, test } from "bun:test";
import fc from "fast-check";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import { assembleTokens, checkIds, scanParsed } from "../../../src/formats/assemble-model.ts";
import {
  type ScannedModel,
  scanFrame,
  scanGpt2,
  scanTokenizerJson,
} from "../../../src/formats/scan-tokenizer-json.ts";
import { plainSpecial } from "../../../src/text/cutting.ts";
import * as tokenTables from "../../../src/tokenizer/token-table.ts";
import { rounds } from "../../rounds.ts";
import { errorOf } from "../../thrown.ts";

type Model = { vocab: Record<string, number>; merges: (string | [string, string])[] };

/** A naive twin of `scanTokenizerJson` that uses JSON.parse. */
function readNaively(text: string): ReturnType<typeof scan> {
  const root = JSON.parse(text) as { model: Model };
  const { vocab, merges } = root.model;
  const ids = new Map(Object.entries(vocab));
  const halves = merges.map((merge) => (typeof merge === "string" ? merge.split(" ") : merge));
  return {
    root: { ...root, model: { ...root.model, vocab: {}, merges: [] } },
    vocab: ids,
    left: halves.map(([left]) => ids.get(left!)!),
    right: halves.map(([, right]) => ids.get(right!)!),
    merged: halves.map((parts) => ids.get(parts.join(""))!),
  };
}

function scan(text: string) {
  const bytes = new TextEncoder().encode(text);
  const scanned = scanTokenizerJson(bytes);
  if (scanned !== null) expect(scanFrame(bytes)).toEqual(scanned.root);
  return scanned && { root: scanned.root, ...readable(scanned) };
}

function readable({ vocab, merges }: ScannedModel) {
  return {
    vocab: new Map(vocab),
    left: [...merges.left],
    right: [...merges.right],
    merged: [...merges.merged],
  };
}

const character = fc.constantFrom(
  "a",
  "b",
  "Ġ",
  "é",
  "漢",
  '"',
  "\\",
  "/",
  "{",
  "]",
  ",",
  ":",
  "\u0001",
  "😀",
);
const token = fc.string({ unit: character, minLength: 1, maxLength: 4 });
/** Returns a UTF-16 code unit as \uXXXX. Its hexadecimal digits are upper-case for é, otherwise lower-case. */
function escaped(character: string): string {
  const hex = character.charCodeAt(0).toString(16).padStart(4, "0");
  return `\\u${character === "é" ? hex.toUpperCase() : hex}`;
}

const added = { id: 7, content: '<|"]}|>', special: true };

/** Texts of a tokenizer.json in which every merge uses and produces tokens of the vocabulary. */
const tokenizerText = fc
  .record({
    tokens: fc.array(token, { minLength: 2, maxLength: 12 }),
    pairs: fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 8 }),
    asStrings: fc.boolean(),
    indent: fc.constantFrom(0, 1, "\t"),
    isEscaped: fc.boolean(),
  })
  .map(({ tokens, pairs, asStrings, indent, isEscaped }) => {
    const merges = pairs.map(([i, j]): [string, string] => [
      tokens[i % tokens.length]!,
      tokens[j % tokens.length]!,
    ]);
    const texts = new Set([...tokens, ...merges.map((merge) => merge.join(""))]);
    const vocab = Object.fromEntries(Array.from(texts, (text, i) => [text, 250 + i]));
    const model = {
      type: "BPE",
      unk_token: null,
      vocab,
      merges: asStrings ? merges.map((m) => m.join(" ")) : merges,
    };
    const text = JSON.stringify(
      { version: "1.0", added_tokens: [added], model, normalizer: null },
      null,
      indent,
    );
    return isEscaped ? text.replaceAll(/[^\0-\x7f]|a/g, escaped).replaceAll("/", "\\/") : text;
  });

test("vocabulary and merges are those of JSON.parse, in both forms, escaped or not, with any white space", () => {
  fc.assert(fc.property(tokenizerText, (text) => expect(scan(text)).toEqual(readNaively(text))));
});

test("with any byte changed, the scan finds nothing, or the same as JSON.parse", () => {
  const put = fc.constantFrom(
    '"',
    "\\",
    ",",
    ":",
    "{",
    "}",
    "[",
    "]",
    "0",
    "1",
    "-",
    ".",
    "a",
    " ",
    "\n",
    "",
  );
  fc.assert(
    fc.property(tokenizerText, fc.nat(), put, (text, at, replacement) => {
      const pos = at % text.length;
      const changed = (text.slice(0, pos) + replacement + text.slice(pos + 1)).toWellFormed();
      const scanned = scan(changed);
      if (scanned !== null) expect(readNaively(changed)).toEqual(scanned);
    }),
    { numRuns: rounds(2000) },
  );
});

/** Texts of a vocab.json and a merges.txt in GPT-2's form, with the model that they store. */
const gpt2Files = tokenizerText.map((text) => {
  const { model } = JSON.parse(text) as { model: Model };
  const lines = model.merges.map((merge) => (typeof merge === "string" ? merge : merge.join(" ")));
  return { vocab: JSON.stringify(model.vocab), merges: `#version: 0.2\n${lines.join("\n")}\n`, model };
});

const scanPair = (vocab: string, merges: string) => scanGpt2(Buffer.from(vocab), Buffer.from(merges));

test("GPT-2's pair of files has the same vocabulary and merges, with and without the first line", () => {
  const property = fc.property(gpt2Files, fc.boolean(), ({ vocab, merges, model }, hasHead) => {
    const scanned = scanPair(vocab, hasHead ? merges : merges.slice(merges.indexOf("\n") + 1));
    // The scan leaves lines with control characters to the slower reader.
    if (merges.includes("\u0001")) return expect(scanned).toBeNull();
    const expected = readNaively(JSON.stringify({ model }));
    expect(new Map(scanned!.vocab)).toEqual(expected!.vocab);
    expect([...scanned!.merges.left]).toEqual(expected!.left);
    expect([...scanned!.merges.right]).toEqual(expected!.right);
    expect([...scanned!.merges.merged]).toEqual(expected!.merged);
  });
  fc.assert(property);
});

test("an unusual pair of files is left to the readers of JSON and lines", () => {
  const [vocab, merges] = ['{"a":0,"b":1,"ab":2}', "a b\n"] as const;
  const [scanned, head] = [scanPair(vocab, merges), scanPair(` ${vocab}\n`, `#version: 0.2\n`)];
  expect(scanned?.merges.merged).toEqual(Int32Array.of(2));
  expect([...scanned!.vocab.withIds(new Set([0, 2]))]).toEqual([
    ["a", 0],
    ["ab", 2],
  ]);
  expect([...scanned!.vocab.tokensWithoutMerge()]).toEqual([
    ["a", 0],
    ["b", 1],
  ]);
  // Two tokens may share an id. A merge makes only the one whose text is that of its two parts: "ab", and not "b".
  const twins = scanPair('{"a":0,"b":1,"ab":1,"c":2,"x":2}', "a b\na b\n");
  expect([...twins!.vocab.tokensWithoutMerge()].map(([token]) => token)).toEqual(["a", "b", "c", "x"]);
  expect(head?.merges.merged).toEqual(new Int32Array(0));
  for (const other of ['{"a":0,"b":1,"a":2}', "{}", `${vocab}x`, '{"a":0,"b":1}'])
    expect([other, scanPair(other, merges)]).toEqual([other, null]);
  for (const other of ["a b", "a b\r\n", "a b\n\n", "a\n", "a b b\n", "a c\n", "b a\n", "# b\n", "#version"])
    expect([other, scanPair(vocab, other)]).toEqual([other, null]);
  expect(scanGpt2(Uint8Array.of(0xff), Buffer.from(merges))).toBeNull();
  expect(scanGpt2(Buffer.from(vocab), Uint8Array.of(0x61, 0x20, 0xff, 0x0a))).toBeNull();
});

/** A naive twin of `assembleTokens`. */
function tokensNaively(vocab: Iterable<readonly [string, number]>, specials: readonly [number, string][]) {
  const tokens = Array.from(
    vocab,
    ([text, id]) => [id, byteCharacters.decode(text) ?? Buffer.from(text)] as const,
  );
  const raw = Array.from(vocab).filter(([text]) => byteCharacters.decode(text) === null);
  const table = tokenTables.build([
    ...tokens,
    ...specials.map(([id, text]) => [id, Buffer.from(text)] as const),
  ]);
  return { ...table, rawIds: new Set(raw.map(([, id]) => id)) };
}

test("a scanned vocabulary gives the bytes of each id, and the ids of tokens that are not bytes", () => {
  const wide = fc.string({
    unit: fc.constantFrom("a", "Ġ", "ń", "Ń", "ń", "\u0144", "é", "漢", "ċ", "😀", "\u00ad"),
  });
  const entries = fc.uniqueArray(fc.tuple(wide, fc.nat(9)), { selector: ([text]) => text, minLength: 1 });
  fc.assert(
    fc.property(entries, (pairs) => {
      const object = Object.fromEntries(pairs);
      const vocab = { ...object, x: 20, y: 21, xy: 22 };
      const text = JSON.stringify({ model: { vocab, merges: ["x y"] } });
      const scanned = scanTokenizerJson(Buffer.from(text))!;
      const made = assembleTokens(scanned.vocab, [{ id: 3, content: "<é>", ...plainSpecial }]);
      const { idLimit, tokenCount, bytes, starts, rawIds } = made;
      expect({ idLimit, tokenCount, bytes, starts, rawIds }).toEqual(
        tokensNaively(Object.entries(vocab), [[3, "<é>"]]),
      );
    }),
  );
});

/** A file whose model has lists nested to level `count`. */
const levels = (count: number) =>
  `{"model":{"vocab":{"a":0},"merges":[],"x":${"[".repeat(count - 2)}${"]".repeat(count - 2)}}}`;

test("unusual content is left to JSON.parse", () => {
  const unusual = {
    "no vocabulary": '{"model":{"vocab":{},"merges":["a b"]}}',
    "merges first": '{"model":{"merges":["a b"],"vocab":{"a":0,"b":1,"ab":2}}}',
    "a token twice": '{"model":{"vocab":{"a":0,"b":1,"ab":2,"a":3},"merges":["a b"]}}',
    "a model twice": '{"model":{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]},"model":{}}',
    "a merge of three": '{"model":{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b "]}}',
    "an id that is not a whole number": '{"model":{"vocab":{"a":0,"b":1.0,"ab":2},"merges":["a b"]}}',
    "an id too large": '{"model":{"vocab":{"a":0,"b":16777216,"ab":2},"merges":["a b"]}}',
    "an unknown token": '{"model":{"vocab":{"a":0,"b":1,"ab":2},"merges":["a c"]}}',
    "half a surrogate pair": '{"model":{"vocab":{"a":0,"b":1,"ab":2,"\\ud800":3},"merges":["a b"]}}',
    "a byte-order mark": '\ufeff{"model":{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}',
    "text after it": '{"model":{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}} x',
    "128 levels": levels(128),
  };
  expect(scan(levels(127))).not.toBeNull();
  for (const [what, text] of Object.entries(unusual)) expect([what, scan(text)]).toEqual([what, null]);
  expect(scanTokenizerJson(Uint8Array.of(0x7b, 0xff, 0x7d))).toBeNull();
});

test("no merges, or no tokens, are accepted", () => {
  for (const model of [
    { vocab: {}, merges: [] },
    { vocab: { a: 0 }, merges: [] },
  ]) {
    for (const indent of [0, 2]) {
      const text = JSON.stringify({ model }, null, indent);
      expect(scan(text)).toEqual(readNaively(text));
    }
  }
  expect(readable(scanPair("{ }", "#version: 0.2\n")!).vocab).toEqual(new Map());
});

test("a model parsed from JSON or lines equals that of its usual spelling", () => {
  fc.assert(
    fc.property(tokenizerText, (text) => {
      const { model } = JSON.parse(text) as { model: Model };
      const pairs = model.merges.map((merge) => (typeof merge === "string" ? merge.split(" ") : merge));
      const scanned = scanParsed(checkIds(model.vocab, ""), pairs as [string, string][], "");
      const { root: _, ...expected } = readNaively(text)!;
      expect(readable(scanned)).toEqual(expected);
    }),
  );
});

test("an error names the wrong token or merge, with its value", () => {
  const messageOf = (vocab: Record<string, unknown>, ...merges: [string, string][]) =>
    errorOf(() => scanParsed(checkIds(vocab, "x.json"), merges, "y.txt")).message;
  expect(messageOf({ a: 0, b: 1.5 })).toBe(
    '"x.json": the id of "b" is 1.5, but must be a whole number of 0 or more',
  );
  expect(messageOf({ a: -1 })).toBe('"x.json": the id of "a" is -1, but must be a whole number of 0 or more');
  expect(messageOf({ a: 0, b: 2 ** 24 })).toBe(
    '"x.json": the id of "b" is 16777216, but must be below 16777216',
  );
  expect(messageOf({ a: 0, "b\ud800": 1 })).toContain("half of a surrogate pair");
  const vocab = { a: 0, b: 1, ab: 2 };
  expect(messageOf(vocab, ["a", "b"], ["ab", "c"])).toBe(
    '"y.txt": merge 2 needs the token "c", which is not in the vocabulary',
  );
  expect(messageOf(vocab, ["b", "a"])).toBe(
    '"y.txt": merge 1 needs the token "ba", which is not in the vocabulary',
  );
  expect(messageOf(vocab, ["a", "toString"])).toContain('needs the token "toString"');
});

test("merges of empty tokens, which are the shortest ones, are all read", () => {
  const encoder = new TextEncoder();
  const vocab = { "": 0 };
  const lines = scanGpt2(encoder.encode(JSON.stringify(vocab)), encoder.encode(" \n".repeat(100)));
  expect(lines?.merges.merged.length).toBe(100);
  const model = { vocab, merges: Array(100).fill(" ") };
  expect(scan(JSON.stringify({ model }))?.merged.length).toBe(100);
});
