import { expect, test } from "bun:test";
import fc from "fast-check";
import { scanTokenizerJson } from "../../src/formats/scan-tokenizer-json.ts";

type Model = { vocab: Record<string, number>; merges: (string | [string, string])[] };

/** What `scanTokenizerJson` is to find, by way of JSON. */
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
  const scanned = scanTokenizerJson(new TextEncoder().encode(text));
  if (scanned === null) return null;
  const { root, vocab, merges } = scanned;
  return {
    root,
    vocab: new Map(vocab),
    left: [...merges.left],
    right: [...merges.right],
    merged: [...merges.merged],
  };
}

const character = fc.constantFrom("a", "b", "Ġ", "é", '"', "\\", "/", "{", "]", ",", ":", "\u0001", "😀");
const token = fc.string({ unit: character, minLength: 1, maxLength: 4 });
const added = { id: 7, content: '<|"]}|>', special: true };

/** A tokenizer whose merges go together, and its text. */
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
    return isEscaped ? text.replaceAll("é", "\\u00e9").replaceAll("/", "\\/") : text;
  });

test("vocabulary and merges are those that JSON gives, in both forms, escaped or not, with any white space", () => {
  fc.assert(fc.property(tokenizerText, (text) => expect(scan(text)).toEqual(readNaively(text))));
});

test("whatever a byte is changed to: nothing is found, or what JSON gives", () => {
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
    { numRuns: 2000 },
  );
});

test("what is unusual is left to JSON", () => {
  const unusual = {
    "no merges": '{"model":{"vocab":{"a":0},"merges":[]}}',
    "no vocabulary": '{"model":{"vocab":{},"merges":["a b"]}}',
    "merges first": '{"model":{"merges":["a b"],"vocab":{"a":0,"b":1,"ab":2}}}',
    "a token twice": '{"model":{"vocab":{"a":0,"b":1,"ab":2,"a":3},"merges":["a b"]}}',
    "a model twice": '{"model":{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]},"model":{}}',
    "a merge of three": '{"model":{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b "]}}',
    "an id that is no whole number": '{"model":{"vocab":{"a":0,"b":1.0,"ab":2},"merges":["a b"]}}',
    "an id too large": '{"model":{"vocab":{"a":0,"b":16777216,"ab":2},"merges":["a b"]}}',
    "an unknown token": '{"model":{"vocab":{"a":0,"b":1,"ab":2},"merges":["a c"]}}',
    "half a surrogate pair": '{"model":{"vocab":{"a":0,"b":1,"ab":2,"\\ud800":3},"merges":["a b"]}}',
    "a byte-order mark": '\ufeff{"model":{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}',
    "text behind it": '{"model":{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}} x',
  };
  for (const [what, text] of Object.entries(unusual)) expect([what, scan(text)]).toEqual([what, null]);
  expect(scanTokenizerJson(Uint8Array.of(0x7b, 0xff, 0x7d))).toBeNull();
});
