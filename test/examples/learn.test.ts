import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { decode, encode, type Rule, train } from "../../examples/learn.ts";
import { trainTokenizer } from "../../src/index.ts";
import { put, scratch } from "../binary.ts";
import { randomNumbers } from "../random.ts";
import { rounds } from "../rounds.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

const page = `${import.meta.dir}/../../examples/learn.ts`;

function madeLines(seed: number): string {
  const random = randomNumbers(seed);
  if (random(2) === 0) return madeText(seed, 20 + random(200));
  const parts = ["a", "b", "aaaa", "abab", "'s", "12", "é", "日本", "😀", "\u0085", "\ufeff", "\u2028", "\t"];
  const ends = [" ", "  ", "\n", "\n\n", " \n ", "\r\n", "", "!!"];
  const lines = Array.from({ length: 1 + random(80) }, () => parts[random(parts.length)]! + ends[random(8)]!);
  return lines.join("");
}

const latin = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

for (const rule of ["cs336", "huggingface", "rustbpe"] satisfies Rule[]) {
  test(`${rule}: bpe learns, encodes and decodes as the page for students does`, async () => {
    for (let seed = 1; seed <= rounds(40); seed++) {
      const [text, other] = [madeLines(seed), madeLines(seed + 1000)];
      const size = 256 + randomNumbers(seed)(120);
      const bpe = await trainTokenizer({ texts: [text], vocabSize: size, compat: rule, pattern: "gpt2" });
      const { vocabulary, merges } = train(text, size, rule);
      const ids = encode(other, { vocabulary, merges });
      const tokens = Array.from({ length: 256 + bpe.merges.length }, (_, id) => latin(bpe.tokenBytes(id)));
      expect({
        seed,
        merges: bpe.merges.map(([left, right]) => ({ left: latin(left), right: latin(right) })),
        vocabulary: new Map(tokens.map((token, id) => [token, id])),
        ids: [...bpe.encode(other)],
        text: Buffer.from(bpe.decode(ids)).toString(),
      }).toEqual({
        seed,
        merges: merges.map(({ left, right }) => ({ left, right })),
        vocabulary,
        ids,
        text: decode(ids, { vocabulary, merges }),
      });
      expect({ seed, text: decode(ids, { vocabulary, merges }) }).toEqual({ seed, text: other });
    }
  });
}

test("the page for students has at most 120 lines, and prints what it learns from itself, or from a file", () => {
  expect(readFileSync(page, "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(120);
  const run = (...file: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [page, ...file], { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return stdout;
  };
  expect(run()).toContain('  " " + "t" -> " t"\n');
  expect(run()).toContain('\n  " vocabulary"\n');
  expect(run(put(scratch(), "empty", ""))).toContain("\n0 bytes are 0 tokens.");
});
