import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { trainTokenizer } from "../../../src/index.ts";
import type { Warning } from "../../../src/jobs/warnings.ts";
import { bpe, put, scratch } from "../../binary.ts";

const home = scratch();
const at = (name: string) => join(home, name);
mkdirSync(at("mixed"));

const text = "some words and more of these words\n".repeat(20);
const files = put(home, "plain.txt", text);
const long = put(home, "long.txt", text.repeat(5));
const invalid = put(home, "invalid.txt", Buffer.concat([Buffer.from(text), Buffer.from([0xff])]));
const marked = put(home, "marked.txt", `${text}<e>${text}`);
put(home, "mixed/text.txt", text);
put(home, "mixed/picture.png", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"));

const plain = { files, vocabSize: 270, workers: 1 };

/** For each kind of warning: options that must cause it, and words of its sentence. */
const raised: { readonly [Kind in Exclude<Warning["kind"], Raced>]: [options: object, words: string] } = {
  "invalid bytes": [{ files: invalid }, "1 byte is not valid UTF-8"],
  "class of a model": [
    { model: { tokenizerClass: "LlamaTokenizer" } },
    "model.tokenizerClass LlamaTokenizer",
  ],
  "early stop": [{ vocabSize: 5000 }, "stopped early"],
  "equal counts": [{ files: [], counts: [at("a.counts"), at("b.counts")] }, "contain the same word counts"],
  "stream with a cache": [{ texts: [text], cache: at("cache") }, "cache cannot keep the counts of "],
  "uneven languages": [
    {
      files: undefined,
      languages: [
        { name: "en", files },
        { name: "de", files: long },
      ],
    },
    "languageRatio, or languages: dev with text",
  ],
  normalizer: [{ normalize: "NFC" }, "only tokenizer.json can store the normalizer"],
  "no pad": [{ model: { chatTemplate: "{{ messages }}" } }, 'add specialTokens "<|pad|>"'],
  "seed tokens that are bytes": [{ seedTokens: ["a"] }, 'because they are single bytes: "a"'],
  "seed tokens without a space": [
    { extend: at("base"), vocabSize: "+8", seedTokens: ["wordsmith"] },
    '("wordsmith") are not used for words within a sentence; add seedTokens " wordsmith"',
  ],
  "special tokens in the text": [
    { files: marked, compat: "huggingface", specialTokens: ["<e>"] },
    "to do as HF does, add specialTokensAsText",
  ],
  "skipped file": [{ files: at("mixed") }, 'picture.png" is not read'],
  note: [
    {
      files: undefined,
      languages: [
        { name: "en", files },
        { name: "de", files },
      ],
    },
    'is listed for language "en" and again for language "de"',
  ],
};

/** A warning that is not tested here, because it needs another process that writes into the output during the run. */
type Raced = "files in the old result";

test("the library reports every warning of the command line, with its own names", async () => {
  for (const name of ["a.counts", "b.counts"]) bpe(["count", files, "-w", "1", "-o", at(name)]);
  bpe(["train", files, "-n", "265", "-w", "1", "-o", at("base")]);
  for (const [kind, [options, words]] of Object.entries(raised)) {
    const heard: string[] = [];
    await trainTokenizer({
      ...plain,
      ...options,
      onWarning: (message: string) => heard.push(message),
    } as never);
    expect([kind, heard.filter((message) => message.includes(words)).length]).toEqual([kind, 1]);
    expect(heard.join("\n")).not.toContain("--");
  }
});

test("the library extends a base, makes several sizes, and does nothing if nothing has changed", async () => {
  const [output, extended] = [at("sizes"), at("extended")];
  const several = { ...plain, vocabSize: [262, 266], cache: at("kept"), ifChanged: true, output };
  const made = await trainTokenizer(several);
  expect([made.isUnchanged, made.statistics.mergeCount]).toEqual([false, 10]);
  bpe(["train", files, "-n", "262,266", "-w", "1", "-o", at("typed")]);
  const merges = (directory: string, size: number) =>
    Bun.file(join(directory, String(size), "merges.txt")).text();
  for (const size of [262, 266]) expect(await merges(output, size)).toBe(await merges(at("typed"), size));
  const again = await trainTokenizer(several);
  // Sources that are run directly have no commit, so nothing counts as unchanged, and this call trains again.
  expect([...again.encode(text)]).toEqual([...made.encode(text)]);

  const base = join(output, "262");
  const grown = await trainTokenizer({ ...plain, extend: base, vocabSize: "+4", output: extended });
  bpe(["train", files, "--extend", base, "-n", "+4", "-w", "1", "-o", at("grown")]);
  const ids = bpe(["encode", files, "--tokenizer", at("grown"), "-w", "1"])
    .stdout.trim()
    .split(" ")
    .map(Number);
  expect([...grown.encode(text)]).toEqual(ids);
  expect([grown.merges.length, grown.statistics.tokenCount]).toEqual([4, ids.length]);
  expect(await Bun.file(join(extended, "tokenizer.json")).text()).toBe(
    await Bun.file(join(at("grown"), "tokenizer.json")).text(),
  );
});
