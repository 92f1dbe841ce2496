import { expect, test } from "bun:test";
import { join } from "node:path";
import { type ExplainedPart, explainText } from "../../../src/evaluate/explain.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { TextEncoding } from "../../../src/tokenizer/text-encoding.ts";
import type { TokenizerParts } from "../../../src/tokenizer/tokenizer-parts.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { madeTrial, pieces } from "../text/made-trials.ts";
import { madeText } from "../tokenizer/made-merges.ts";
import { bothOf, encodeWith, jsonOf, writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 61);
const random = randomNumbers(seed);
const home = writeTokenizer("gpt2");
const base = jsonOf(home);

const idsOf = (explained: readonly ExplainedPart[]) => explained.flatMap(({ ids }) => ids);

/** Checks the steps naively: each step must apply the merge with the lowest rank of all merges that apply. */
function checkSteps(
  { model: { merges, byteIds } }: TokenizerParts,
  { bytes, start, steps, ids }: ExplainedPart,
) {
  expect([...start]).toEqual(Array.from(bytes, (byte) => byteIds[byte]!).filter((id) => id >= 0));
  const now = [...start];
  for (const step of steps) {
    const ranks = now
      .slice(1)
      .map((right, i) =>
        merges.left.findLastIndex((left, rank) => left === now[i] && merges.right[rank] === right),
      );
    const made = ranks.filter((rank) => rank >= 0);
    const rank = Math.min(...made);
    const at = ranks.indexOf(rank);
    const id = merges.merged[rank]!;
    expect(step).toEqual({ rank, at, left: now[at]!, right: now[at + 1]!, id });
    now.splice(at, 2, id);
  }
  expect(now).toEqual([...ids]);
}

function check(parts: TokenizerParts, text: string): ExplainedPart[] {
  const bytes = Buffer.from(text);
  const explained = explainText(parts, bytes);
  expect({ seed, text, ids: idsOf(explained) }).toEqual({
    ...{ seed, text },
    ids: encodeWith(new TextEncoding(parts), bytes),
  });
  for (const part of explained) {
    if (part.kind === "merged") checkSteps(parts, part);
    else expect([part.start.length, part.steps.length, part.ids.length]).toEqual([0, 0, 1]);
  }
  return explained;
}

test("the ids are those of encoding, whatever the tokenizer does to a text before it cuts it", async () => {
  const kinds = new Set<string>();
  for (let trial = 0; trial < rounds(60); trial++) {
    const { json, texts } = madeTrial(base, seed * 1_000_003 + trial);
    const parts = await bothOf(json).then(
      ({ ours }) => ours.parts,
      () => null,
    );
    if (parts === null) continue;
    const specialTokensAsText = random(4) === 0;
    for (const text of texts)
      for (const { kind } of check({ ...parts, specialTokensAsText }, text)) kinds.add(kind);
  }
  expect(kinds).toContain("added");
  expect(kinds).toContain("merged");
});

test("explains ranks, patterns of several splits, whole tokens and bytes without an id", async () => {
  const lacking = jsonOf(home);
  lacking.model.merges = lacking.model.merges.filter((merge) => !String(merge).includes("e"));
  for (const token of Object.keys(lacking.model.vocab))
    if (token.includes("e") && !token.startsWith("<")) delete lacking.model.vocab[token];
  const whole = jsonOf(home);
  whole.model.ignore_merges = true;
  whole.model.vocab.Ġxyzw = 5000;
  const split = await Tokenizer.load(writeTokenizer("deepseek-v3"));
  const tokenizers = [
    (await bothOf(lacking)).ours,
    (await bothOf(whole)).ours,
    split,
    await Tokenizer.load(join(home, "tokenizer.tiktoken"), { pattern: "o200k" }),
  ].map(({ parts }) => parts);
  for (let round = 0; round < rounds(50); round++) {
    const some = Array.from({ length: random(12) }, () => pieces[random(pieces.length)]!);
    const text = `${madeText(seed + round, random(20))} xyzw${some.join("").toWellFormed()} xyzwx`;
    for (const parts of tokenizers) check(parts, text);
  }
  const found = check(tokenizers[1]!, " xyzw xyzwx").map(({ kind, ids }) => [kind, ids.length === 1]);
  expect(found).toEqual([
    ["whole", true],
    ["merged", false],
  ]);
  expect(check(tokenizers[0]!, "e")).toMatchObject([{ kind: "merged", start: [], steps: [], ids: [] }]);
});

test("the parts are the pretokens and the added tokens, with their bytes after normalization", async () => {
  const json = jsonOf(home);
  json.normalizer = { type: "Lowercase" };
  json.pre_tokenizer = { ...(json.pre_tokenizer as object), add_prefix_space: true };
  const { parts } = (await bothOf(json)).ours;
  const explained = explainText(parts, Buffer.from("The LOW<|end|>Er"));
  expect(explained.map(({ kind, bytes }) => [kind, Buffer.from(bytes).toString()])).toEqual([
    ["merged", " the"],
    ["merged", " low"],
    ["added", "<|end|>"],
    ["merged", " er"],
  ]);
  expect(explainText(parts, new Uint8Array())).toEqual([]);
});
