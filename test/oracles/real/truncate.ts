// Part of `npm run suite real`: truncates real tokenizers to their first merges. Compares the ids of the result with
// those of other programs, and with those that `bpe ids truncate` makes from the ids of the whole tokenizer.
import { expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { basename, join } from "node:path";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { put, scratch } from "../../binary.ts";
import { askOracle, encode, finish, linesOf, materialOf, pathOf, tokenizerOptions } from "./programs.ts";
import { commonTexts, ownTexts } from "./texts.ts";
import { isFirstOfFamily, readTokenizers } from "./tokenizers.ts";

setDefaultTimeout(600_000);

const seed = Number(process.env.TEST_SEED ?? 12);
const directory = scratch();
const common = commonTexts(seed).filter((_, i) => i % 3 === 0);
const sizes = [9_000, 40_000];

for (const [turn, tokenizer] of readTokenizers().filter(isFirstOfFamily).entries())
  test(`${tokenizer.name}, truncated to its first merges`, async () => {
    const { loaded, ...material } = await materialOf(tokenizer);
    const texts = [...common, ...ownTexts(seed, material).filter((_, i) => i % 6 === 0)];
    const records = put(
      directory,
      "texts.jsonl",
      texts.map((text) => `${JSON.stringify({ text })}\n`).join(""),
    );
    const into = join(directory, tokenizer.name);
    const whole = tokenizerOptions(tokenizer).slice(1);
    await finish(["truncate", ...whole, "-n", String(sizes[turn % sizes.length]), "-o", into]);
    const path = join(into, basename(pathOf(tokenizer)));
    const ids = linesOf(await finish(["encode", records, "--tokenizer", path]));
    const asked = put(directory, "texts.json", texts.map((text) => `${JSON.stringify(text)}\n`).join(""));
    const theirs = await askOracle(asked, await oracleOf(path));
    // tiktoken, which reads the rank files, does not normalize. So with these files, texts that normalization changes
    // are not compared.
    const isPlain = (text: string) => loaded.parts.normalization === null || text === text.normalize("NFKC");
    const differing = texts.filter(
      (text, i) => theirs[i] !== ids[i] && (path.endsWith(".json") || isPlain(text)),
    );
    expect({ seed, differing: differing.slice(0, 3) }).toEqual({ seed, differing: [] });
    const large = put(directory, "large.txt", await encode([records], tokenizer));
    const cut = linesOf(await finish(["ids", "truncate", large, "--from", ...whole, "--to", path]));
    expect({ seed, differing: texts.filter((_, i) => cut[i] !== ids[i]) }).toEqual({ seed, differing: [] });
    rmSync(into, { recursive: true });
  });

/** Returns the arguments of the oracle that reads a truncated file. */
async function oracleOf(path: string): Promise<string[]> {
  if (path.endsWith("tokenizer.json")) return [path, "huggingface"];
  if (path.endsWith(".json")) return [path, "tekken"];
  const { parts, specialTokens } = await Tokenizer.load(path);
  return [
    path,
    "ranks",
    parts.description.patternSources[0]!,
    ...Array.from(specialTokens, (token) => token.join("=")),
  ];
}
