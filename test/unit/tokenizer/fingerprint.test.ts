import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import * as asLearned from "../../../src/tokenizer/encode-as-learned.ts";
import * as fingerprints from "../../../src/tokenizer/fingerprint.ts";
import { encodeShort, shortEncoder } from "../../../src/tokenizer/fingerprint.ts";
import * as probe from "../../../src/tokenizer/probe.ts";
import { bpe, put, scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";

const directory = scratch();
const corpus = put(directory, "corpus.txt", probe.text);

/** Trains with these options, and returns the directory. */
function train(name: string, ...options: string[]): string {
  const output = join(directory, name);
  const { code, stderr } = bpe(["train", corpus, "-o", output, "-w", "1", "-q", ...options]);
  expect({ name, code, stderr: code === 0 ? "" : stderr }).toEqual({ name, code: 0, stderr: "" });
  return output;
}

test("the probe text is that of version 1", () => {
  const digest = createHash("sha256").update(probe.text).digest("hex");
  expect(digest).toBe("196ea753bd063f743b7a23c2402c4421779671ed77bb0bf109e46c767c04d3a4");
  // Lone surrogates would become other bytes in other programs.
  expect(probe.text.isWellFormed()).toBe(true);
});

test("a fingerprint is the digest of the ids that encoding gives", async () => {
  const output = train("plain", "-n", "600", "-s", "<|endoftext|>");
  const tokenizer = await Tokenizer.load(output);
  const ids = tokenizer.encode(probe.text);
  expect(encodeShort(tokenizer.parts, probe.text)).toEqual([...ids]);
  const digest = createHash("sha256")
    .update([...ids].join(" "))
    .digest("hex");
  expect(tokenizer.fingerprint).toBe(`1-${digest.slice(0, 32)}`);
  // Options for special tokens do not matter.
  expect(fingerprints.ofBehavior({ ...tokenizer.parts, specialTokensAsText: true })).toBe(
    tokenizer.fingerprint,
  );
});

test("an encoder of short texts gives each text its own ids", async () => {
  const { parts, ...tokenizer } = await Tokenizer.load(train("short", "-n", "500"));
  void tokenizer;
  const encode = shortEncoder(parts);
  for (const text of ["", "a", "The end. \n ", "", "\u{1f600}"])
    expect(encode(text)).toEqual(encodeShort(parts, text));
});

const settings: Readonly<Record<string, readonly string[]>> = {
  plain: [],
  "HF's order of ids": ["--compat", "huggingface", "-s", "<|endoftext|>"],
  "special tokens first": ["--special-tokens-first", "-s", "<s>", "-s", "<|im_start|>"],
  "another pattern": ["-p", "o200k"],
  "several splits": ["-p", "deepseek-v3"],
  "annotated text": ["-p", "marin-gpt-4o"],
  "a normal form": ["--normalize", "NFKC,lowercase"],
  superwords: ["--superwords-from", "400"],
  "seed tokens": ["--seed-token", " brotherhood"],
  "reserved tokens": ["--pad-to", "64"],
  "whole characters": ["--whole-characters"],
  "several sizes": ["-n", "700,600"],
};

for (const [name, options] of Object.entries(settings))
  test(`the record has the fingerprint of its files: ${name}`, async () => {
    const output = train(name, ...(options.includes("-n") ? [] : ["-n", "600"]), ...options);
    for (const size of options.includes("-n") ? ["600", "700"] : [""]) {
      const { fingerprint } = JSON.parse(readFileSync(join(output, size, "training.json"), "utf8"));
      expect(fingerprint).toBe((await Tokenizer.load(join(output, size))).fingerprint);
    }
  });

test("a tokenizer that was just learned gives the encoder's ids", async () => {
  const short = [
    "",
    "a",
    "aa",
    "aaa aaaa aaaaa ababab",
    "<s><s></s><|im_start|><|im_start<s>|>",
    " end.\n\n  ",
  ];
  const slices = Array.from({ length: 40 }, (_, i) => probe.text.slice(197 * i, 197 * i + 5 * i));
  const texts = [...short, ...slices, slices.reverse().join("")].map((text) => text.toWellFormed());
  let comparedCount = 0;
  for (const name of Object.keys(settings)) {
    const { parts, ...tokenizer } = await Tokenizer.load(
      join(directory, name, ...(name === "several sizes" ? ["700"] : [])),
    );
    void tokenizer;
    const encode = shortEncoder(parts);
    for (const text of texts) {
      const ids = asLearned.encode(parts, Buffer.from(text));
      if (ids === undefined) continue;
      expect({ name, ids: [...ids] }).toEqual({ name, ids: [...encode(text)] });
      comparedCount++;
    }
  }
  expect(comparedCount).toBeGreaterThan(8 * texts.length);
});

test("merges in an order in which they cannot have been learned are left to the encoder", async () => {
  const { parts, ...tokenizer } = await Tokenizer.load(train("ordered", "-n", "700"));
  void tokenizer;
  const random = randomNumbers(12);
  let refusedCount = 0;
  for (let round = 0; round < 40; round++) {
    const { left, right, merged } = parts.model.merges;
    const order = Array.from(left.keys());
    for (let swaps = 1 + random(9); swaps > 0; swaps--) {
      const [a, b] = [random(order.length), random(order.length)];
      [order[a], order[b]] = [order[b]!, order[a]!];
    }
    // In every second round, merges occur twice.
    if (round % 2 === 0)
      for (let k = 0; k < 9; k++) order.splice(random(order.length), 0, order[random(order.length)]!);
    const merges = {
      left: Int32Array.from(order, (k) => left[k]!),
      right: Int32Array.from(order, (k) => right[k]!),
      merged: Int32Array.from(order, (k) => merged[k]!),
    };
    const shuffled = { ...parts, model: { ...parts.model, merges } };
    const ids = asLearned.encode(shuffled, Buffer.from(probe.text));
    if (ids === undefined) refusedCount++;
    else expect({ round, ids: [...ids] }).toEqual({ round, ids: encodeShort(shuffled, probe.text) });
    expect(asLearned.fingerprint(shuffled)).toBe(fingerprints.ofBehavior(shuffled));
  }
  expect(refusedCount).toBeWithin(1, 40);
});

test("files without merges.txt have the digest of its lines in their record, too", () => {
  const digestOf = (output: string) =>
    JSON.parse(readFileSync(join(output, "training.json"), "utf8")).mergesSha256;
  const all = train("all formats", "-n", "600");
  const lines = readFileSync(join(all, "merges.txt"), "utf8").replace(/^#.*\n/, "");
  const digest = createHash("sha256").update(lines).digest("hex");
  expect(digestOf(all)).toBe(digest);
  expect(digestOf(train("only ranks", "-n", "600", "--format", "tiktoken"))).toBe(digest);
});

test("the record of an extended tokenizer, and of one like another, has the fingerprint of its files", async () => {
  const base = train("base", "-n", "500", "-s", "<|endoftext|>", "--normalize", "NFC");
  const extended = train("extended", "--extend", base, "-n", "+60", "-s", "<|im_start|>");
  const path = put(directory, "like.json", likeJson(readFileSync(join(base, "tokenizer.json"), "utf8")));
  const alike = train("alike", "--like", path, "-n", "600");
  const seen = new Set<string>();
  for (const output of [base, extended, alike]) {
    const { fingerprint } = JSON.parse(readFileSync(join(output, "training.json"), "utf8"));
    expect(fingerprint).toBe((await Tokenizer.load(output)).fingerprint);
    seen.add(fingerprint);
  }
  expect(seen.size).toBe(3);
});

/**
 * Returns a changed tokenizer.json: a space is put before each text, an added token is new, and some added tokens strip
 * the white space before them.
 */
function likeJson(text: string): string {
  const root = JSON.parse(text);
  root.pre_tokenizer = { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true };
  root.added_tokens[0].lstrip = true;
  root.added_tokens.push({ ...root.added_tokens[0], id: 500, content: "<think>", special: false });
  return JSON.stringify(root);
}
