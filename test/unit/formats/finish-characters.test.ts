import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer as HuggingFace } from "tokenizers";
import { finishCharacters } from "../../../src/formats/finish-characters.ts";
import type { FinishedTokenizer } from "../../../src/formats/finished-tokenizer.ts";
import { gguf } from "../../../src/formats/gguf.ts";
import * as tokenizerFiles from "../../../src/formats/load-tokenizer.ts";
import { huggingface } from "../../../src/formats/tokenizer-json.ts";
import * as derivation from "../../../src/tokenizer/derivations.ts";
import { scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { huggingFaceIds } from "../tokenizer/made-tokenizer.ts";
import { fieldsOf } from "./gguf-fields.ts";
import { cases, control, mark, modelOf, normal, type Piece, userDefined } from "./made-sentencepiece.ts";

// Writes SentencePiece models as tokenizer.json, which HF reads, and as GGUF, which an imitation of llama.cpp reads.
// The ids of both are compared with those by SentencePiece's definition.

const home = scratch();
const modelPath = join(home, "tokenizer.model");
const [byte, unknownKind] = [6, 2] as const;

async function finish(model: Uint8Array): Promise<FinishedTokenizer> {
  writeFileSync(modelPath, model);
  const parts = await tokenizerFiles.load(modelPath);
  return finishCharacters(modelPath, parts, derivation.derive(parts));
}

const written = (format: typeof gguf, tokenizer: FinishedTokenizer, name: string) =>
  Buffer.concat(
    Array.from(
      format
        .writing!.files(tokenizer)
        .find((file) => file.name === name)!
        .chunks(),
      (chunk) => chunk.slice(),
    ),
  );

type Symbol = { text: string; id: number | undefined };

/**
 * Merges adjacent symbols that form a token, until no two of them do. The pair with the highest score comes first; if
 * scores are equal, the leftmost.
 */
function merge(text: string, tokens: ReadonlyMap<string, { id: number; score: number }>): Symbol[] {
  const symbols = [...text].map((character): Symbol => ({ text: character, id: tokens.get(character)?.id }));
  for (;;) {
    let best: { at: number; id: number; score: number } | undefined;
    for (let at = 0; at + 1 < symbols.length; at++) {
      const token = tokens.get(symbols[at]!.text + symbols[at + 1]!.text);
      if (token !== undefined && (best === undefined || token.score > best.score)) best = { at, ...token };
    }
    if (best === undefined) return symbols;
    const { at, id } = best;
    symbols.splice(at, 2, { text: symbols[at]!.text + symbols[at + 1]!.text, id });
  }
}

const escaped = (text: string, addsPrefix: boolean) =>
  (addsPrefix && text !== "" ? ` ${text}` : text).replaceAll(" ", mark);

/**
 * Returns the ids of symbols. A symbol that is no token becomes the ids of its bytes or, without byte tokens, the
 * unknown token (0). Adjacent unknown tokens become one.
 */
function withoutUnknown(symbols: readonly Symbol[], byteIds: readonly number[] | undefined): number[] {
  const ids = symbols.flatMap(({ text, id }) => {
    if (id !== undefined) return id;
    return byteIds === undefined ? -1 : Array.from(Buffer.from(text), (value) => byteIds[value]!);
  });
  return ids.filter((id, i) => id !== -1 || ids[i - 1] !== -1).map((id) => (id === -1 ? 0 : id));
}

function sentencepieceIds(
  pieces: readonly Piece[],
  byteFallback: boolean,
  addsPrefix: boolean,
  text: string,
) {
  const found = new Map(
    pieces.flatMap(([piece, score, kind], id) => (kind === normal ? [[piece, { id, score }]] : [])),
  );
  const byteIds = pieces.flatMap(([, , kind], id) => (kind === byte ? id : []));
  return withoutUnknown(merge(escaped(text, addsPrefix), found), byteFallback ? byteIds : undefined);
}

/** llama.cpp's algorithm (`llm_tokenizer_spm_session`) for a text without added tokens. */
function llamaIds(fields: Record<string, unknown>, text: string): number[] {
  const tokens = fields["tokenizer.ggml.tokens"] as string[];
  const scores = fields["tokenizer.ggml.scores"] as number[];
  const found = new Map(tokens.map((token, id) => [token, { id, score: scores[id]! }]));
  const byteIds = Array.from(
    { length: 256 },
    (_, value) => found.get(`<0x${value.toString(16).toUpperCase().padStart(2, "0")}>`)!.id,
  );
  const addsPrefix = fields["tokenizer.ggml.add_space_prefix"] as boolean;
  return withoutUnknown(merge(escaped(text, addsPrefix), found), byteIds);
}

test("the ids of converted models are those of the definition, or the format is refused", async () => {
  const random = randomNumbers(5);
  const counts = { huggingface: 0, gguf: 0, tied: 0, refused: 0 };
  for (let round = 0; round < rounds(120); round++) {
    const { pieces: given, ...settings } = cases[random(cases.length)]!;
    const step = [1, 1, 2, 4, 20][random(5)]!;
    const pieces = given
      .filter(([, , kind]) => kind !== userDefined)
      .map(([text, score, kind]): Piece => [text, Math.floor(score / step), kind]);
    const finished = await finish(modelOf({ ...settings, pieces }));
    const { jsonObstacle, llamaObstacle } = finished.characters!;
    const normals = pieces.flatMap(([text, , kind]) => (kind === normal ? [text] : []));
    const some = [...Array.from({ length: 4 }, () => normals[random(normals.length)]!), "z", " "];
    const texts = Array.from({ length: 12 }, () =>
      Array.from({ length: random(40) }, () => some[random(some.length)]!).join(""),
    );
    const expected = (text: string) =>
      sentencepieceIds(pieces, settings.byteFallback, settings.addsPrefix, text);
    if (jsonObstacle === null) {
      const json = written(huggingface, finished, "tokenizer.json").toString();
      const theirs = HuggingFace.fromString(json);
      for (const text of texts)
        expect([round, text, await huggingFaceIds(theirs, text)]).toEqual([round, text, expected(text)]);
      counts.huggingface++;
      counts.tied += Number(new Set(pieces.map(([, score]) => score)).size < pieces.length);
    } else {
      expect(jsonObstacle).toContain("have equal scores");
      counts.refused++;
    }
    if (llamaObstacle === null) {
      const path = join(home, "tokenizer.gguf");
      writeFileSync(path, written(gguf, finished, "tokenizer.gguf"));
      const fields = fieldsOf(path);
      for (const text of texts)
        expect([round, text, llamaIds(fields, text)]).toEqual([round, text, expected(text)]);
      counts.gguf++;
    } else expect(llamaObstacle).toMatch(/a character (that has no|without a) token/);
  }
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(rounds(120) / 20);
});

const spelledBytes = Array.from({ length: 256 }, (_, value): Piece => {
  return [`<0x${value.toString(16).toUpperCase().padStart(2, "0")}>`, 0, byte];
});
const first: Piece[] = [
  ["<unk>", 0, unknownKind],
  ["<s>", 0, control],
];
const characters = (...texts: string[]) => texts.map((text): Piece => [text, -9, normal]);
const basePieces = (pieces: Piece[]) => [
  ...first,
  ...spelledBytes,
  ...characters("a", "é", "b", mark),
  ...pieces,
];
const withPieces = (pieces: Piece[], addsPrefix = false) =>
  modelOf({
    pieces: basePieces(pieces),
    byteFallback: true,
    unknownText: "?",
    addsPrefix,
    answers: [],
  });

test("merges of equal scores: the left one of two that overlap comes first, and a run grows from the left", async () => {
  const { characters: overlapping } = await finish(
    withPieces([
      ["éb", -1, normal],
      ["éa", -1, normal],
      ["ébéa", -2, normal],
      ["ébéb", -2, normal],
    ]),
  );
  expect(overlapping!.jsonObstacle).toBeNull();
  // "ébéb" and "ébéa" have equal scores. In "ébébéa", where they overlap, SentencePiece makes the left one, "ébéb". So
  // the merge of "ébéb" must come before that of "ébéa".
  const last = overlapping!.merges.right.slice(-2);
  expect([...last]).toEqual([262, 263]);
  const growing = [
    [2, 3, 4, 6].map((size) => mark.repeat(size)),
    // In "abéab", the first "ab" becomes "abé" before the second "ab" exists, which could become "éab".
    ["ab", "éab", "abé"],
  ];
  for (const texts of growing) {
    const tied = texts.map((text): Piece => [text, -5, normal]);
    const { characters: merges, ...finished } = await finish(withPieces(tied));
    expect(merges!.jsonObstacle).toBeNull();
    const json = written(huggingface, { ...finished, characters: merges! }, "tokenizer.json");
    const theirs = HuggingFace.fromString(json.toString());
    for (let size = 0; size < 30; size++) {
      const text = `${" ".repeat(size)}abéabab${"éab".repeat(size)}`;
      const ids = sentencepieceIds(basePieces(tied), true, false, text);
      expect([size, await huggingFaceIds(theirs, text)]).toEqual([size, ids]);
    }
  }
});

test("what a format cannot say is refused", async () => {
  const obstaclesOf = async (pieces: Piece[], addsPrefix?: boolean) => {
    const { jsonObstacle, llamaObstacle } = (await finish(withPieces(pieces, addsPrefix))).characters!;
    return [jsonObstacle, llamaObstacle];
  };
  expect(
    await obstaclesOf([
      ["ab", -1, normal],
      ["aba", -1, normal],
      ["ba", -1, normal],
    ]),
  ).toEqual([expect.stringContaining("have equal scores"), null]);
  const twoBeginnings = ["ab", "éb", "abé"].map((text): Piece => [text, -1, normal]);
  expect(await obstaclesOf(twoBeginnings)).toEqual([expect.stringContaining("have equal scores"), null]);
  expect(await obstaclesOf([["[X]", 0, userDefined]])).toEqual([null, null]);
  expect(await obstaclesOf([["[X]", 0, userDefined]], true)).toEqual([
    expect.stringContaining('HF puts a space after each added token, such as "[X]"'),
    expect.stringContaining('llama.cpp puts a space after each added token, such as "[X]"'),
  ]);
  expect(await obstaclesOf([[mark + mark, 0, userDefined]])).toEqual([
    expect.stringContaining("HF does not match"),
    expect.stringContaining("llama.cpp does not match"),
  ]);
  const overlapping: Piece[] = [
    ["[X]", 0, userDefined],
    ["]YZ", 0, userDefined],
  ];
  expect(await obstaclesOf(overlapping)).toEqual([null, expect.stringContaining("may overlap")]);
  // llama.cpp would merge the characters of "<s>" in a text into the control piece.
  const spelled = [...characters("<", "s", ">"), ["<s", -1, normal]] as Piece[];
  expect(await obstaclesOf(spelled)).toEqual([null, expect.stringContaining('would make its token "<s>"')]);
});
