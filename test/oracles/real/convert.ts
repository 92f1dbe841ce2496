// Part of `npm run suite real`: converts real tokenizers into those formats that `bpe convert` does not refuse.
// Programs that read these formats must give the ids of `bpe`, except where `knownDifference` allows others.

import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { controlNames } from "../../../src/formats/llama-pieces.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import * as patternForms from "../../../src/pattern/export-form.ts";
import { bpe, put, scratch } from "../../binary.ts";
import { askLlama, askOracle, encode, home, linesOf, materialOf, pathOf } from "./programs.ts";
import { commonTexts, ownTexts } from "./texts.ts";
import { isFirstOfFamily, type RealTokenizer, readTokenizers } from "./tokenizers.ts";

setDefaultTimeout(600_000);

const seed = Number(process.env.TEST_SEED ?? 12);
const directory = scratch();
const common = commonTexts(seed).filter((_, i) => i % 6 === 0);
const formats = ["huggingface", "gpt2", "tiktoken", "tekken", "gguf"] as const;
type Format = (typeof formats)[number];
const fileOf: Record<Format, string> = {
  huggingface: "tokenizer.json",
  gpt2: "vocab.json",
  tiktoken: "tokenizer.tiktoken",
  tekken: "tekken.json",
  gguf: "tokenizer.gguf",
};
const total = { written: {} as Record<string, number>, ids: 0, refusals: new Map<string, number>() };

afterAll(() => {
  const reasons = [...total.refusals]
    .sort(([, a], [, b]) => b - a)
    .map(([why, count]) => `${count} x ${why}`);
  console.log(
    `seed ${seed}: written ${JSON.stringify(total.written)}, ${total.ids.toLocaleString("en")} ids compared; refused:\n${reasons.join("\n")}`,
  );
});

/**
 * Converts the tokenizer to all formats that can represent it. Returns the other formats, with the reasons why they
 * cannot.
 */
function convert(path: string, into: string, more: readonly string[]): Map<Format, string> {
  const run = (of: readonly Format[]) =>
    bpe(["convert", path, ...more, "--format", of.join(","), "-o", into, "-q"]);
  const { code, stderr } = run(formats);
  if (code === 0) return new Map();
  const [, error = ""] = /^bpe: error: --format (.*)$/m.exec(stderr) ?? [];
  const refusals = new Map(
    error.split("; --format ").map((said) => {
      const at = said.indexOf(": ");
      return [said.slice(0, at) as Format, said.slice(at + 2)];
    }),
  );
  if (refusals.size === formats.length) return refusals;
  const again = run(formats.filter((format) => !refusals.has(format)));
  expect({ stderr, again: again.code }).toEqual({ stderr, again: 0 });
  return refusals;
}

for (const tokenizer of readTokenizers())
  test(`${tokenizer.name} in every format that can represent it`, async () => {
    const path = pathOf(tokenizer);
    const into = join(directory, tokenizer.name);
    const refusals = convert(path, into, tokenizer.options ?? []);
    for (const why of refusals.values()) total.refusals.set(why, (total.refusals.get(why) ?? 0) + 1);
    const written = formats.filter((format) => !refusals.has(format));
    expect(written).toEqual(formats.filter((format) => existsSync(join(into, fileOf[format]))));
    const source = await sourceOf(tokenizer);
    for (const format of written) {
      total.written[format] = (total.written[format] ?? 0) + 1;
      const theirs = await programs[format](source, into);
      const isKnown = knownDifference(source, format);
      const differing = source.texts.filter((text, i) => theirs[i] !== source.ids[i] && !isKnown(text));
      expect({ seed, format, differing: differing.slice(0, 3) }).toEqual({ seed, format, differing: [] });
      total.ids += theirs.reduce((sum, line) => sum + line.split(" ").length, 0);
    }
    rmSync(into, { recursive: true, force: true });
  });

test("a trained tekken.json is used with bos and eos", async () => {
  const corpus = put(directory, "corpus.txt", common.join("\n"));
  const output = join(directory, "trained");
  const first = [
    "--special-tokens-first",
    "-s",
    "<s>",
    "-s",
    "</s>",
    "--format",
    "tekken",
    "--binary",
    "text",
  ];
  const train = ["train", corpus, "-n", "1000", "-p", "tekken", ...first, "-o", output, "-q"];
  expect(bpe(train)).toMatchObject({ code: 0, stderr: "" });
  const tokenizer = await Tokenizer.load(join(output, "tekken.json"));
  const texts = common.filter((text) => text.isWellFormed());
  const theirs = await oracle(texts, join(output, "tekken.json"), "tekken", "bos", "eos");
  const framed = texts.map((text) => [0, ...tokenizer.encode(text), 1].join(" "));
  const differing = texts.filter((_, i) => theirs[i] !== framed[i]);
  expect({ seed, differing: differing.slice(0, 3) }).toEqual({ seed, differing: [] });
});

/** Loads a real tokenizer, and makes texts with their ids before the conversion. */
async function sourceOf(tokenizer: RealTokenizer) {
  const { loaded, ...material } = await materialOf(tokenizer);
  const { parts, specialTokens } = loaded;
  const own = ownTexts(seed, material);
  const texts = [...common, ...own.filter((_, i) => i % 8 === 0)];
  const records = put(
    directory,
    "texts.jsonl",
    texts.map((text) => `${JSON.stringify({ text })}\n`).join(""),
  );
  const specials = [
    ...specialTokens,
    ...(parts.controlTokens ?? []).map(({ content, id }) => [content, id] as const),
  ];
  return {
    texts,
    specials,
    parts,
    isFirst: isFirstOfFamily(tokenizer),
    ids: linesOf(await encode([records], tokenizer)),
  };
}

type Source = Awaited<ReturnType<typeof sourceOf>>;

/** Characters missing from llama.cpp's Unicode tables, and a long s after an apostrophe. */
const newToLlama =
  /\p{Cn}|[\u1c89\u1c8a\ua7cb-\ua7cd\ua7da-\ua7dc\u{105c0}-\u{105ff}\u{10d40}-\u{10d8f}\u{11380}-\u{113ff}\u{116d0}-\u{116ff}\u{11bc0}-\u{11bff}\u{13460}-\u{143ff}\u{16100}-\u{1613f}\u{16d40}-\u{16d7f}\u{1cc00}-\u{1cebf}\u{1e5d0}-\u{1e5ff}\u{2ebf0}-\u{2ee5f}]|'ſ/u;

/** Returns a function that says whether the format's program may give other ids for a text than `bpe`. */
function knownDifference({ parts, specials }: Source, format: Format): (text: string) => boolean {
  const said = format === "gguf" ? patternForms.describeLlamaCpp(parts.description.patternName) : "";
  const isWide = said.includes("beyond ASCII");
  const atEnd = said.includes("at white space that ends");
  // The program that reads tekken.json never finds special tokens in a text, and `bpe` never finds `controlTokens`.
  const hidden = format === "tekken" || parts.controlTokens !== undefined ? specials : [];
  // llama.cpp takes tokens with these names for special tokens. `bpe convert` warns of this.
  const isNamed = parts.model.beginning !== undefined && format === "gguf";
  const names = new RegExp(controlNames.source.slice(1, -1));
  return (text) =>
    (isNamed && names.test(text)) ||
    hidden.some(([special]) => text.includes(special)) ||
    (said !== "" && newToLlama.test(text)) ||
    (isWide && /\P{ASCII}/u.test(text)) ||
    (atEnd && /\s$/.test(text));
}

/**
 * For each format, a function that returns the ids which a program that reads the format gives to the texts. Without a
 * program for a GGUF file, it returns the ids of `bpe` itself.
 */
const programs: Record<Format, (source: Source, into: string) => Promise<string[]>> = {
  huggingface: ({ texts }, into) => oracle(texts, join(into, "tokenizer.json"), "huggingface"),
  // Files of gpt2 have no pattern, so the oracle takes that of tokenizer.json.
  gpt2: ({ texts }, into) => oracle(texts, join(into, "vocab.json"), "pair"),
  async gguf({ texts, isFirst, parts, ids: own }, into) {
    const path = join(into, "tokenizer.gguf");
    const hasLlama = existsSync(join(home, "llama"));
    const holdsMerges = parts.model.beginning === undefined;
    if (!holdsMerges && !hasLlama) return own;
    // PyPI's gguf reads only files with merges, and takes ten seconds for each. So if llama.cpp is there, gguf reads
    // only the first tokenizer of each family.
    const read = (hasLlama && !isFirst) || !holdsMerges ? null : await oracle(texts, path, "gguf");
    const ids = hasLlama ? await askLlama(put(directory, "texts.json", jsonLines(texts)), path) : read!;
    return ids.map((line, i) => (read === null || line === read[i] ? line : `${line}; gguf: ${read[i]}`));
  },
  tiktoken: ({ texts, specials, parts }, into) => {
    const typed = specials.map(([text, id]) => `${text}=${id}`);
    const pattern = parts.description.patternSources[0]!;
    return oracle(texts, join(into, "tokenizer.tiktoken"), "ranks", pattern, ...typed);
  },
  tekken: ({ texts }, into) => oracle(texts, join(into, "tekken.json"), "tekken"),
};

const jsonLines = (texts: readonly string[]) => texts.map((text) => `${JSON.stringify(text)}\n`).join("");

const oracle = (texts: readonly string[], ...args: string[]) =>
  askOracle(put(directory, "texts.json", jsonLines(texts)), args);
