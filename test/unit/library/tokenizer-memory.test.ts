import { expect, test } from "bun:test";
import { TextTokenizer } from "../../../src/library/text-tokenizer.ts";
import { TextEncoding } from "../../../src/tokenizer/text-encoding.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { madeTrial } from "../text/made-trials.ts";
import { madeText } from "../tokenizer/made-merges.ts";
import { jsonOf, specialTokens, writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 11);
const base = jsonOf(writeTokenizer("gpt2"));

/** Returns the ids of a text, encoded in a new memory. */
function idsInNewMemory({ parts }: TextTokenizer, text: string, specialTokensAsText: boolean): number[] {
  const encoding = new TextEncoding({ ...parts, specialTokensAsText });
  const bytes = Buffer.from(text);
  encoding.pushText(bytes, 0, bytes.length);
  return [...encoding.out.flush()];
}

test("more tokenizers than memories encode and decode in any order, each in a memory that others used before", () => {
  const random = randomNumbers(seed);
  const made = Array.from({ length: 60 }, (_, trial) => {
    const { json, texts } = madeTrial(base, seed * 1_000_003 + trial);
    try {
      return { tokenizer: TextTokenizer.from(json), texts: [...texts, madeText(trial, 300).repeat(trial)] };
    } catch {
      return undefined;
    }
  }).filter((each) => each !== undefined);
  expect(made.length).toBeGreaterThan(40);
  for (let round = 0; round < rounds(150); round++) {
    const { tokenizer, texts } = made[random(made.length)]!;
    const text = texts[random(texts.length)]!;
    const specialTokensAsText = random(2) === 1;
    const ids = [...tokenizer.encode(text, { specialTokensAsText })];
    expect({ seed, round, text, ids }).toEqual({
      ...{ seed, round, text },
      ids: idsInNewMemory(tokenizer, text, specialTokensAsText),
    });
    const bytes = ids.map((id) => tokenizer.tokenBytes(id));
    expect(Buffer.compare(tokenizer.decodeBytes(ids), Buffer.concat(bytes))).toBe(0);
  }
});

test("hundreds of tokenizers are used, though an engine allows only some hundred memories", () => {
  const tokenizers = Array.from({ length: 10 }, () => TextTokenizer.from(base));
  const wanted = [...tokenizers[0]!.encode("low lower")];
  const all = Array.from({ length: 100 }, (_, i) => new TextTokenizer(tokenizers[i % 10]!.parts));
  for (const tokenizer of all) {
    expect([...tokenizer.encode("low lower")]).toEqual(wanted);
    expect(tokenizer.decode(wanted)).toBe("low lower");
  }
}, 60_000);

test("a disposed tokenizer refuses work, and its streams and other tokenizers keep working", () => {
  const [special] = specialTokens;
  const [first, second] = [TextTokenizer.from(base), TextTokenizer.from(base)];
  const ids = [...first.encode(`low${special}`)];
  const stream = first.stream();
  first.dispose();
  first.dispose();
  expect(() => first.encode("a")).toThrow("the tokenizer was disposed");
  expect(() => first.decode([97])).toThrow("the tokenizer was disposed");
  expect(() => first.stream()).toThrow("the tokenizer was disposed");
  expect([first.size, first.idToToken(97)]).toEqual([second.size, second.idToToken(97)]);
  // The second tokenizer reuses the memory of the first.
  expect([...second.encode(`low${special}`)]).toEqual(ids);
  expect(stream.push(ids)).toBe(`low${special}`);
});
