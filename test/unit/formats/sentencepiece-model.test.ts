import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { explainText, firstIds } from "../../../src/evaluate/explain.ts";
import * as tokenizerFiles from "../../../src/formats/load-tokenizer.ts";
import { sentencepiece } from "../../../src/formats/sentencepiece.ts";
import { Tokenizer } from "../../../src/index.ts";
import { TextEncoding } from "../../../src/tokenizer/text-encoding.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { expectInImage } from "../tokenizer/image-round-trip.ts";
import {
  bytes,
  cases,
  control,
  integer,
  mark,
  modelOf,
  normal,
  type Piece,
  unused,
  userDefined,
} from "./made-sentencepiece.ts";

// SentencePiece models of BPE. sentencepiece-model.py made them, with the answers of the package sentencepiece.

const load = (model: Uint8Array) =>
  sentencepiece.read([{ name: "tokenizer.model", path: "tokenizer.model", bytes: model }], {});

function inDirectory<T>(work: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), "bpe-sentencepiece-"));
  const done = () => rmSync(directory, { recursive: true });
  const result = work(directory);
  if (result instanceof Promise) void result.then(done, done);
  else done();
  return result;
}

test("ids and decoded text are those of sentencepiece", async () => {
  await inDirectory(async (directory) => {
    const path = join(directory, "tokenizer.model");
    for (const given of cases) {
      writeFileSync(path, modelOf(given));
      const tokenizer = await Tokenizer.load(path);
      for (const { text, ids, decoded } of given.answers) {
        expect([...tokenizer.encode(text)]).toEqual(ids);
        expect(tokenizer.decode(ids)).toBe(decoded);
      }
    }
    expect(tokenizerFiles.findIn(directory)).toEqual([path]);
  });
});

test("their images restore all parts", () => {
  for (const given of cases) expectInImage(load(modelOf(given)));
});

/** Merges by definition: the piece with the highest score first, and of equal scores the leftmost. */
function merged(pieces: readonly Piece[], ids: number[]): number[] {
  const found = new Map(
    pieces.flatMap(([text, score, kind], id) => (kind === normal ? [[text, { score, id }]] : [])),
  );
  for (;;) {
    let best: { at: number; score: number; id: number } | undefined;
    for (let at = 0; at + 1 < ids.length; at++) {
      const [left, right] = [pieces[ids[at]!]!, pieces[ids[at + 1]!]!];
      const piece = left[2] === normal && right[2] === normal ? found.get(left[0] + right[0]) : undefined;
      if (piece !== undefined && (best === undefined || piece.score > best.score)) best = { at, ...piece };
    }
    if (best === undefined) return ids;
    ids.splice(best.at, 2, best.id);
  }
}

test("long texts give the ids of the definition, also in pieces of one byte", () => {
  const random = randomNumbers(11);
  for (let round = 0; round < rounds(40); round++) {
    const { pieces, ...given } = cases[random(cases.length)]!;
    const plain = pieces.map(([text, score, kind], id): Piece => {
      return [kind === userDefined ? `${id}<>` : text, score, kind];
    });
    const parts = load(modelOf({ ...given, pieces: plain }));
    const encoding = new TextEncoding(parts);
    const known = plain.flatMap(([text, , kind]) => (kind === normal ? [text] : []));
    const some = [...Array.from({ length: 3 }, () => known[random(known.length)]!), "z", " "];
    const text = Array.from({ length: random(150) }, () => some[random(some.length)]!).join("");
    const whole = Buffer.from(given.addsPrefix && text !== "" ? ` ${text}` : text);
    const ids = merged(plain, firstIds(parts.model, whole));
    const utf8 = Buffer.from(text);
    encoding.pushText(utf8, 0, utf8.length);
    expect([...encoding.out.flush()]).toEqual(ids);
    expect(explainText(parts, utf8).flatMap((part) => part.ids)).toEqual(ids);
    for (let pos = 0; pos < utf8.length; pos++) encoding.push(utf8, pos, pos + 1);
    encoding.end();
    expect([...encoding.out.flush()]).toEqual(ids);
  }
});

test("scores decide, then the position, and user-defined pieces are not control pieces", async () => {
  const pieces = (first: number, second: number): Piece[] => [
    ["<unk>", 0, 2],
    ...["a", "b", "c", mark].map((text, i): Piece => [text, -10 - i, normal]),
    ["ab", first, normal],
    ["bc", second, normal],
    ["<x>", 0, userDefined],
  ];
  const model = (first: number, second: number) =>
    modelOf({ ...cases[0]!, byteFallback: false, addsPrefix: false, pieces: pieces(first, second) });
  await inDirectory(async (directory) => {
    const path = join(directory, "tokenizer.model");
    for (const [first, second, ids] of [
      [-1, -2, [5, 3]],
      [-2, -1, [1, 6]],
      [-1, -1, [5, 3]],
    ] as const) {
      writeFileSync(path, model(first, second));
      const tokenizer = await Tokenizer.load(path);
      expect([...tokenizer.encode("abc<x>", { specialTokensAsText: true })]).toEqual([...ids, 7]);
    }
  });
});

test("models that sentencepiece would encode differently are refused", () => {
  const given = cases.find(({ byteFallback }) => byteFallback)!;
  const withPieces = (...more: Piece[]) => modelOf({ ...given, pieces: [...given.pieces, ...more] });
  const wrong: [Uint8Array, string][] = [
    [modelOf(given, { modelType: 1 }), "of the type Unigram, not BPE"],
    [modelOf(given, { modelType: 4 }), "of the type Char, not BPE"],
    [modelOf(given, { modelType: 7 }), "the model type is 7"],
    [modelOf(given, { trainer: integer(24, 1) }), "treat_whitespace_as_suffix"],
    [modelOf(given, { normalizer: bytes(2, [1]) }), "replaces characters by rules"],
    [modelOf(given, { normalizer: integer(4, 1) }), "remove_extra_whitespaces"],
    [modelOf(given, { normalizer: integer(5, 0) }), "escape_whitespaces"],
    [modelOf(given, { others: bytes(5, bytes(2, [1])) }), "decoding replaces"],
    [withPieces(["<u>", 0, 2]), "2 unknown pieces"],
    [withPieces(["", 0, normal]), "empty"],
    [withPieces(["<s>", 0, normal]), "twice"],
    [withPieces(["ç", 0, control]), "a control piece of one character"],
    [withPieces(["a b", 0, normal]), "which contains a space"],
    [withPieces([`a${mark}`, 0, userDefined]), "a user-defined piece that contains a"],
    [withPieces([mark.repeat(9), 0, userDefined]), "have lengths from 2 to 9, but none has the length 3"],
    [withPieces(["qq", 0, unused]), "unused"],
    [withPieces(["qq", Number.NaN, normal]), "not a number"],
    [withPieces(["aq", 0, normal]), "which is not a normal piece"],
    [modelOf({ ...given, pieces: given.pieces.filter(([text]) => text !== "<0xE4>") }), 'no token "<0xE4>"'],
    [modelOf({ ...given, byteFallback: false }), "a byte piece, but byte_fallback is false"],
    [modelOf(given).subarray(0, -3), "damaged"],
    [Uint8Array.from([...modelOf(given), 0x0b]), "damaged"],
    [Uint8Array.from([...modelOf(given), ...integer(2, 5)].slice(0, -1)), "damaged"],
    [withPieces(["a", 0, 9]), "kind of piece"],
  ];
  for (const [model, message] of wrong) expect(() => load(model)).toThrow(message);
});
