import { describe, expect, test } from "bun:test";
import { type NamedPattern, patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { pick, randomNumbers } from "../../random.ts";
import { pretokenEnds, tellingCharacters } from "./naive.ts";
import { triedPatterns } from "./names.ts";
import { huggingfaceOracle, type Oracle, tiktokenOracle } from "./oracles.ts";

const seed = 31;
const random = randomNumbers(seed);
const texts = Array.from({ length: 1500 }, () => {
  let text = "";
  for (let length = 1 + random(10); length > 0; length--) {
    text += pick(random, random(3) > 0 ? tellingCharacters : ["'ll", "'S", " ", "a", "1", "\n"]);
  }
  return text;
});

/** Returns the first text on which the pattern and the oracle differ. */
function firstDifference(sources: readonly string[], oracle: Oracle): string | undefined {
  const compiled = compiledPatterns.compile(sources);
  for (const text of texts) {
    const found = pretokenEnds(compiled, Buffer.from(text)).join();
    const wanted = oracle(text).join();
    if (found !== wanted) return `${JSON.stringify(text)}: ${found}, not ${wanted} (seed ${seed})`;
  }
  return undefined;
}

test.each(triedPatterns)("%s splits like HF's tokenizers with the exported form", (name) => {
  const { sources }: NamedPattern = patterns[name];
  expect(firstDifference(sources, huggingfaceOracle({ name, sources }))).toBeUndefined();
});

const singleNames = triedPatterns.filter((name) => patterns[name].sources.length === 1);
test.each(singleNames)("%s splits like tiktoken with the published form", (name) => {
  const { sources }: NamedPattern = patterns[name];
  const { oracle, free } = tiktokenOracle(sources[0]!, texts);
  expect(firstDifference(sources, oracle)).toBeUndefined();
  free();
});

describe("a user's regular expression", () => {
  test.each([
    "\\w+|[^\\w\\s]+|\\s+",
    "[\\w']+$|[\\w']+|[^\\w']",
    "a(?=\\s|$)|\\p{L}{1,2}+|\\s$|.",
    "(?i:ss|k)+|\\W|\\w+",
    "(?:\\p{L}|\\p{M})+?(?!\\p{L})|[\\p{N}&&[^1]]+| ?[^\\s\\p{L}\\p{N}]+|\\s",
    "(?<!')\\p{L}+|'",
    "^\\s+|\\S+|(?>\\s+)",
    "(?s:.)\\d?|\\x{4e2d}",
    "(?>\\p{L}|\\p{L}\\d)\\s|[^\\S\\n]+|\\S",
    "\\b\\p{Lu}\\w*|\\w+",
  ])("splits as HF's tokenizers does, told the exported form: %s", (source) => {
    expect(firstDifference([source], huggingfaceOracle({ name: null, sources: [source] }))).toBeUndefined();
  });
});

test("a wrong pattern is noticed by either oracle", () => {
  const gpt4 = tiktokenOracle(patterns.gpt4.sources[0], texts);
  expect(firstDifference(patterns.cl100k.sources, gpt4.oracle)).toBeDefined();
  gpt4.free();
  expect(
    firstDifference(patterns.cl100k.sources, huggingfaceOracle({ name: "gpt4", sources: [] })),
  ).toBeDefined();
});
