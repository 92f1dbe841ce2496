// `bpe doctor` finds many kinds of damage of a tokenizer, and does not report correct settings.
import { beforeAll, describe, expect, test } from "bun:test";
import { isUtf8 } from "node:buffer";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checks } from "../../src/doctor/checks.ts";
import * as tokenizerFiles from "../../src/formats/load-tokenizer.ts";
import * as tokenTables from "../../src/tokenizer/token-table.ts";
import { binary, bpe, put, scratch } from "../binary.ts";
import { onTerminal } from "../pseudo-terminal.ts";
import { misfits, type Schema } from "./json-schema.ts";

const root = join(import.meta.dir, "../..");
const home = scratch();
const good = join(home, "good");
// biome-ignore lint/suspicious/noExplicitAny: the content of files, which tests change
type Json = any;
type Files = Record<string, Json>;
type Finding = { check: string; severity: string; message: string; evidence: string[]; fix: string | null };

const parsed = new Map<string, string>();

beforeAll(() => {
  const corpus = put(home, "corpus.txt", corpusText());
  const specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<pad>"].flatMap((token) => ["-s", token]);
  const roles = ["--eos", "<|im_end|>", "--pad", "<pad>", "--chat-template", "chatml"];
  const { code, stderr } = bpe([
    "train",
    corpus,
    "-n",
    "1500",
    "-p",
    "gpt4",
    ...specials,
    ...roles,
    "-o",
    good,
    "-w",
    "1",
    "-q",
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const name of readdirSync(good)) parsed.set(name, readFileSync(join(good, name), "utf8"));
});

/**
 * Returns the first parts of the probe text, which are in many scripts, and then English and code, so that tokens of
 * each kind are learned.
 */
function corpusText(): string {
  const { parts } = JSON.parse(readFileSync(join(root, "docs/probe-1.json"), "utf8"));
  const scripts = parts
    .slice(0, 45)
    .map(({ text }: { text: string }) => text)
    .join("");
  const pages = ["README.md", "ARCHITECTURE.md", "docs/train.md", "src/main/help.ts"];
  return [scripts, ...pages.map((page) => readFileSync(join(root, page), "utf8"))].join("\n");
}

const textFiles = ["merges.txt", "tokenizer.tiktoken", "tokens.tsv"];

/**
 * Writes a damaged copy of the good tokenizer, and returns its directory. `damage` changes the parsed files; a file
 * that it sets to undefined is left out.
 */
function damaged(name: string, damage: (files: Files) => void): string {
  const directory = join(home, name.replaceAll(/\W+/g, "-"));
  mkdirSync(directory);
  const files: Files = {};
  for (const [file, text] of parsed) files[file] = textFiles.includes(file) ? text : JSON.parse(text);
  // If these files stayed, damage to one file could be reported as a disagreement between two files.
  for (const file of ["vocab.json", "merges.txt", "tokenizer.tiktoken", "training.json", "tokens.tsv"]) {
    if (!keepsAll.has(name)) delete files[file];
  }
  damage(files);
  for (const [file, value] of Object.entries(files)) {
    if (value === undefined) continue;
    writeFileSync(join(directory, file), typeof value === "string" ? value : JSON.stringify(value));
  }
  return directory;
}

function examine(
  path: string,
  ...options: string[]
): { code: number | null; findings: Finding[]; stderr: string; json: Json } {
  const { code, stdout, stderr } = bpe(["doctor", path, "--json", ...options]);
  const json = stdout === "" ? null : JSON.parse(stdout);
  return { code, stderr, json, findings: json?.findings ?? [] };
}

const split = (regex: string, behavior = "Isolated") => ({
  type: "Split",
  pattern: { Regex: regex },
  behavior,
  invert: false,
});
const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false };
const sequence = (...steps: object[]) => ({ type: "Sequence", pretokenizers: steps });
const json = (files: Files) => files["tokenizer.json"];
const config = (files: Files) => files["tokenizer_config.json"];
const cutBy =
  (...steps: object[]) =>
  (files: Files) => {
    json(files).pre_tokenizer = sequence(...steps, byteLevel);
  };
const gpt4Like = "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+|\\s+";
/** Returns the keys of the vocabulary from the last to the first, without the four special tokens at its end. */
const lastKeys = (files: Files) => Object.keys(json(files).model.vocab).slice(0, -4).reverse();
function addKey(files: Files, key: string): void {
  json(files).model.vocab[key] = 1500;
}

/** The damages that each check has to find: their names, and functions that change the files. */
const damages: Record<string, Record<string, (files: Files) => void>> = {
  "not-loaded": {
    dropout: (files) => {
      json(files).model.dropout = 0.1;
    },
    "an unknown pre-tokenizer": (files) => {
      json(files).pre_tokenizer = sequence({ type: "Metaspace" }, byteLevel);
    },
    "an expression that does not compile": cutBy(split("(\\p{L}+")),
    "an unknown normalizer": (files) => {
      json(files).normalizer = { type: "Nmt" };
    },
  },
  "unreadable-file": {
    "a cut configuration": (files) => {
      files["tokenizer_config.json"] = '{"eos_token": ';
    },
    "a list as map": (files) => {
      files["special_tokens_map.json"] = "[]";
    },
    "an empty generation_config": (files) => {
      files["generation_config.json"] = "";
    },
  },
  "no-byte-level": {
    "no pre-tokenizer": (files) => {
      json(files).pre_tokenizer = null;
    },
    "a Split alone": (files) => {
      json(files).pre_tokenizer = split("\\s+");
    },
    whitespace: (files) => {
      json(files).pre_tokenizer = { type: "Whitespace" };
    },
  },
  "no-byte-level-decoder": {
    "no decoder": (files) => {
      json(files).decoder = null;
    },
    "another decoder": (files) => {
      json(files).decoder = { type: "WordPiece", prefix: "##", cleanup: true };
    },
    "a fuse": (files) => {
      json(files).decoder = { type: "Sequence", decoders: [{ type: "Fuse" }] };
    },
  },
  "dead-split": {
    "doubled backslashes": cutBy(split("\\\\p{L}+|\\\\p{N}+")),
    "one of two": cutBy(split("qqqqzz"), split(`\\p{L}+|${gpt4Like}`)),
    "a literal that nobody types": cutBy(
      { ...split(""), pattern: { String: "\\p{N}{1,3}" } },
      split(`\\p{L}+|${gpt4Like}`),
    ),
  },
  "cuts-inside-words": {
    "a letter each": cutBy(split(`\\p{L}|${gpt4Like}`)),
    "two letters each": cutBy(split(`\\p{L}{1,2}|${gpt4Like}`)),
    vowels: cutBy(split(`[aeiou]|${gpt4Like}`)),
    "fixed length": cutBy({ type: "FixedLength", length: 2 }),
  },
  "no-cutting": {
    "the Split was lost": cutBy(),
    "everything matches": cutBy(split("[\\s\\S]+")),
    "a ByteLevel alone": (files) => {
      json(files).pre_tokenizer = byteLevel;
    },
  },
  "pattern-misfit": {
    "spaces alone": cutBy(split(`\\p{L}+|${gpt4Like}`)),
    "spaces after words": cutBy(split(`\\p{L}+\\s?|${gpt4Like}`)),
    "camel case": cutBy(split(` |\\p{Lu}?\\p{Ll}+|${gpt4Like}`)),
  },
  "normalized-away": {
    "capital letters": (files) => {
      json(files).normalizer = { type: "Lowercase" };
    },
    decomposed: (files) => {
      json(files).normalizer = { type: "NFD" };
    },
    both: (files) => {
      json(files).normalizer = { type: "Sequence", normalizers: [{ type: "NFKC" }, { type: "Lowercase" }] };
    },
  },
  "class-override": {
    llama: (files) => {
      config(files).tokenizer_class = "LlamaTokenizerFast";
    },
    qwen: (files) => {
      config(files).tokenizer_class = "Qwen2Tokenizer";
    },
    gpt2: (files) => {
      config(files).tokenizer_class = "GPT2TokenizerFast";
    },
  },
  "prefix-space": {
    "the configuration adds one": (files) => {
      config(files).add_prefix_space = true;
    },
    "the tokenizer adds one": (files) => {
      json(files).pre_tokenizer = { ...byteLevel, use_regex: true, add_prefix_space: true };
      config(files).add_prefix_space = false;
    },
    "both are stated": (files) => {
      json(files).pre_tokenizer = { ...byteLevel, use_regex: true, add_prefix_space: false };
      config(files).add_prefix_space = true;
    },
  },
  "no-equal": {
    "several Splits": cutBy(split("\\p{N}"), split("\\p{L}+"), split("\\s+")),
    "an expression of its own": cutBy(split(` ?\\p{L}+|${gpt4Like}|!`)),
    Digits: cutBy({ type: "Digits", individual_digits: true }, split(` ?\\p{L}+|${gpt4Like}`)),
  },
  "missing-bytes": {
    "a tab": (files) => {
      delete json(files).model.vocab.ĉ;
      dropMerges(files, "ĉ");
    },
    "bytes of UTF-8": (files) => {
      for (const key of ["ð", "ñ", "ò"]) {
        delete json(files).model.vocab[key];
        dropMerges(files, key);
      }
    },
    "a letter": (files) => {
      delete json(files).model.vocab.Q;
      dropMerges(files, "Q");
    },
  },
  "merge-without-token": {
    "a result": (files) => {
      delete json(files).model.vocab[lastKeys(files)[0]!];
    },
    "a part": (files) => {
      json(files).model.merges.push(["zzz", "a"]);
    },
    "as text": (files) => {
      json(files).model.merges = [
        ...json(files).model.merges.map((pair: string[]) => pair.join(" ")),
        "q zq",
      ];
    },
  },
  "repeated-merge": {
    "the first": (files) => {
      json(files).model.merges.push(json(files).model.merges[0]);
    },
    "the last": (files) => {
      json(files).model.merges.push(json(files).model.merges.at(-1));
    },
    many: (files) => {
      json(files).model.merges.push(...json(files).model.merges.slice(10, 30));
    },
  },
  "repeated-key": {
    "a byte": (files) => {
      files["tokenizer.json"] = JSON.stringify(json(files)).replace('"vocab":{', '"vocab":{"a":97,');
    },
    "another id": (files) => {
      files["tokenizer.json"] = JSON.stringify(json(files)).replace('"vocab":{', '"vocab":{"b":1400,');
    },
    "a learned token": (files) => {
      const key = lastKeys(files)[5]!;
      files["tokenizer.json"] = JSON.stringify(json(files)).replace(
        '"vocab":{',
        `"vocab":{${JSON.stringify(key)}:7,`,
      );
    },
  },
  "shared-id": {
    "two learned ones": (files) => {
      const [a, b] = lastKeys(files);
      json(files).model.vocab[a!] = json(files).model.vocab[b!];
    },
    "a byte": (files) => {
      json(files).model.vocab[lastKeys(files)[0]!] = 97;
    },
    "all zero": (files) => {
      for (const key of lastKeys(files).slice(0, 20)) json(files).model.vocab[key] = 0;
    },
  },
  "unused-merges": {
    "a later way": (files) => {
      json(files).model.merges.push(...otherWays(files, 1));
    },
    five: (files) => {
      json(files).model.merges.push(...otherWays(files, 5));
    },
    fifty: (files) => {
      json(files).model.merges.push(...otherWays(files, 50));
    },
  },
  "same-bytes": {
    "an added word": (files) => addToken(files, " the", 1500),
    "an added space": (files) => addToken(files, "  ", 1500),
    "an added letter": (files) => addToken(files, "\n", 1500),
  },
  "unreachable-tokens": {
    "a token of its own": (files) => {
      json(files).model.vocab.xqzxq = 1500;
    },
    "without merges": (files) => {
      json(files).model.merges = json(files).model.merges.slice(0, 600);
    },
    "another order": (files) => {
      json(files).model.merges.reverse();
    },
  },
  "id-holes": {
    one: (files) => {
      json(files).model.vocab.xqzxq = 1501;
    },
    many: (files) => {
      json(files).model.vocab.xqzxq = 2000;
    },
    "a token is gone": (files) => {
      const key = leafKey(files);
      delete json(files).model.vocab[key];
      json(files).model.merges = json(files).model.merges.filter((pair: string[]) => pair.join("") !== key);
    },
  },
  "vocab-size": {
    "too small": (files) => {
      files["config.json"] = { vocab_size: 1400 };
    },
    "by one": (files) => {
      files["config.json"] = { vocab_size: 1499 };
    },
    "of a part of a model": (files) => {
      files["config.json"] = { text_config: { vocab_size: 1000 } };
    },
  },
  "large-vocab-size": {
    twice: (files) => {
      files["config.json"] = { vocab_size: 3000 };
    },
    "of another model": (files) => {
      files["config.json"] = { vocab_size: 128256 };
    },
    "of a part": (files) => {
      files["config.json"] = { text_config: { vocab_size: 2000 } };
    },
  },
  "role-without-token": {
    "eos of llama": (files) => {
      config(files).eos_token = "</s>";
    },
    "an added token's form": (files) => {
      config(files).bos_token = { __type: "AddedToken", content: "<s>" };
    },
    pad: (files) => {
      config(files).pad_token = "[PAD]";
    },
  },
  "roles-disagree": {
    eos: (files) => {
      files["special_tokens_map.json"].eos_token = "<|endoftext|>";
    },
    pad: (files) => {
      files["special_tokens_map.json"].pad_token = "<|im_end|>";
    },
    "with flags": (files) => {
      files["special_tokens_map.json"].eos_token = { content: "<|im_start|>", lstrip: false };
    },
  },
  "stop-token": {
    "another token": (files) => {
      files["generation_config.json"] = { eos_token_id: idOf(files, "<|endoftext|>") };
    },
    "a list": (files) => {
      files["generation_config.json"] = { eos_token_id: [0, 1] };
    },
    beyond: (files) => {
      files["config.json"] = { eos_token_id: 151645 };
    },
  },
  "pad-is-eos": {
    both: (files) => {
      config(files).pad_token = config(files).eos_token;
      files["special_tokens_map.json"].pad_token = config(files).eos_token;
    },
    "with flags": (files) => {
      config(files).pad_token = { content: config(files).eos_token };
      files["special_tokens_map.json"] = undefined;
    },
    endoftext: (files) => {
      for (const role of ["pad_token", "eos_token"]) config(files)[role] = "<|endoftext|>";
      files["special_tokens_map.json"] = undefined;
    },
  },
  "no-eos": {
    null: (files) => {
      config(files).eos_token = null;
      files["special_tokens_map.json"] = undefined;
    },
    absent: (files) => {
      delete config(files).eos_token;
      files["special_tokens_map.json"] = undefined;
    },
    "no template": (files) => {
      delete config(files).eos_token;
      delete config(files).chat_template;
      files["special_tokens_map.json"] = undefined;
    },
  },
  "repeated-token": {
    "same id": (files) => {
      json(files).added_tokens.push(json(files).added_tokens[0]);
    },
    "another id": (files) => {
      json(files).added_tokens.push({ ...json(files).added_tokens[0], id: 1500 });
    },
    "other flags": (files) => {
      json(files).added_tokens.push({ ...json(files).added_tokens[1], lstrip: true });
    },
  },
  "added-id": {
    "in tokenizer.json": (files) => {
      json(files).added_tokens[0].id = 5000;
    },
    "in the configuration": (files) => {
      const { added_tokens_decoder: decoder } = config(files);
      const [id] = Object.keys(decoder);
      decoder[9000] = decoder[id!];
      delete decoder[id!];
    },
    swapped: (files) => {
      const { added_tokens_decoder: decoder } = config(files);
      const [a, b] = Object.keys(decoder);
      [decoder[a!], decoder[b!]] = [decoder[b!], decoder[a!]];
    },
  },
  "template-pieces": {
    "of another model": (files) => {
      config(files).chat_template = "<|start_header_id|>{{ x }}<|eot_id|>";
    },
    "of Mistral": (files) => {
      config(files).chat_template = "[INST] {{ x }} [/INST]";
    },
    "a file": (files) => {
      delete config(files).chat_template;
      files["chat_template.jinja"] = "<start_of_turn>user{{ x }}<end_of_turn>";
    },
    "one misspelled": (files) => {
      config(files).chat_template += "<|im_stop|>";
    },
  },
  "special-is-text": {
    "a word": (files) => addToken(files, "user", 1500),
    "a line end": (files) => addToken(files, "\n\n", 1500),
    code: (files) => addToken(files, "def f(", 1500),
  },
  "files-disagree": {
    "another vocab.json": (files) => {
      const vocab = files["vocab.json"];
      [vocab.a, vocab.b] = [vocab.b, vocab.a];
    },
    "other merges": (files) => {
      const [head, ...lines] = files["merges.txt"].trim().split("\n");
      files["merges.txt"] = `${[head, ...lines.slice(0, 300).reverse(), ...lines.slice(300)].join("\n")}\n`;
    },
    "fewer ranks": (files) => {
      files["tokenizer.tiktoken"] =
        `${files["tokenizer.tiktoken"].trim().split("\n").slice(0, 400).join("\n")}\n`;
    },
  },
  "file-not-compared": {
    SentencePiece: (files) => {
      files["tokenizer.model"] = "\n\x0b\n\x05<unk>\x15";
    },
    "no ranks": (files) => {
      files["tokenizer.tiktoken"] = "YQ== x\n";
    },
    "a cut vocab.json": (files) => {
      files["vocab.json"] = '{"a": 1';
    },
  },
  "parts-of-characters": {
    "a twentieth": (files) => addParts(files, 90),
    "a tenth": (files) => addParts(files, 160),
    "a fifth": (files) => addParts(files, 400),
  },
  "costly-languages": Object.fromEntries(
    [0, 10, 100].map((count) => [
      `${count} merges`,
      (files: Files) => {
        json(files).model.merges = json(files).model.merges.slice(0, count);
      },
    ]),
  ),
  "private-data": {
    mail: (files) => addKey(files, "jane.doe@example.org"),
    key: (files) => addKey(files, "sk-proj-8f3Kq9ZtR2"),
    "a key without digits": (files) => addKey(files, "ghp_QwertyuiopAsd"),
    "a key without signs": (files) => addKey(files, "AKIAQWERTYUIOPAS"),
    hash: (files) => addKey(files, "d41d8cd98f00b204"),
    number: (files) => addKey(files, "2025550173"),
  },
};

const keepsAll = new Set(
  [...Object.keys(damages["files-disagree"]!), "no ranks", "a cut vocab.json"].filter(
    (name) => name !== "SentencePiece",
  ),
);

function dropMerges(files: Files, key: string): void {
  const { model } = json(files);
  const gone = new Set<string>([key]);
  model.merges = model.merges.filter(([left, right]: string[]) => {
    if (!gone.has(left!) && !gone.has(right!)) return true;
    gone.add(left! + right!);
    delete model.vocab[left! + right!];
    return false;
  });
}

/** Returns merges that make existing tokens from other parts than their own merges do. */
function otherWays(files: Files, count: number): string[][] {
  const { vocab, merges } = json(files).model;
  const own = new Set(merges.map((pair: string[]) => pair.join(" ")));
  const found: string[][] = [];
  for (const key of Object.keys(vocab)) {
    for (let i = 1; i < key.length && found.length < count; i++) {
      const [left, right] = [key.slice(0, i), key.slice(i)];
      if (left in vocab && right in vocab && !own.has(`${left} ${right}`)) found.push([left, right]);
    }
  }
  return found;
}

function addToken(files: Files, content: string, id: number): void {
  const { vocab } = json(files).model;
  json(files).added_tokens.push({ ...json(files).added_tokens[0], id, content });
  void vocab;
}

const idOf = (files: Files, content: string) => json(files).model.vocab[content];

/** Adds tokens that repeat byte F0, which begins a character of four bytes. */
function addParts(files: Files, count: number): void {
  for (let i = 0; i < count; i++) json(files).model.vocab["ð".repeat(i + 2)] = 1500 + i;
}

/** Returns the last learned token of more than two bytes that is not a half of any merge. */
function leafKey(files: Files): string {
  const parts = new Set(json(files).model.merges.flat());
  return lastKeys(files).find((key) => !parts.has(key) && key.length > 2)!;
}

describe("each damage is found by name", () => {
  for (const [check, some] of Object.entries(damages)) {
    for (const [name, damage] of Object.entries(some)) {
      test(`${check}: ${name}`, () => {
        const { findings, code, json } = examine(
          damaged(`${check} ${name}`.replace(`${check} `, keepsAll.has(name) ? "" : `${check} `), damage),
        );
        expect(findings.map((found) => found.check)).toContain(check);
        expect(code).toBe(json.errors > 0 ? 1 : 0);
      });
    }
  }
});

test("a transformers class is an error only where it changes ids", () => {
  const severityOf = (name: string, damage: (files: Files) => void) => {
    const { findings } = examine(damaged(`class ${name}`, damage));
    return findings.find(({ check }) => check === "class-override")?.severity;
  };
  const asClass = (name: string, model?: object) => (files: Files) => {
    config(files).tokenizer_class = name;
    files["config.json"] = model;
  };
  expect(severityOf("gpt2", asClass("GPT2Tokenizer"))).toBe("error");
  expect(severityOf("qwen", asClass("Qwen2TokenizerFast", { model_type: "llama" }))).toBe("error");
  expect(severityOf("cohere", asClass("CohereTokenizer"))).toBe("error");
  // For the model_type qwen2, transformers uses Qwen2Tokenizer, whatever class the configuration names.
  expect(severityOf("qwen2", asClass("PreTrainedTokenizerFast", { model_type: "qwen2" }))).toBe("error");
  expect(severityOf("olmo2", asClass("GPT2Tokenizer", { model_type: "olmo2" }))).toBeUndefined();
  const prefixed = (isSaid: boolean, asked?: boolean) => (files: Files) => {
    asClass("BlenderbotTokenizer")(files);
    json(files).pre_tokenizer = { ...byteLevel, use_regex: true, add_prefix_space: isSaid };
    config(files).add_prefix_space = asked;
  };
  expect(severityOf("a space", prefixed(true))).toBeUndefined();
  expect(severityOf("no space", prefixed(false))).toBe("error");
  expect(severityOf("no space, as said", prefixed(false, false))).toBeUndefined();
  expect(severityOf("unknown", asClass("MyTokenizer"))).toBe("note");
  expect(severityOf("neutral", asClass("TokenizersBackend", { model_type: "llama" }))).toBeUndefined();
  expect(
    severityOf("remote", (files) => {
      asClass("Qwen2Tokenizer")(files);
      config(files).auto_map = { AutoTokenizer: ["x.X", null] };
    }),
  ).toBe("note");
  expect(
    severityOf("own pattern", (files) => {
      asClass("GPT2Tokenizer")(files);
      json(files).pre_tokenizer = { ...byteLevel, use_regex: true };
    }),
  ).toBeUndefined();
  expect(
    severityOf("own pattern, normalized", (files) => {
      asClass("GPTNeoXTokenizer")(files);
      json(files).pre_tokenizer = { ...byteLevel, use_regex: true };
    }),
  ).toBe("error");
});

/** The severity of what a check finds in a tokenizer with this damage; undefined if it finds nothing. */
function severityIn(check: string, name: string, damage: (files: Files) => void): string | undefined {
  const { findings } = examine(damaged(`severity ${check} ${name}`, damage));
  return findings.find((found) => found.check === check)?.severity;
}

test("the severity depends on the share of the vocabulary", () => {
  const unreachable = (count: number) => (files: Files) => {
    for (let i = 0; i < count; i++) json(files).model.vocab[`qzx${i}qzx`] = 1500 + i;
  };
  for (const [count, severity] of [
    [5, "note"],
    [40, "warning"],
    [120, "error"],
  ] as const)
    expect(severityIn("unreachable-tokens", `${count}`, unreachable(count))).toBe(severity);
});

test("correct settings of transformers are not reported", () => {
  const stopsAt = (id: number) => (files: Files) => {
    files["generation_config.json"] = { eos_token_id: id };
  };
  expect(severityIn("stop-token", "first missing", stopsAt(1500))).toBe("error");
  expect(severityIn("stop-token", "last token", stopsAt(1499))).not.toBe("error");
  // transformers adds this token with the id that the configuration states.
  const listed = (files: Files) => {
    config(files).added_tokens_decoder[1500] = { content: "<listed>", special: true };
    config(files).pad_token = "<listed>";
  };
  expect(severityIn("role-without-token", "listed", listed)).toBeUndefined();
  const ordinary = (files: Files) => {
    addToken(files, "user", 1500);
    json(files).added_tokens.at(-1).special = false;
  };
  expect(severityIn("special-is-text", "not special", ordinary)).toBeUndefined();
  const digits = (files: Files) => addKey(files, "0123456789abcdef");
  expect(severityIn("private-data", "a sequence", digits)).toBeUndefined();
});

test("a class that drops ignore_merges is an error", () => {
  const whole = (files: Files, ignores: boolean) => {
    config(files).tokenizer_class = "GPT2Tokenizer";
    json(files).pre_tokenizer = { ...byteLevel, use_regex: true };
    json(files).model.ignore_merges = ignores;
    json(files).model.vocab.Ġdignity = 1500;
  };
  expect(severityIn("class-override", "ignored", (files) => whole(files, true))).toBe("error");
  expect(severityIn("class-override", "followed", (files) => whole(files, false))).toBeUndefined();
});

test("the reason why a tokenizer cannot be loaded appears once", () => {
  const { findings, json: diagnosis } = examine(
    damaged("not loaded, explained", (files) => {
      json(files).model.merges.push(["zzz", "a"]);
    }),
  );
  expect(diagnosis.fingerprint).toBeNull();
  expect(findings.filter(({ severity }) => severity === "error").map(({ check }) => check)).toEqual([
    "merge-without-token",
  ]);
});

test("programs without an equal pattern are named", () => {
  const programsOf = (name: string, ...splits: object[]) =>
    examine(damaged(`equal ${name}`, cutBy(...splits)))
      .findings.filter(({ check }) => check === "no-equal")
      .flatMap(({ evidence }) => evidence.map((line) => line.split(":")[0]!));
  expect(programsOf("one", split(` ?\\p{L}+|${gpt4Like}|!`))).toEqual(["llama.cpp"]);
  expect(programsOf("two", split(` ?\\p{L}+|${gpt4Like}|!`), split("!"))).toEqual(["llama.cpp", "tiktoken"]);
  // Engines differ in whether a repeat ends once its body has matched the empty string.
  const ranks = join(good, "tokenizer.tiktoken");
  const { findings } = examine(ranks, "-p", "(?: ?\\p{L}?){2,3}x| ?\\p{L}+|[^\\p{L}]");
  expect(findings.find(({ check }) => check === "no-equal")?.evidence.at(-1)).toBe(
    "transformers.js: JavaScript has no regular expression that cuts alike",
  );
});

test("a tokenizer that was just trained has no errors and no warnings", () => {
  const { code, findings } = examine(good);
  expect({ code, found: findings.filter(({ severity }) => severity !== "note") }).toEqual({
    code: 0,
    found: [],
  });
});

test("every check has damages, and the schema has every check", () => {
  // These checks examine a text or the training corpus, so no damage here triggers them.
  const others = ["one-document-tokens", "costly-scripts", "unlike-corpus", "rare-tokens"];
  expect([...Object.keys(damages), ...others].sort()).toEqual(Object.keys(checks).sort());
  const schema: Schema = JSON.parse(readFileSync(join(root, "docs/diagnosis.schema.json"), "utf8"));
  const { json } = examine(good, "--text", put(home, "other.txt", "a few words"));
  expect(misfits(schema, json, schema)).toEqual([]);
  expect(misfits(schema, { ...json, findings: [{}] }, schema)).not.toEqual([]);
  const listed = (schema as Json).properties.findings.items.properties.check.enum;
  expect(listed.sort()).toEqual(Object.keys(checks).sort());
  const rare = json.findings.find(({ check }: Finding) => check === "rare-tokens");
  expect([rare.severity, rare.fix]).toEqual(["note", null]);
  expect(rare.evidence[0]).toContain("too few to judge");
});

test("a path that is not a tokenizer is refused", () => {
  const files: Record<string, string | Uint8Array> = {
    "empty.json": "",
    "text.txt": "hello\n",
    "list.json": "[1, 2]",
    "object.json": "{}",
    "unigram.json": '{"model": {"type": "Unigram", "vocab": []}}',
    "zeros.bin": new Uint8Array(1000),
  };
  for (const [name, content] of Object.entries(files)) {
    const { code, stderr, json } = examine(put(home, name, content));
    expect({ name, code, json }).toEqual({ name, code: 1, json: null });
    expect(stderr).toMatch(/^bpe: error: "/m);
  }
});

test("the findings are printed in lines of the terminal", () => {
  const path = damaged("for people", (files) => {
    damages["dead-split"]!["one of two"]!(files);
    config(files).eos_token = "</s>";
  });
  const { stdout, stderr, code } = bpe(["doctor", path]);
  expect(code).toBe(1);
  expect(stdout).toContain("error    Split 1 of 2 cuts nothing");
  expect(stdout).toContain("Fix: ");
  expect(stdout).toContain("bpe train corpus.txt --extend");
  expect(stderr).toMatch(/has \d+ errors/);
});

test("on a terminal no line is too long, and wrapped lines are aligned", async () => {
  const directory = damaged("for a terminal", (files) => {
    cutBy(split(`\\p{L}|${gpt4Like}`))(files);
    config(files).add_prefix_space = true;
    files["config.json"] = { vocab_size: 1400 };
    files["generation_config.json"] = { eos_token_id: 5 };
  });
  const shown = await onTerminal([binary, "doctor", directory], { columns: 80, env: { NO_COLOR: "1" } });
  const lines = shown
    .split("\n")
    .slice(1)
    .filter((line) => !/^ {11}bpe |^bpe: error/.test(line));
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines).toContain("warning  tokenizer_config.json says add_prefix_space true,");
  expect(lines).toContain("         tokenizer.json says false (prefix-space)");
  const tokens = lines.findIndex((line) => line.startsWith("         tokens: "));
  expect(lines[tokens + 1]).toMatch(/^ {17}\d+ "/);
  expect(lines.some((line) => / and [\d,]+ more$/.test(line))).toBeTrue();
});

test("each token that the normalizer changes is counted", async () => {
  const directory = damaged("counted lower", damages["normalized-away"]!["capital letters"]!);
  const { tokens } = await tokenizerFiles.load(good);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let changed = 0;
  for (let id = 0; id < 1496; id++) {
    const bytes = tokenTables.bytesOf(tokens, id);
    if (bytes.length < 2 || !isUtf8(bytes)) continue;
    const text = decoder.decode(bytes);
    if (text.toLowerCase() !== text) changed++;
  }
  const found = examine(directory).findings.find(({ check }) => check === "normalized-away") as Json;
  expect(found.count).toBe(changed);
});

test("special tokens are text when files are compared", () => {
  const directory = damaged("special in one file", (files) => {
    addToken(files, " the", 1500);
    for (const name of ["vocab.json", "merges.txt"]) files[name] = parsed.get(name);
  });
  const checks = examine(directory).findings.map(({ check }) => check);
  expect(checks).toContain("special-is-text");
  expect(checks).not.toContain("files-disagree");
});
