import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { randomSource } from "../../bench/random.ts";
import { trainTokenizer } from "../../src/index.ts";
import { bpe, mergesOf, put, scratch } from "../binary.ts";
import { rounds } from "../rounds.ts";
import { rowsOf } from "../rows.ts";

const home = scratch();
const random = randomSource(20261122);
const words = [
  "low",
  "lower",
  " newest",
  "naïve",
  "e\u0301te\u0301",
  "数据",
  " 1234",
  "\n",
  "\r\n",
  "  ",
  "ﬁ",
  "it's",
  " <b>",
  "\t",
];
const made = (count: number) =>
  Array.from({ length: count }, () => words[random.below(words.length)]!).join("");
const text = made(2000);
const corpus = put(home, "corpus.txt", text);

// biome-ignore lint/suspicious/noExplicitAny: JSON of files
type Json = any;

const token = (id: number, content: string, flags = {}) => ({
  ...{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true },
  ...flags,
});
const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
const bytes = bpe(["train", corpus, "-n", "256", "--compat", "huggingface", "-o", join(home, "bytes"), "-q"]);
expect(bytes.code).toBe(0);
const alphabet = JSON.parse(readFileSync(join(home, "bytes/vocab.json"), "utf8"));

/** A tokenizer whose vocabulary has the 256 bytes and `<unk>`, which is no added token. */
const plain = {
  version: "1.0",
  truncation: { direction: "Right", max_length: 100, strategy: "LongestFirst", stride: 0 },
  padding: null as Json,
  added_tokens: [
    token(257, "<s>"),
    token(258, "<think>", { special: false, normalized: true }),
    token(259, "<mask>", { lstrip: true }),
  ],
  normalizer: null as Json,
  pre_tokenizer: byteLevel as Json,
  post_processor: null as Json,
  decoder: { ...byteLevel, add_prefix_space: true, trim_offsets: false },
  model: {
    ...{
      type: "BPE",
      dropout: null,
      unk_token: "<unk>",
      continuing_subword_prefix: "",
      end_of_word_suffix: "",
    },
    ...{ fuse_unk: false, byte_fallback: false, ignore_merges: true },
    vocab: { ...alphabet, "<unk>": 256 },
    merges: [],
  },
};

function directory(name: string, root: Json, companions: Record<string, Json> = {}): string {
  const path = join(home, name);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  put(path, "tokenizer.json", JSON.stringify(root));
  for (const [file, value] of Object.entries(companions))
    put(path, file, typeof value === "string" ? value : JSON.stringify(value));
  return path;
}

function train(like: string, ...options: string[]) {
  const output = join(home, "output");
  rmSync(output, { recursive: true, force: true });
  const size = options.includes("-n") ? [] : ["-n", "300"];
  const { code, stderr } = bpe([
    "train",
    corpus,
    ...size,
    "-o",
    output,
    "-w",
    "1",
    "--like",
    like,
    ...options,
  ]);
  const read = (name: string): Json => JSON.parse(readFileSync(join(output, name), "utf8"));
  return { code, stderr, read, output };
}

const trainedMerges = (path: string) =>
  JSON.parse(readFileSync(join(path, "tokenizer.json"), "utf8")).model.merges.map((pair: string[]) =>
    pair.join(" "),
  );

/** Returns the merges of an ordinary training with HF's rule on this text. */
function expectedMerges(content: string, ...options: string[]) {
  const path = put(home, "expected.txt", content);
  const args = ["--compat", "huggingface", "-s", "<s>", "-s", "<mask>", ...options];
  expect(bpe(["train", path, "-n", "300", "-o", join(home, "expected"), "-q", ...args]).code).toBe(0);
  return mergesOf(join(home, "expected"));
}

test("special tokens come first, added tokens that are not special after the size; the rest of the file stays", () => {
  const { code, read, output } = train(directory("plain", plain));
  expect(code).toBe(0);
  const { added_tokens, model, ...rest } = read("tokenizer.json");
  const { added_tokens: _, model: __, ...before } = plain;
  expect(rest).toEqual(before);
  expect(added_tokens).toEqual([
    token(0, "<s>"),
    token(1, "<mask>", { lstrip: true }),
    token(300, "<think>", { special: false, normalized: true }),
  ]);
  const { vocab, merges, ...settings } = model;
  const { vocab: ___, merges: ____, ...settingsBefore } = plain.model;
  expect(settings).toEqual(settingsBefore);
  expect(Object.values(vocab).sort((a: Json, b: Json) => a - b)).toEqual(
    Array.from({ length: 300 }, (_, id) => id),
  );
  expect([vocab["<s>"], vocab["<mask>"], vocab["!"]]).toEqual([0, 1, 2]);
  expect(merges.map((pair: string[]) => pair.join(" "))).toEqual(expectedMerges(text));
  // vocab.json and merges.txt cannot express that a token strips whitespace.
  expect(read("training.json").files).not.toContain("vocab.json");
  expect(read("training.json").options).toMatchObject({
    like: join(home, "plain"),
    compat: "huggingface",
    reservedTokens: [],
  });
  const ids = bpe(["encode", put(home, "t.txt", "low <mask><think>"), "--tokenizer", output])
    .stdout.trim()
    .split(" ");
  expect(ids.slice(-2)).toEqual(["1", "300"]);
});

test("post-processors and padding get the new ids, by the texts of the tokens", () => {
  const special = { SpecialToken: { id: "<s>", type_id: 0 } };
  const template = {
    type: "TemplateProcessing",
    single: [special, { Sequence: { id: "A", type_id: 0 } }],
    pair: [special, { Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }],
    special_tokens: { "<s>": { id: "<s>", ids: [257], tokens: ["<s>"] } },
  };
  const post_processor = { type: "Sequence", processors: [byteLevel, template] };
  const padding = {
    strategy: "BatchLongest",
    direction: "Right",
    pad_to_multiple_of: null,
    pad_id: 259,
    pad_type_id: 0,
    pad_token: "<mask>",
  };
  const { read } = train(
    directory(
      "post",
      { ...plain, post_processor, padding },
      { "tokenizer_config.json": { bos_token: "<s>" } },
    ),
  );
  expect(read("tokenizer.json").post_processor.processors[1].special_tokens["<s>"].ids).toEqual([0]);
  expect(read("tokenizer.json").padding.pad_id).toBe(1);
  expect(read("training.json").options.model.addsBos).toBe(true);
  expect(read("tokenizer_config.json").add_bos_token).toBe(true);
  const roberta = {
    type: "RobertaProcessing",
    sep: ["<mask>", 259],
    cls: ["<s>", 257],
    trim_offsets: true,
    add_prefix_space: true,
  };
  const likeRoberta = train(directory("roberta", { ...plain, post_processor: roberta }));
  expect(likeRoberta.read("tokenizer.json").post_processor).toEqual({
    ...roberta,
    sep: ["<mask>", 1],
    cls: ["<s>", 0],
  });
  // The post-processor puts <s> before each text, but no role of this tokenizer calls <s> bos.
  expect(likeRoberta.read("tokenizer_config.json")).not.toHaveProperty("add_bos_token");
  const gone = { ...roberta, sep: ["the", 5] };
  expect(train(directory("gone", { ...plain, post_processor: gone })).stderr).toContain(
    'its post-processor or padding uses "the", which is not among its added tokens',
  );
  const refused = train(join(home, "roberta"), "--add-bos", "--bos", "<s>");
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining("adds tokens to each text already, so a bos token cannot be added or changed"),
  ]);
});

test("files that transformers reads next to it are kept, and typed options win", () => {
  const config = {
    bos_token: {
      content: "<s>",
      lstrip: false,
      normalized: false,
      rstrip: false,
      single_word: false,
      __type: "AddedToken",
    },
    eos_token: "<think>",
    pad_token: "[PAD]",
    unk_token: null,
    model_max_length: 1e30,
    tokenizer_class: "Qwen2Tokenizer",
    extra_special_tokens: ["<mask>"],
    // The flags and the tokens in this field are used, too.
    added_tokens_decoder: {
      257: token(257, "<s>", { rstrip: true }),
      300: token(300, "<late>"),
    },
    padding_side: "left",
  };
  const companions = { "tokenizer_config.json": config, "chat_template.jinja": "{{ bos_token }}é" };
  const like = directory("with-companions", plain, companions);
  const { read } = train(like);
  const { added_tokens_decoder, ...written } = read("tokenizer_config.json");
  const { model_max_length: _, added_tokens_decoder: __, ...kept } = config;
  expect(written).toEqual({
    ...kept,
    add_bos_token: false,
    chat_template: "{{ bos_token }}é",
    clean_up_tokenization_spaces: false,
  });
  // If the token of a role does not exist, it is added: here `[PAD]`. `<think>`, which was not special, becomes special
  // and stays after the learned tokens.
  expect(
    Object.entries(added_tokens_decoder).map(([id, { content, special }]: Json) => [id, content, special]),
  ).toEqual([
    ["0", "<s>", true],
    ["1", "<mask>", true],
    ["2", "<late>", true],
    ["3", "[PAD]", true],
    ["300", "<think>", true],
  ]);
  expect(added_tokens_decoder["0"].rstrip).toBe(true);
  expect(read("training.json").options.model).toMatchObject({
    bos: "<s>",
    eos: "<think>",
    pad: "[PAD]",
    tokenizerClass: "Qwen2Tokenizer",
  });
  expect(read("training.json").options.model.unk).toBeUndefined();
  const typed = [
    "-s",
    "<x>",
    "-s",
    "<s>",
    "-s",
    "<think>",
    "--eos",
    "<x>",
    "--bos",
    "",
    "--class",
    "Mine",
    "--model-max-length",
    "9",
  ];
  const other = train(like, ...typed, "--chat-template", put(home, "chat.jinja", "{{ 1 }}")).read;
  expect(other("tokenizer_config.json")).toMatchObject({
    ...{
      bos_token: null,
      eos_token: "<x>",
      tokenizer_class: "Mine",
      model_max_length: 9,
      chat_template: "{{ 1 }}",
    },
  });
  expect(other("training.json").options.specialTokens).toEqual([
    "<s>",
    "<mask>",
    "<late>",
    "[PAD]",
    "<x>",
    "<think>",
  ]);
});

test("a prefix space comes before each line, a normal form before the pattern: as in a text that is changed beforehand", () => {
  const spaced = (content: string) =>
    content.replace(/[^\n]*\n|[^\n]+$/g, (line) => (line.startsWith(" ") ? line : ` ${line}`));
  const prefix = directory("prefix", { ...plain, pre_tokenizer: { ...byteLevel, add_prefix_space: true } });
  const nfc = directory("nfc", { ...plain, normalizer: { type: "NFC" } });
  for (let round = 0; round < rounds(6); round++) {
    const content = made(1 + random.below(400));
    put(home, "corpus.txt", content);
    expect(trainedMerges(train(prefix).output)).toEqual(expectedMerges(spaced(content)));
    expect(trainedMerges(train(nfc).output)).toEqual(expectedMerges(content.normalize("NFC")));
  }
  put(home, "corpus.txt", text);
  const { code, stderr } = train(prefix, "--cache", join(home, "cache"));
  expect([code, stderr]).toEqual([2, expect.stringContaining("--cache cannot be combined with --like here")]);
});

test("an added token that the training learns is that token; sizes and --pad-to count the others", () => {
  const later = { special: false, normalized: true };
  const like = directory("learned", {
    ...plain,
    added_tokens: [token(257, "low", later), token(258, "<x>", later)],
  });
  const { output, read } = train(like, "-n", "280,300", "--pad-to", "16", "--model-card");
  for (const size of [280, 300]) {
    const root = read(`${size}/tokenizer.json`);
    const learned = root.model.vocab.low ?? size;
    expect(root.added_tokens.slice(0, 2).map(({ id, content }: Json) => [id, content])).toEqual([
      [learned, "low"],
      [learned === size ? size + 1 : size, "<x>"],
    ]);
    const { reservedTokens } = read(`${size}/training.json`).options;
    expect((size + (learned === size ? 2 : 1) + reservedTokens.length) % 16).toBe(0);
    expect(root.added_tokens.at(-1).id % 16).toBe(15);
    expect(trainedMerges(join(output, String(size))).length).toBe(size - 256);
  }
  expect(readFileSync(join(output, "300/README.md"), "utf8")).toContain(
    "- **Other added tokens**: `low`, `<x>`.",
  );
  const several = bpe(["train", corpus, "-n", "300", "--like", output, "-o", join(home, "other")]);
  expect(several.stderr).toContain("contains tokenizers of 2 sizes: 280, 300");
});

test("like a tokenizer of one's own: its rule, its special tokens, in every format; a change of it is a change", () => {
  const own = join(home, "own");
  const first = [
    "train",
    corpus,
    "-n",
    "300",
    "-o",
    own,
    "-q",
    "-s",
    "<|end|>",
    "-p",
    "cl100k",
    "--compat",
    "rustbpe",
  ];
  expect(bpe(first).code).toBe(0);
  for (const like of [
    own,
    join(own, "tokenizer.json"),
    join(own, "vocab.json"),
    join(own, "tokenizer.tiktoken"),
  ]) {
    const { output } = train(like);
    for (const name of ["vocab.json", "merges.txt", "tokenizer.tiktoken"])
      expect([like, readFileSync(join(output, name), "utf8")]).toEqual([
        like,
        readFileSync(join(own, name), "utf8"),
      ]);
  }
  const output = join(home, "changed");
  const again = () =>
    bpe([
      "train",
      corpus,
      "-n",
      "290",
      "-o",
      output,
      "--like",
      own,
      "--cache",
      join(home, "kept"),
      "--if-changed",
    ]);
  expect(again().stderr).toContain("written");
  expect(again().stderr).toContain("unchanged");
  expect(bpe([...first, "-s", "<|other|>"]).code).toBe(0);
  expect(again().stderr).toContain("written");
  expect(JSON.parse(readFileSync(join(output, "training.json"), "utf8")).options).toMatchObject({
    specialTokens: ["<|end|>", "<|other|>"],
    compat: "rustbpe",
  });
  // Now the tokenizer for --like has its special tokens first, so the new one gets them first, too.
  expect(bpe([...first, "--special-tokens-first"]).code).toBe(0);
  expect(again().stderr).toContain("written");
  expect(JSON.parse(readFileSync(join(output, "vocab.json"), "utf8"))["<|end|>"]).toBe(0);
});

test("the library gives the output of the command line, and encodes like its files", async () => {
  const like = directory("library", {
    ...plain,
    pre_tokenizer: { ...byteLevel, add_prefix_space: true },
    normalizer: { type: "NFC" },
  });
  const tokenizer = await trainTokenizer({ files: corpus, vocabSize: 300, like, workers: 1 });
  const { output } = train(like);
  expect(Buffer.from(tokenizer.files().get("tokenizer.json")!).toString()).toBe(
    readFileSync(join(output, "tokenizer.json"), "utf8"),
  );
  const sample = put(home, "sample.txt", "low <mask>e\u0301 <think> x");
  const ids = bpe(["encode", sample, "--tokenizer", output]).stdout.trim().split(" ").map(Number);
  expect([...tokenizer.encode(readFileSync(sample, "utf8"))]).toEqual(ids);
  for (const [options, message] of [
    [{ cache: join(home, "cache") }, "cache cannot be combined with like here"],
    [{ like: "nowhere" }, '"nowhere": no such file or directory'],
  ] as [object, string][]) {
    const failing = trainTokenizer({ files: corpus, vocabSize: 300, like, ...options });
    expect(failing).rejects.toThrow(message);
    await failing.catch(() => {});
  }
});

test("published tokenizers can be named if no file has that name", () => {
  const sums = rowsOf(`
    gpt2    | 1    | <|endoftext|>       | null
    gpt-4   | 5    | <|endofprompt|>     | null
    gpt-4o  | 2    | <|endofprompt|>     | null
    llama3  | 256  | <|reserved_special_token_245|> | TemplateProcessing
    llama4  | 2048 | <|reserved_special_token_903|> | TemplateProcessing
    qwen3   | 26   | </think>            | null
  `);
  for (const [name, count, last, post] of sums) {
    const { code, read } = train(name!, "-n", "2400");
    expect([name, code]).toEqual([name, 0]);
    const { added_tokens, normalizer, post_processor } = read("tokenizer.json");
    expect([name, added_tokens.length, added_tokens.at(-1).content]).toEqual([name, Number(count), last]);
    expect(String(post_processor?.type ?? null)).toBe(post!);
    expect(normalizer).toEqual(name === "qwen3" ? { type: "NFC" } : null);
    expect(read("training.json").options).toMatchObject({ like: name, compat: "huggingface" });
  }
  mkdirSync(join(home, "gpt2"));
  const run = bpe(["train", corpus, "-n", "300", "--like", "gpt2", "-o", "none"], { cwd: home });
  expect(run.stderr).toContain('"gpt2" contains no tokenizer');
});

test("unsupported tokenizers are refused, and nothing is written", () => {
  directory("wordpiece", { ...plain, model: { type: "WordPiece", vocab: {} } });
  directory("metaspace", { ...plain, pre_tokenizer: { type: "Metaspace", replacement: "▁" } });
  directory("config", plain, { "tokenizer_config.json": "[1]" });
  mkdirSync(join(home, "slow"));
  put(join(home, "slow"), "vocab.txt", "[PAD]\n");
  put(home, "packed.gz", gzipSync(JSON.stringify(plain)));
  const cases = rowsOf(`
    smollm               | 2 | --like smollm names a pattern
    slow                 | 1 | "slow" contains no tokenizer
    wordpiece            | 1 | its model is "WordPiece", not BPE
    metaspace            | 1 | its pre-tokenizer (Metaspace) is not byte-level, but its decoder (ByteLevel) is
    config               | 1 | "config/tokenizer_config.json" contains [1], but must contain a JSON object
    packed.gz            | 1 | "packed.gz" is compressed with gzip
    plain --format gpt2  | 1 | --format gpt2: it cannot store the added token "<mask>", which is not a plain special token
    plain --format tiktoken | 1 | --format tiktoken:
    plain -n 257         | 2 | --vocab-size is 257, but must be
    plain -s <x> -s <x>  | 2 | special token "<x>" is given twice
    plain --bos <y>      | 2 | --bos "<y>" is not a special token
  `);
  for (const [typed, code, message] of cases) {
    const size = typed!.includes("-n") ? [] : ["-n", "300"];
    const args = ["train", "corpus.txt", ...size, "-w", "1", "--like", ...typed!.split(" ")];
    const run = bpe([...args, "-o", "none"], { cwd: home });
    expect([typed, run.code, run.stderr]).toEqual([typed, Number(code), expect.stringContaining(message!)]);
  }
  expect(() => readFileSync(join(home, "none"))).toThrow();
});
