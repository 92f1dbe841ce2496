import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tiktoken } from "tiktoken";
import { Tokenizer } from "tokenizers";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import type { FinishedTokenizer } from "../../../src/formats/finished-tokenizer.ts";
import { mergesSha256 } from "../../../src/formats/merge-lines.ts";
import { tiktoken } from "../../../src/formats/tiktoken.ts";
import * as trainingRecords from "../../../src/formats/training-json.ts";
import type * as patternForms from "../../../src/pattern/export-form.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import type { Compat, Merges } from "../../../src/tokenizer/merges.ts";
import type { AskedModelSettings } from "../../../src/tokenizer/model-settings.ts";
import * as modelSettings from "../../../src/tokenizer/model-settings.ts";
import * as vocabularies from "../../../src/tokenizer/vocabulary.ts";
import { loadFormats } from "../../../src/training/chosen-files.ts";
import { scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { gpt2Pattern, madeText, mergesOf, naiveMerges } from "../tokenizer/made-merges.ts";
import { naiveEncoder } from "../tokenizer/naive-encoder.ts";

const root = scratch();

const seed = Number(process.env.TEST_SEED ?? 7);
const specialTokens = [
  "<|endoftext|>",
  '"quoted"\\n\\',
  "line\nbreak\t\u0001\u007f",
  "<😀>",
  " spaced ",
  "[é漢]",
  "<|end",
  "\u2028",
];
const text = madeText(seed, 1500);
const byteLevel: patternForms.PatternExport = { kind: "byte-level" };
/** The pattern of GPT-2 as Splits with HF's regular expressions. */
const asSplits = {
  kind: "splits",
  mayLeaveGaps: false,
  regexes: patterns.gpt2.sources,
  sources: patterns.gpt2.sources,
} as const satisfies patternForms.PatternExport;
const merges = naiveMerges(text, 200);
let directoryCount = 0;

function finished(
  compat: Compat,
  exportForm: patternForms.PatternExport = byteLevel,
  learned: Merges = merges,
  specials = specialTokens,
  asked: AskedModelSettings = {},
) {
  const vocabulary = vocabularies.build({ merges: learned, specialTokens: specials, compat });
  return { vocabulary, normalization: null, exportForm, model: modelSettings.settleAsked(specials, asked) };
}

const formats = [...(await loadFormats()).values()].map(({ writing }) => writing!);

/** Returns the text of every file of every format, except images, that can represent the tokenizer. */
function written(tokenizer: FinishedTokenizer): Record<string, string> {
  const files = formats
    .filter(({ obstacle }) => obstacle(tokenizer) === null)
    .flatMap(({ files }) => files(tokenizer));
  // Chunks are copied, because each is valid only until the next.
  return Object.fromEntries(
    files.map((file) => [
      file.name,
      Buffer.concat(Array.from(file.chunks(), (chunk) => Buffer.from(chunk))).toString(),
    ]),
  );
}

function sentences(count: number): string[] {
  const random = randomNumbers(seed + 1);
  return Array.from({ length: count }, (_, n) => {
    const sentence = madeText(seed + 2 + n, 4 + random(12));
    return random(3) === 0 ? sentence + specialTokens[random(specialTokens.length)]! + sentence : sentence;
  });
}

describe("HF tokenizers", () => {
  for (const compat of ["cs336", "rustbpe", "huggingface"] as const) {
    for (const form of [byteLevel, asSplits]) {
      test(`loads ${compat} ids with a ${form.kind} step, agrees on every id, and encodes as the naive encoder (seed ${seed})`, async () => {
        const tokenizer = finished(compat, form);
        const { vocabulary } = tokenizer;
        const theirs = Tokenizer.fromString(written(tokenizer)["tokenizer.json"]!);
        expect(theirs.getVocabSize()).toBe(vocabulary.size);
        for (let token = 0; token < vocabulary.tokenIds.length; token++) {
          const key = [...vocabulary.tokenBytes.copy(token)]
            .map((byte) => byteCharacters.characters[byte])
            .join("");
          expect(theirs.tokenToId(key)).toBe(vocabulary.tokenIds[token]!);
        }
        specialTokens.forEach((special, s) => {
          expect(theirs.tokenToId(special)).toBe(vocabulary.specialIds[s]!);
          expect(theirs.idToToken(vocabulary.specialIds[s]!)).toBe(special);
        });
        const encodeNaively = naiveEncoder(vocabulary);
        for (const sentence of sentences(120)) {
          const encoding = await theirs.encode(sentence);
          expect([...encoding.getIds()]).toEqual(encodeNaively(sentence));
        }
      });
    }
  }

  test("saves the file byte for byte as we wrote it", () => {
    for (const compat of ["cs336", "huggingface"] as const) {
      for (const [form, learned, specials] of [
        [byteLevel, merges, specialTokens],
        [asSplits, merges, []],
        [byteLevel, mergesOf([], []), []],
      ] as const) {
        const ours = written(finished(compat, form, learned, [...specials]))["tokenizer.json"]!;
        const path = join(root, `saved-${directoryCount++}.json`);
        Tokenizer.fromString(ours).save(path, true);
        expect(readFileSync(path, "utf8")).toBe(ours);
      }
    }
  });

  test("keeps a special token that shares its id with a learned one", async () => {
    const tokenizer = finished("huggingface", byteLevel, mergesOf([32, 104], [116, 101]), ["Ġt", "a"]);
    const { vocabulary } = tokenizer;
    const files = written(tokenizer);
    const theirs = Tokenizer.fromString(files["tokenizer.json"]!);
    expect(theirs.getVocabSize()).toBe(vocabulary.size);
    expect(theirs.tokenToId("Ġt")).toBe(0);
    expect(theirs.tokenToId("a")).toBe(1);
    expect([...(await theirs.encode(" the")).getIds()]).toEqual([0, vocabulary.tokenIds[257]!]);
    // tiktoken merges in the order of ids, which is not the order learned here.
    expect(files["tokenizer.tiktoken"]).toBeUndefined();
  });
});

describe("tiktoken", () => {
  for (const compat of ["cs336", "huggingface"] as const) {
    test(`loads ${compat} ids, agrees on every one, and encodes as the naive encoder (seed ${seed})`, () => {
      // If two special tokens match, tiktoken takes either; HF and `bpe` take the longest.
      const apart = specialTokens.filter((special) => special !== "<|end");
      const tokenizer = finished(compat, byteLevel, merges, apart);
      const { vocabulary } = tokenizer;
      const lines = written(tokenizer)["tokenizer.tiktoken"]!.split("\n").slice(0, -1);
      const ids = lines.map((line) => Number(line.split(" ")[1]));
      expect(ids).toEqual([...ids].sort((a, b) => a - b));
      // tiktoken's JavaScript form has lines "! first-rank token …".
      const ranks = lines.map((line) => `! ${line.split(" ")[1]} ${line.split(" ")[0]}`).join("\n");
      const special = Object.fromEntries(apart.map((token, s) => [token, vocabulary.specialIds[s]!]));
      const theirs = new Tiktoken(ranks, special, gpt2Pattern.source);
      for (let token = 0; token < vocabulary.tokenIds.length; token++) {
        const bytes = vocabulary.tokenBytes.copy(token);
        expect(
          Buffer.from(theirs.decode_single_token_bytes(vocabulary.tokenIds[token]!)).equals(
            Buffer.from(bytes),
          ),
        ).toBe(true);
      }
      const encodeNaively = naiveEncoder(vocabulary);
      for (const sentence of sentences(120)) {
        expect([...theirs.encode(sentence, "all")]).toEqual(encodeNaively(sentence));
      }
      theirs.free();
    });
  }

  test("gets no file for a pattern that leaves text unmatched, with the reason", () => {
    const tokenizer = finished("cs336", { ...asSplits, mayLeaveGaps: true });
    expect(written(tokenizer)["tokenizer.tiktoken"]).toBeUndefined();
    expect(tiktoken.writing!.obstacle(tokenizer)).toContain("may leave text unmatched");
  });

  test("gets no file for a sequence of splits, with the reason", () => {
    const tokenizer = finished("cs336", { ...asSplits, regexes: ["\\p{N}", ...asSplits.regexes] });
    expect(written(tokenizer)["tokenizer.tiktoken"]).toBeUndefined();
    expect(tiktoken.writing!.obstacle(tokenizer)).toContain("sequence");
  });
});

describe("gpt2 files", () => {
  test("list every id once and the merges in the order learned", () => {
    const tokenizer = finished("cs336");
    const files = written(tokenizer);
    const ids = JSON.parse(files["vocab.json"]!) as Record<string, number>;
    expect(Object.values(ids).sort((a, b) => a - b)).toEqual(
      Array.from({ length: tokenizer.vocabulary.size }, (_, id) => id),
    );
    for (const special of specialTokens) expect(ids).toHaveProperty([special]);
    const [version, ...lines] = files["merges.txt"]!.split("\n");
    expect(version).toBe("#version: 0.2");
    expect(lines.pop()).toBe("");
    expect(lines.length).toBe(merges.mergeCount);
    lines.forEach((line, k) => {
      const halves = line.split(" ");
      expect(halves.length).toBe(2);
      expect(ids[halves.join("")]).toBe(256 + k);
    });
    const hasher = new Bun.CryptoHasher("sha256").update(
      files["merges.txt"]!.slice("#version: 0.2\n".length),
    );
    expect(mergesSha256(tokenizer.vocabulary)).toBe(hasher.digest("hex"));
  });
});

test("tokens of a megabyte and files of many chunks are written completely", () => {
  // "a" doubled twenty times, and each of these again followed by a newline.
  const doublings = Array.from({ length: 20 }, (_, k) => (k === 0 ? 97 : 255 + k));
  const left = [...doublings, ...Array.from({ length: 20 }, (_, k) => 256 + k)];
  const right = [...doublings, ...Array.from({ length: 20 }, () => 10)];
  const tokenizer = finished("cs336", byteLevel, mergesOf(left, right), []);
  const files = written(tokenizer);
  const run = (length: number) => "a".repeat(length);
  const keys = Object.keys(JSON.parse(files["vocab.json"]!));
  expect(keys[275] === run(2 ** 20)).toBe(true);
  expect(keys[295] === `${run(2 ** 20)}Ċ`).toBe(true);
  const lines = files["merges.txt"]!.split("\n");
  expect(lines[20] === `${run(2 ** 19)} ${run(2 ** 19)}`).toBe(true);
  expect(lines[40] === `${run(2 ** 20)} Ċ`).toBe(true);
  const rankLine = files["tokenizer.tiktoken"]!.split("\n")[295]!;
  expect(rankLine === `${Buffer.from(`${run(2 ** 20)}\n`).toString("base64")} 295`).toBe(true);
  expect(JSON.parse(files["tokenizer.json"]!).model.merges.length).toBe(40);
});

test("tokenizer.json describes GPT-2's cuts and decoding like HF's own files, and ByteLevel after Splits only maps bytes", () => {
  const part = (isPrefixed: boolean, usesRegex: boolean) => ({
    type: "ByteLevel",
    add_prefix_space: isPrefixed,
    trim_offsets: true,
    use_regex: usesRegex,
  });
  const jsonOf = (form: patternForms.PatternExport) =>
    JSON.parse(written(finished("cs336", form))["tokenizer.json"]!);
  const plain = jsonOf(byteLevel);
  expect([plain.pre_tokenizer, plain.decoder]).toEqual([part(false, true), part(true, true)]);
  const split = jsonOf(asSplits);
  expect(split.pre_tokenizer.pretokenizers.at(-1)).toEqual(part(false, false));
  expect(split.decoder).toEqual(part(true, true));
});

test("the small files name the special tokens, and <|endoftext|> as beginning and end", () => {
  const files = written(finished("huggingface"));
  const roles = { bos_token: "<|endoftext|>", eos_token: "<|endoftext|>" };
  expect(JSON.parse(files["special_tokens_map.json"]!)).toEqual({
    ...roles,
    additional_special_tokens: specialTokens,
  });
  const config = JSON.parse(files["tokenizer_config.json"]!);
  // Without add_bos_token, llama.cpp's converter makes some tokenizers put a bos before each text, so the file must say
  // false.
  expect(config).toMatchObject({
    ...roles,
    add_bos_token: false,
    tokenizer_class: "PreTrainedTokenizerFast",
  });
  expect(config.added_tokens_decoder[1].content).toBe(specialTokens[1]);
  expect(config).not.toHaveProperty("chat_template");
  expect(config).not.toHaveProperty("model_max_length");
  const plain = written(finished("cs336", byteLevel, merges, ["<sep>"]));
  expect(JSON.parse(plain["special_tokens_map.json"]!)).toEqual({ additional_special_tokens: ["<sep>"] });
  expect(JSON.parse(plain["tokenizer.json"]!).post_processor).toBeNull();
});

test("the settings for a model are where transformers reads them", () => {
  const specials = ["<x>", "<s>", "</s>"];
  const asked = { roles: { pad: "<x>" }, addsBos: true, chatTemplate: "{{ 1 }}", modelMaxLength: 4096 };
  const files = written(
    finished("cs336", byteLevel, merges, specials, { ...asked, tokenizerClass: "LlamaTokenizerFast" }),
  );
  const roles = { bos_token: "<s>", eos_token: "</s>", pad_token: "<x>" };
  const config = JSON.parse(files["tokenizer_config.json"]!);
  expect(config).toMatchObject({
    ...roles,
    add_bos_token: true,
    chat_template: "{{ 1 }}",
    model_max_length: 4096,
    tokenizer_class: "LlamaTokenizerFast",
  });
  const map = { ...roles, additional_special_tokens: specials };
  expect(JSON.parse(files["special_tokens_map.json"]!)).toEqual(map);
  const { post_processor, added_tokens } = JSON.parse(files["tokenizer.json"]!);
  const { id } = added_tokens.find(({ content }: { content: string }) => content === "<s>");
  expect(post_processor.special_tokens).toEqual({ "<s>": { id: "<s>", ids: [id], tokens: ["<s>"] } });
  expect(post_processor.single).toEqual([
    { SpecialToken: { id: "<s>", type_id: 0 } },
    { Sequence: { id: "A", type_id: 0 } },
  ]);
});

describe("training.json", () => {
  const record = {
    format: trainingRecords.format,
    files: ["vocab.json", "merges.txt"],
    options: { specialTokens },
  };

  test("contains the record, made when the file is written", () => {
    let callCount = 0;
    const file = trainingRecords.file(() => {
      callCount++;
      return record;
    });
    expect(callCount).toBe(0);
    expect(file.name).toBe("training.json");
    expect(JSON.parse(Buffer.concat([...file.chunks()]).toString())).toEqual(record);
    expect(callCount).toBe(1);
  });

  test("and the files next to it give a CS336 student dict[int, bytes] and list[tuple[bytes, bytes]]", () => {
    const python = Bun.which("python3");
    if (python === null) {
      console.log("skipped: there is no python3");
      return;
    }
    const tokenizer = finished("cs336");
    const { vocabulary } = tokenizer;
    for (const [name, content] of Object.entries(written(tokenizer)))
      writeFileSync(join(root, name), content);
    writeFileSync(join(root, "training.json"), JSON.stringify(record));
    const examples = join(import.meta.dir, "../../../examples");
    const show = `import sys, json; sys.path.insert(0, ${JSON.stringify(examples)}); sys.dont_write_bytecode = True
from cs336 import load
vocab, merges = load(${JSON.stringify(root)})
print(json.dumps([{id: token.hex() for id, token in vocab.items()}, [[a.hex(), b.hex()] for a, b in merges]]))`;
    const run = Bun.spawnSync([python, "-c", show]);
    expect(run.stderr.toString()).toBe("");
    const [vocab, pairs] = JSON.parse(run.stdout.toString());
    const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
    const tokens = Array.from(vocabulary.tokenIds, (_, token) => hex(vocabulary.tokenBytes.copy(token)));
    const specials = specialTokens.map((special) => hex(Buffer.from(special)));
    expect(vocab).toEqual(Object.fromEntries([...tokens, ...specials].map((bytes, id) => [id, bytes])));
    expect(pairs).toEqual(Array.from(merges.left, (left, k) => [tokens[left], tokens[merges.right[k]!]]));
    expect(existsSync(join(examples, "__pycache__"))).toBe(false);
  });
});
