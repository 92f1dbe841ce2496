import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

// Makes input files of golden cases: from other files or, with `write`, from a text.

// biome-ignore lint/suspicious/noExplicitAny: any JSON
type Json = any;

const byteLevel = (prefix: boolean) => ({
  type: "ByteLevel",
  add_prefix_space: prefix,
  trim_offsets: true,
  use_regex: true,
});
const normalizer = (type: string) => (json: Json) => {
  json.normalizer = { type };
};
const added = (json: Json, content: string, settings: object) => {
  const id =
    Math.max(
      ...Object.values<number>(json.model.vocab),
      ...json.added_tokens.map((token: Json) => token.id),
    ) + 1;
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: false };
  json.added_tokens.push({ id, content, ...flags, ...settings });
};

/** Changes of a tokenizer.json. */
const edits: Record<string, (json: Json) => void> = {
  nfc: normalizer("NFC"),
  nfd: normalizer("NFD"),
  nfkc: normalizer("NFKC"),
  nfkd: normalizer("NFKD"),
  prefix: (json) => {
    json.pre_tokenizer = byteLevel(true);
  },
  "ignore-merges": (json) => {
    json.model.ignore_merges = true;
    json.model.merges = json.model.merges.filter((_: unknown, i: number) => i % 7 !== 3);
  },
  added: (json) => {
    added(json, "the", { lstrip: true });
    added(json, "is", { rstrip: true });
    added(json, "é", { special: true });
  },
  "normalized-added": (json) => {
    json.normalizer = { type: "NFKC" };
    added(json, "fi", { normalized: true });
    added(json, "Å", { normalized: true, special: true });
    added(json, "①", { normalized: false });
  },
  split: (json) => {
    const pattern = { Regex: "\\p{L}+|\\p{N}{1,2}|[^\\p{L}\\p{N}]+" };
    json.pre_tokenizer = {
      type: "Sequence",
      pretokenizers: [
        { type: "Split", pattern, behavior: "Isolated", invert: false },
        { ...byteLevel(false), use_regex: false },
      ],
    };
  },
  digits: (json) => {
    const digits = { type: "Digits", individual_digits: true };
    json.pre_tokenizer = { type: "Sequence", pretokenizers: [digits, byteLevel(false)] };
  },
  sequence: (json) => {
    const pattern = { String: "e" };
    json.pre_tokenizer = {
      type: "Sequence",
      pretokenizers: [{ type: "Split", pattern, behavior: "Isolated", invert: false }, byteLevel(true)],
    };
  },
  "string-merges": (json) => {
    json.model.merges = json.model.merges.map((merge: unknown) =>
      Array.isArray(merge) ? merge.join(" ") : merge,
    );
  },
  post: (json) => {
    const special = { id: "<pad>", ids: [json.added_tokens[1].id], tokens: ["<pad>"] };
    json.post_processor = {
      type: "TemplateProcessing",
      single: [{ SpecialToken: { id: "<pad>", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }],
      pair: [{ Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }],
      special_tokens: { "<pad>": special },
    };
  },
  unigram: (json) => {
    json.model = { type: "Unigram", vocab: [] };
  },
  "strange-normalizer": normalizer("Lowercase"),
  normalizers: (json) => {
    json.normalizer = { type: "Sequence", normalizers: [{ type: "NFD" }, { type: "NFC" }] };
  },
  "strange-pretokenizer": (json) => {
    json.pre_tokenizer = { type: "Metaspace", replacement: "▁" };
  },
  "missing-byte": (json) => {
    delete json.model.vocab.a;
  },
  "bad-merge": (json) => {
    json.model.merges[5] = ["qq", "zz"];
  },
  "same-id": (json) => {
    json.model.vocab.b = json.model.vocab.a;
  },
  dropout: (json) => {
    json.model.dropout = 0.1;
  },
  "text-id": (json) => {
    json.model.vocab.a = "64";
  },
  nothing: (json) => {
    for (const key of Object.keys(json)) delete json[key];
  },
};

/** Returns a tekken.json with the tokens of a rank file. */
function tekken(ranks: string): object {
  const vocab = ranks
    .trim()
    .split("\n")
    .map((line, rank) => ({ rank, token_bytes: line.split(" ")[0], token_str: null }));
  const specials = ["<unk>", "<s>", "</s>"].map((token_str, rank) => ({ rank, token_str, is_control: true }));
  const config = {
    pattern:
      "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    num_vocab_tokens: vocab.length,
    default_vocab_size: vocab.length + specials.length,
    default_num_special_tokens: specials.length,
    version: "v3",
  };
  return { config, vocab, special_tokens: specials };
}

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

export const makers: Record<string, (from: string, to: string, more: string) => void> = {
  edit(from, to, name) {
    const json = JSON.parse(readFileSync(from, "utf8"));
    edits[name]!(json);
    put(to, JSON.stringify(json));
  },
  tekken: (from, to) => put(to, JSON.stringify(tekken(readFileSync(from, "utf8")))),
  write: (to, content) => put(to, content.replaceAll("\\n", "\n")),
  cut: (from, to, size) => put(to, readFileSync(from).subarray(0, Number(size))),
  reverse: (from, to) => put(to, `${readFileSync(from, "utf8").trim().split("\n").reverse().join("\n")}\n`),
};
