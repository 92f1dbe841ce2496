import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { explainText, firstIds } from "../../../src/evaluate/explain.ts";
import { tokenizerOfJson } from "../../../src/formats/tokenizer-json.ts";
import { Tokenizer } from "../../../src/index.ts";
import { TextEncoding } from "../../../src/tokenizer/text-encoding.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { expectInImage } from "../tokenizer/image-round-trip.ts";

// Tokenizers whose merges begin with characters, not bytes. character-json.py made them, and stored HF's ids, offsets
// and decoded texts.

type Json = Record<string, unknown>;
type Model = {
  vocab: Record<string, number>;
  merges: [string, string][];
  byte_fallback: boolean;
  unk_token: string | null;
};
type Root = Json & { model: Json & Model };
type Answer = { text: string; ids: number[]; starts: number[]; ends: number[]; decoded: string };
type Case = { root: Root; answers: Answer[] };

const spelled = (byte: number) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;

const cases = readFileSync(join(import.meta.dir, "character-json.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => {
    const given = JSON.parse(line) as Case;
    const { vocab, byte_fallback, unk_token } = given.root.model;
    const first = unk_token === null ? 1 : 2;
    if (byte_fallback) for (let byte = 0; byte < 256; byte++) vocab[spelled(byte)] = first + byte;
    return given;
  });

const load = (root: Json) => tokenizerOfJson(Buffer.from(JSON.stringify(root)), "tokenizer.json");
const withChanges = (root: Root, model: Json, others: Json = {}): Json => ({
  ...root,
  ...others,
  model: { ...root.model, ...model },
});

/** Converts positions in characters to positions in UTF-16. */
function unitsOf(text: string, positions: readonly number[]): number[] {
  const starts = [0];
  for (const character of text) starts.push(starts.at(-1)! + character.length);
  return positions.map((position) => starts[position]!);
}

test("ids, offsets and decoded text are those of HF", () => {
  for (const { root, answers } of cases) {
    const tokenizer = Tokenizer.from(root);
    for (const { text, ids, starts, ends, decoded } of answers) {
      expect([...tokenizer.encode(text)]).toEqual(ids);
      if (!decoded.includes("\ufffd")) expect(tokenizer.decode(ids)).toBe(decoded);
      const stream = tokenizer.stream();
      expect(ids.map((id) => stream.push(id)).join("") + stream.end()).toBe(tokenizer.decode(ids));
      if (!root.model.byte_fallback) continue;
      const found = tokenizer.encodeWithOffsets(text);
      expect([...found.starts]).toEqual(unitsOf(text, starts));
      expect([...found.ends]).toEqual(unitsOf(text, ends));
    }
  }
});

test("their images restore all parts", () => {
  for (const { root } of cases) expectInImage(load(root));
});

/** Merges by definition: the lowest rank first, and of equal ranks the leftmost pair. */
function merged(root: Root, ids: number[]): number[] {
  const { vocab, merges } = root.model;
  const ranked = merges.map(([left, right]) => [vocab[left]!, vocab[right]!, vocab[left + right]!]);
  for (;;) {
    const at = (rank: number) =>
      ids.findIndex((id, i) => id === ranked[rank]![0] && ids[i + 1] === ranked[rank]![1]);
    const rank = ranked.findIndex((_, rank) => at(rank) >= 0);
    if (rank < 0) return ids;
    ids.splice(at(rank), 2, ranked[rank]![2]!);
  }
}

const alphabet = ["a", "b", "é", "é", "中", "文", "👍", " ", "\u2581", "\n", "ー", "“", "z", "\u0301"];

test("long texts without a space give the ids of the definition", () => {
  const random = randomNumbers(7);
  for (let round = 0; round < rounds(40); round++) {
    const { root } = cases[random(cases.length)]!;
    const parts = load({ ...root, added_tokens: [] });
    const encoding = new TextEncoding(parts);
    const some = Array.from({ length: 3 }, () => alphabet[random(alphabet.length)]!);
    const text = Array.from({ length: random(120) }, () => some[random(3)]!).join("");
    const hasPrefix = parts.addsPrefixSpace && text !== "";
    const isSpaced = /^[ \u2581]/.test(text) && parts.prefixRule !== "every section";
    const bytes = Buffer.from(text);
    const whole = Buffer.from(hasPrefix && !isSpaced ? ` ${text}` : text);
    const splits = (root.pre_tokenizer as Json | null)?.split === true;
    const pieces = splits
      ? (whole.toString().match(/[ \u2581][^ \u2581]*|[^ \u2581]+/g) ?? []).map((piece) => Buffer.from(piece))
      : [whole];
    encoding.pushText(bytes, 0, bytes.length);
    const ids = pieces.flatMap((piece) => merged(root, firstIds(parts.model, piece)));
    expect([...encoding.out.flush()]).toEqual(ids);
    expect(explainText(parts, bytes).flatMap((part) => part.ids)).toEqual(ids);
  }
});

test("a text in pieces of one byte has the same ids, even if it is not UTF-8", () => {
  const random = randomNumbers(8);
  for (const { root } of cases) {
    const parts = load(root);
    const encoding = new TextEncoding(parts);
    for (let round = 0; round < rounds(6); round++) {
      const start = ["", "\u2581", " ", "\xe2", "\xe2\x96", "\xe2\x96\x80", "<s>"][random(7)]!;
      const rest = Array.from({ length: random(30) }, () => alphabet[random(alphabet.length)]!).join("");
      const bytes = Buffer.concat([
        Buffer.from(start, start > "\x7f" ? "latin1" : "utf8"),
        Buffer.from(rest),
      ]);
      encoding.pushText(bytes, 0, bytes.length);
      const whole = [...encoding.out.flush()];
      for (let pos = 0; pos < bytes.length; pos++) encoding.push(bytes, pos, pos + 1);
      encoding.end();
      expect([...encoding.out.flush()]).toEqual(whole);
    }
  }
});

test("files that HF would encode differently are refused", () => {
  const isUsual = ({ model, normalizer }: Root) =>
    model.byte_fallback && (normalizer as Json | null)?.type === "Replace";
  const root = { ...cases.find(({ root }) => isUsual(root))!.root, pre_tokenizer: null };
  const { model, decoder } = root as Root;
  const replace = { type: "Replace", pattern: { String: " " }, content: "\u2581" };
  const prepend = { type: "Prepend", prepend: "\u2581" };
  const late = {
    id: 0,
    content: "[Y]",
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: true,
    special: false,
  };
  const steps = (...normalizers: Json[]) => ({ normalizer: { type: "Sequence", normalizers } });
  const without = (token: string) => {
    const { [token]: _, ...vocab } = model.vocab;
    return { vocab };
  };
  const newId = Math.max(...Object.values(model.vocab)) + 1;
  const metaspace = { type: "Metaspace", replacement: "\u2581", prepend_scheme: "always" };
  const wrong: [Json, string][] = [
    [withChanges(root, { ignore_merges: true }), "ignore_merges"],
    [withChanges(root, without("<0xE4>")), 'no token "<0xE4>"'],
    [withChanges(root, without("\u2581")), "needs the token"],
    [withChanges(root, { unk_token: "<none>" }), "lacks its unk_token"],
    [
      withChanges(root, { merges: [["<0x41>", "\u2581"]], vocab: { ...model.vocab, "<0x41>\u2581": newId } }),
      "<0x41>",
    ],
    [withChanges(root, {}, steps({ type: "NFC" }, replace)), "NFC"],
    [withChanges(root, {}, steps(prepend)), 'prepends "\u2581"'],
    [withChanges(root, {}, steps({ ...replace, content: "_" })), "Replace"],
    [
      withChanges(root, {}, { ...steps(prepend, replace), added_tokens: [late] }),
      "HF searches for it with a '\u2581' before it",
    ],
    [withChanges(root, {}, { added_tokens: [{ ...late, lstrip: true }] }), "strips white space"],
    [withChanges(root, {}, { added_tokens: [{ ...late, content: "a b" }] }), "it contains a space"],
    [
      withChanges(
        root,
        {},
        { pre_tokenizer: { type: "Split", pattern: { Regex: "a" }, behavior: "Isolated" } },
      ),
      "Split",
    ],
    [
      withChanges(root, {}, { ...steps(), pre_tokenizer: { ...metaspace, replacement: "_" } }),
      "replaces spaces",
    ],
    [withChanges(root, {}, { ...steps(), pre_tokenizer: { ...metaspace, prepend_scheme: "last" } }), "last"],
    [withChanges(root, {}, { decoder: null }), "decoder"],
    [
      withChanges(root, {}, { decoder: { type: "Sequence", decoders: [{ type: "ByteFallback" }, replace] } }),
      "decoder",
    ],
    [
      withChanges(
        root,
        {},
        { decoder: { type: "Sequence", decoders: [decoder, { type: "Strip", content: "a" }] } },
      ),
      "decoder",
    ],
  ];
  for (const [json, message] of wrong) expect(() => load(json)).toThrow(message);
});

test("a byte that is not UTF-8 is its byte token", () => {
  const { root } = cases.find(({ root }) => root.model.byte_fallback && root.normalizer === null)!;
  const tokenizer = Tokenizer.from({ ...root, pre_tokenizer: null, decoder: { type: "ByteFallback" } });
  const { vocab } = root.model;
  const bytes = Uint8Array.of(0xff, 0xe4, 0xb8, 0xc0, 0x80);
  const ids = Array.from(bytes, (byte) => vocab[spelled(byte)]!);
  expect([...tokenizer.encode(bytes)]).toEqual(ids);
  expect(tokenizer.decodeBytes(ids)).toEqual(bytes);
});
