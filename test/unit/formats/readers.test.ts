import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tiktoken } from "tiktoken";
import { Tokenizer as HuggingFace } from "tokenizers";
import { trainTokenizer } from "../../../src/index.ts";
import { binary, bpe, environment, mergesOf, put, scratch } from "../../binary.ts";
import { gpt2Pattern, madeText } from "../tokenizer/made-merges.ts";

const home = scratch();

/** Odd special tokens. Almost any text is allowed (src/tokenizer/vocabulary.ts has the exceptions). */
const odd = [
  "\n\n",
  "\r\n",
  "<|a\tb|>",
  "\x1b[31mred\x1b[0m",
  "\x07\x08",
  "\x7f\x7f",
  "<|line\nbreak|>",
  "\u2028\u2029",
  "\u202eturned",
  "\ufeff<bom>",
  "\ufffd\ufffd",
  "👩‍👩‍👧",
  "é́́",
  "  two spaces  ",
  '"quoted" \\ and {json}',
  "#version: 0.2",
  "--dashes",
  "007",
  `<|${"long".repeat(20_000)}|>`,
];
// The documents have only letters and single spaces, so no special token occurs in them.
const oddDocuments = odd.map((_, seed) =>
  madeText(seed, 200)
    .replaceAll(/[^a-z]+/gi, " ")
    .trim(),
);
const oddText = oddDocuments.map((document, n) => document + odd[n]).join("");
const oddCorpus = put(home, "odd.txt", oddText);

test("special tokens of any characters are intact in every format and every reader", () => {
  const output = join(home, "odd");
  const specials = odd.map((token) => `--special-token=${token}`);
  const run = bpe(["train", oddCorpus, "-n", "420", "-o", output, "-w", "2", ...specials]);
  expect(run.code).toBe(0);
  // Control characters in messages are escaped.
  expect(run.stderr.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  const read = (name: string) => readFileSync(join(output, name), "utf8");
  const record = JSON.parse(read("training.json"));
  expect(record.options.specialTokens).toEqual(odd);
  expect(record.inputs[0].documents).toBe(odd.length);

  const vocabulary = JSON.parse(read("vocab.json")) as Record<string, number>;
  const ids = odd.map((token) => vocabulary[token]!);
  const first = 420 - odd.length;
  expect(ids).toEqual(odd.map((_, n) => first + n));
  expect(mergesOf(output).length).toBe(first - 256);

  const json = JSON.parse(read("tokenizer.json"));
  expect(json.added_tokens.map(({ content }: { content: string }) => content)).toEqual(odd);
  const theirs = HuggingFace.fromFile(join(output, "tokenizer.json"));
  const lines = read("tokenizer.tiktoken").split("\n").slice(0, -1);
  expect(lines.length).toBe(first);
  const ranks = lines.map((line) => `! ${line.split(" ")[1]} ${line.split(" ")[0]}`).join("\n");
  const tiktoken = new Tiktoken(
    ranks,
    Object.fromEntries(odd.map((token, n) => [token, ids[n]!])),
    gpt2Pattern.source,
  );

  const encoded = bpe(["encode", oddCorpus, "--tokenizer", output, "-q"])
    .stdout.trim()
    .split(" ")
    .map(Number);
  expect(encoded.filter((id) => id >= first)).toEqual(ids);
  expect([...tiktoken.encode(oddText, "all")]).toEqual(encoded);
  const npy = join(home, "ids.npy");
  expect(bpe(["encode", oddCorpus, "--tokenizer", output, "-o", npy, "-q"]).code).toBe(0);
  expect(bpe(["decode", npy, "--tokenizer", output]).stdout).toBe(oddText);
  return theirs.encode(oddText).then((encoding) => expect([...encoding.getIds()]).toEqual(encoded));
}, 600_000);

test("inspect shows them escaped", () => {
  const { stdout } = bpe(["inspect", join(home, "odd")]);
  expect(stdout).toContain("\\x1b[31mred\\x1b[0m");
  expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
});

test("anything but text is refused: bytes that are not UTF-8, half a surrogate pair; and a NUL is text", async () => {
  // The shell makes this byte, because a JavaScript string cannot contain it.
  const script = `exec "$0" train "$1" -n 300 -o "$2" -s "$(printf '\\377<end>')"`;
  const bytes = Bun.spawnSync(["sh", "-c", script, binary, oddCorpus, join(home, "none")], {
    env: environment,
  });
  expect(bytes.stderr.toString()).toBe(
    'bpe: error: the argument "\\xff<end>" is not valid UTF-8\nhint: type it in UTF-8; if it names a file, rename the file\n',
  );
  expect(bytes.exitCode).toBe(2);
  const half = trainTokenizer({ files: oddCorpus, vocabSize: 300, specialTokens: ["\ud800x"] });
  await expect(half).rejects.toThrow("half of a surrogate pair");
  const output = join(home, "nul");
  const withNul = await trainTokenizer({ files: oddCorpus, vocabSize: 300, specialTokens: ["a\0b"], output });
  expect([...withNul.encode("a\0b")]).toEqual([299]);
  expect(JSON.parse(readFileSync(join(output, "vocab.json"), "utf8"))["a\0b"]).toBe(299);
});
