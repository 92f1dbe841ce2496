import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tiktoken } from "tiktoken";
import { Tokenizer as HuggingFace } from "tokenizers";
import * as byteCharacters from "../../src/bytes/byte-characters.ts";
import { Tokenizer } from "../../src/library/tokenizer.ts";
import { patterns } from "../../src/pattern/named-patterns.ts";
import { binary, bpe, put, scratch } from "../binary.ts";
import { turns } from "../rounds.ts";
import { type NaiveTokenizer, pruneNaively } from "../unit/edit/naive-prune.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";
import {
  huggingFaceIds,
  jsonOf,
  specialTokens,
  type TokenizerJson,
  writeTokenizer,
} from "../unit/tokenizer/made-tokenizer.ts";

const home = scratch();
const content = `${madeText(1, 3000)}${specialTokens[0]}${madeText(2, 500)}`;
const text = put(home, "text.txt", content);
const probes = [content.slice(0, 5000), madeText(3, 300), `a${specialTokens.join("b")}  \n\n 漢字`];

let outputs = 0;
const newPath = () => join(home, `pruned-${outputs++}`);
const prune = (...args: string[]) => bpe(["prune", "--progress", "none", ...args], { cwd: home });

/** Prunes, and returns the output directory. */
function pruned(path: string, size: number, ...more: string[]): string {
  const into = newPath();
  const { code, stderr } = prune(path, "--text", text, "-n", String(size), "-o", into, ...more);
  expect([stderr, code]).toEqual([expect.stringContaining("tokens "), 0]);
  return into;
}

const readJson = (...path: string[]) => JSON.parse(readFileSync(join(...path), "utf8"));

/** Returns the rows of ids.tsv: old id, new id or null, bytes. */
function idsOf(directory: string): { old: number; now: number | null; bytes: Uint8Array<ArrayBuffer> }[] {
  const [head, ...rows] = readFileSync(join(directory, "ids.tsv"), "utf8").slice(0, -1).split("\n");
  expect(head).toBe("old\tnew\ttoken");
  return rows.map((row) => {
    const [old, now, token] = row.split("\t");
    return {
      old: Number(old),
      now: now === "" ? null : Number(now),
      bytes: new Uint8Array(byteCharacters.decode(token!)!),
    };
  });
}

/** Writes a file alone into a new directory, so that it is the whole tokenizer, and returns its path. */
function alone(name: string, value: object | string, indent?: number): string {
  const directory = scratch();
  return put(directory, name, typeof value === "string" ? value : JSON.stringify(value, null, indent));
}

async function expectSameIds(directory: string, file: string): Promise<void> {
  const theirs = HuggingFace.fromString(readFileSync(join(directory, file), "utf8"));
  const ours = await Tokenizer.load(join(directory, file));
  for (const probe of probes) expect([...ours.encode(probe)]).toEqual(await huggingFaceIds(theirs, probe));
}

describe("a directory of our own", () => {
  const directory = newPath();
  const special = ["-s", specialTokens[0]!];
  const trained = bpe(["train", text, "-n", "700", "-o", directory, "-q", "-w", "1", ...special]);

  test("is written in every format that it had", () => {
    expect(trained.stderr).toBe("");
    const into = pruned(directory, 400);
    const names = readdirSync(directory).filter((name) => name !== "tokens.tsv");
    expect(readdirSync(into).sort()).toEqual([...names, "ids.tsv"].sort());
    expect(readJson(into, "training.json").files.toSorted()).toEqual(readdirSync(into).sort());
  });

  test("keeps the tokens that a naive twin keeps", async () => {
    const { model } = jsonOf(directory);
    const latin1 = (token: string) => Buffer.from(byteCharacters.decode(token)!).toString("latin1");
    const tokens = Object.entries(model.vocab).filter(([token]) => token !== special[1]);
    const naive: NaiveTokenizer = {
      ids: new Map(tokens.map(([token, id]) => [latin1(token), id])),
      fixed: new Set(tokens.map(([token]) => latin1(token)).filter((token) => token.length === 1)),
      merges: (model.merges as [string, string][]).map(([left, right]) => [latin1(left), latin1(right)]),
      ignoresMerges: false,
    };
    const texts = new Map(tokens.map(([token, id]) => [id, latin1(token)]));
    const counts = new Map<string, number>();
    for (const id of (await Tokenizer.load(directory)).encode(content)) {
      const token = texts.get(id);
      if (token !== undefined) counts.set(token, (counts.get(token) ?? 0) + 1);
    }
    for (const size of turns([699, 690], 1)) {
      const expected = pruneNaively(naive, counts, size - 1);
      const stays = idsOf(pruned(directory, size)).filter(({ now }) => now !== null);
      const kept = stays.map(({ bytes }) => Buffer.from(bytes).toString("latin1"));
      expect(kept.toSorted()).toEqual([...expected, special[1]!].toSorted());
    }
  });

  test("ids are renumbered without gaps, in order, and ids.tsv has all of them", async () => {
    const into = pruned(directory, 500);
    const rows = idsOf(into);
    expect(rows.map(({ old }) => old)).toEqual([...Array(700).keys()]);
    expect(rows.flatMap(({ now }) => now ?? [])).toEqual([...Array(500).keys()]);
    const [before, after] = await Promise.all([Tokenizer.load(directory), Tokenizer.load(into)]);
    for (const { old, now, bytes } of rows) {
      expect(before.decodeBytes([old])).toEqual(bytes);
      if (now !== null) expect(after.decodeBytes([now])).toEqual(bytes);
    }
    expect(readJson(into, "tokenizer_config.json").added_tokens_decoder).toEqual({
      "499": readJson(directory, "tokenizer_config.json").added_tokens_decoder["699"],
    });
  });

  test("the record says what it was made from, and keeps what the training recorded", () => {
    const into = pruned(directory, 450);
    const record = readJson(into, "training.json");
    expect(record.options).toMatchObject({
      vocabSize: 450,
      specialTokens: special.slice(1),
      specialIds: [449],
    });
    expect(record.options.pattern.name).toBe("gpt2");
    expect(record.options.compat).toBe("cs336");
    expect(record.pruned).toMatchObject({ sizeBefore: 700, unreachableCount: 0 });
    expect(record.pruned.tokenizer.map(({ path }: { path: string }) => path.split("/").at(-1))).toEqual([
      "tokenizer.json",
      "vocab.json",
      "tokenizer.tiktoken",
    ]);
    // A later run may replace this output, because the record in the output lists the output's files.
    expect(prune(directory, "--text", text, "-n", "300", "-o", into).code).toBe(0);
    expect(readJson(into, "training.json")).toMatchObject({ options: { vocabSize: 300 } });
  });

  test("one worker and many write the same", () => {
    const files = ["1", "2", "7"].map((workers) => {
      const into = pruned(directory, 350, "-w", workers);
      const names = readdirSync(into).filter((name) => name !== "training.json");
      return names.map((name) => [name, readFileSync(join(into, name), "utf8")]);
    });
    expect(files[1]).toEqual(files[0]);
    expect(files[2]).toEqual(files[0]);
  });

  test("--progress json ends with the result, and a text may be standard input", () => {
    const into = newPath();
    const args = ["prune", directory, "--text", "-", "-n", "600", "-o", into, "--progress", "json"];
    const shell = Bun.spawnSync([binary, ...args], { stdin: Bun.file(text) });
    const result = JSON.parse(shell.stderr.toString().trim().split("\n").at(-1)!);
    const sizes = { sizeBefore: 700, size: 600, unreachableCount: 0 };
    expect(result).toMatchObject({ event: "result", success: true, ...sizes });
    expect(readFileSync(join(into, "ids.tsv"), "utf8")).toBe(
      readFileSync(join(pruned(directory, 600), "ids.tsv"), "utf8"),
    );
  });

  test("two kinds that are different tokenizers are refused", () => {
    const mixed = scratch();
    for (const name of readdirSync(directory))
      writeFileSync(join(mixed, name), readFileSync(join(directory, name)));
    const merges = readFileSync(join(directory, "merges.txt"), "utf8").trim().split("\n");
    writeFileSync(
      join(mixed, "merges.txt"),
      [...merges.slice(0, 2), merges[3], merges[2], ...merges.slice(4)].join("\n"),
    );
    const { code, stderr } = prune(mixed, "--text", text, "-n", "600", "-o", newPath());
    expect([code, stderr]).toEqual([1, expect.stringContaining("are different tokenizers in one directory")]);
  });
});

describe("other people's files", () => {
  const json = jsonOf(writeTokenizer("cl100k"));

  for (const [name, change] of Object.entries({
    "merges as lists, indented": (made: TokenizerJson) => made,
    "merges as texts": ({ model, ...made }: TokenizerJson) => ({
      ...made,
      model: { ...model, merges: (model.merges as string[][]).map((halves) => halves.join(" ")) },
    }),
    "ignore_merges, with tokens that no merge makes": ({ model, ...made }: TokenizerJson) => ({
      ...made,
      model: { ...model, ignore_merges: true, vocab: { ...model.vocab, Ġlowest: 1000, thth: 2000 } },
    }),
    "a normal form and added tokens": (made: TokenizerJson) => ({ ...made, normalizer: { type: "NFC" } }),
  })) {
    for (const indent of [undefined, 2, 4]) {
      test(`tokenizer.json: ${name}, indented by ${indent ?? 0}`, async () => {
        const into = pruned(alone("tokenizer.json", change(json), indent), 380);
        expect(readdirSync(into).sort()).toEqual(["ids.tsv", "tokenizer.json", "training.json"]);
        await expectSameIds(into, "tokenizer.json");
        const written = readFileSync(join(into, "tokenizer.json"), "utf8");
        const value = JSON.parse(written);
        // The file keeps its layout, and is unchanged except for tokens and merges.
        const linesOf = (json: string) => json.split(/[\n,{}]+/).sort();
        // Lines are sorted, because JavaScript puts keys that are numbers first.
        expect(linesOf(written)).toEqual(linesOf(JSON.stringify(value, null, indent)));
        const { vocab: _, merges, ...model } = value.model;
        const { vocab: __, merges: before, ...modelBefore } = change(json).model;
        expect([model, typeof merges[0]]).toEqual([modelBefore, typeof before[0]]);
        expect({ ...value, model: 0, added_tokens: 0 }).toEqual({
          ...change(json),
          model: 0,
          added_tokens: 0,
        });
      });
    }
  }

  test("tokens that no text can produce are removed first", () => {
    const { model, ...made } = json;
    const vocab = { ...model.vocab, qzqz: 900, ĠĠqqq: 901 };
    const into = pruned(
      alone("tokenizer.json", { ...made, model: { ...model, vocab } }),
      Object.keys(vocab).length - 2,
    );
    const goneTokens = idsOf(into).filter(({ now }) => now === null);
    expect(goneTokens.map(({ old }) => old)).toEqual([900, 901]);
    expect(readJson(into, "training.json").pruned.unreachableCount).toBe(2);
    // All unreachable tokens are removed, even if the vocabulary becomes smaller than requested.
    const smaller = newPath();
    const size = String(Object.keys(vocab).length - 1);
    const path = alone("tokenizer.json", { ...made, model: { ...model, vocab } });
    const { stderr } = prune(path, "--text", text, "-n", size, "-o", smaller);
    expect(stderr).toContain("2 tokens that no text produces");
    expect(idsOf(smaller).filter(({ now }) => now === null)).toHaveLength(2);
  });

  test("ids in post-processors, padding and companions are the new ones", async () => {
    const id = json.model.vocab["<|end|>"]!;
    const steps = {
      type: "Sequence",
      processors: [
        { type: "ByteLevel", add_prefix_space: true, trim_offsets: false, use_regex: true },
        {
          type: "TemplateProcessing",
          single: [{ SpecialToken: { id: "<|end|>", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }],
          pair: [{ Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }],
          special_tokens: { "<|end|>": { id: "<|end|>", ids: [id], tokens: ["<|end|>"] } },
        },
      ],
    };
    const padding = {
      strategy: "BatchLongest",
      direction: "Right",
      pad_to_multiple_of: null,
      pad_id: id,
      pad_type_id: 0,
      pad_token: "<|end|>",
    };
    const directory = scratch();
    put(directory, "tokenizer.json", JSON.stringify({ ...json, post_processor: steps, padding }));
    put(
      directory,
      "tokenizer_config.json",
      JSON.stringify({ added_tokens_decoder: { [id]: { content: "<|end|>" } }, x: 1 }),
    );
    put(directory, "added_tokens.json", JSON.stringify({ "<|end|>": id }));
    put(directory, "chat_template.jinja", "{{ x }}");
    put(directory, "config.json", "{}");
    const into = pruned(directory, 350);
    const now = idsOf(into)[id]!.now!;
    const names = readdirSync(directory).filter((name) => name !== "config.json");
    expect(readdirSync(into).sort()).toEqual([...names, "ids.tsv", "training.json"].sort());
    const written = jsonOf(into) as TokenizerJson & { padding: object };
    expect(written.padding).toEqual({ ...padding, pad_id: now });
    const template = (written.post_processor as typeof steps).processors[1] as object;
    expect(template).toEqual({
      ...steps.processors[1]!,
      special_tokens: { "<|end|>": { id: "<|end|>", ids: [now], tokens: ["<|end|>"] } },
    });
    expect(readJson(into, "tokenizer_config.json")).toEqual({
      added_tokens_decoder: { [now]: { content: "<|end|>" } },
      x: 1,
    });
    expect(readJson(into, "added_tokens.json")).toEqual({ "<|end|>": now });
    const theirs = HuggingFace.fromString(JSON.stringify(written));
    expect((await theirs.encode("low")).getIds()[0]).toBe(now);
    const roberta = {
      type: "RobertaProcessing",
      sep: ["<|end|>", id],
      cls: ["<|end|>", id],
      trim_offsets: true,
      add_prefix_space: true,
    };
    const second = pruned(alone("tokenizer.json", { ...json, post_processor: roberta }), 350);
    expect(jsonOf(second).post_processor).toEqual({
      ...roberta,
      sep: ["<|end|>", now],
      cls: ["<|end|>", now],
    });
  });

  test("a file of ranks keeps its order, and its special tokens wherever their ids are", async () => {
    const ranks = readFileSync(join(writeTokenizer("cl100k"), "tokenizer.tiktoken"), "utf8")
      .trim()
      .split("\n");
    // The id of a special token, 300, is between the ranks of other tokens, as in p50k.
    const moved = ranks
      .map((line, rank) => `${line.split(" ")[0]} ${rank < 300 ? rank : rank + 1}`)
      .join("\n");
    const path = alone("some.tiktoken", moved);
    const into = pruned(path, 400, "-p", "cl100k", "-s", "<|x|>=300", "-s", "<|y|>=2000");
    const record = readJson(into, "training.json");
    const [x] = record.options.specialIds;
    const [, inside] = idsOf(into)
      .filter(({ bytes }) => Buffer.from(bytes).toString().startsWith("<|"))
      .map(({ now }) => now);
    expect(record.options).toMatchObject({
      specialTokens: ["<|x|>", "<|y|>"],
      specialIds: [x, 399],
    });
    expect(inside).toBe(399);
    const lines = readFileSync(join(into, "some.tiktoken"), "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(" "));
    const tiktoken = new Tiktoken(
      lines.map(([token, rank]) => `! ${rank} ${token}`).join("\n"),
      { "<|x|>": x, "<|y|>": 399 },
      patterns.cl100k.sources[0],
    );
    const ours = await Tokenizer.load(join(into, "some.tiktoken"));
    for (const probe of [...probes, "a<|x|>b<|y|>"]) {
      expect([...ours.encode(probe)]).toEqual([...tiktoken.encode(probe, "all")]);
    }
    tiktoken.free();
  });

  test("GPT-2's pair of files alone keeps its pattern in the record, and special tokens that were named", async () => {
    const directory = scratch();
    const made = writeTokenizer("gpt2");
    for (const name of ["vocab.json", "merges.txt"]) put(directory, name, readFileSync(join(made, name)));
    const into = pruned(join(directory, "merges.txt"), 350, "-p", "cl100k", "-s", "<|new|>");
    expect(readdirSync(into).sort()).toEqual(["ids.tsv", "merges.txt", "training.json", "vocab.json"]);
    expect(readFileSync(join(into, "merges.txt"), "utf8")).toStartWith("#version: 0.2\n");
    expect(readJson(into, "vocab.json")["<|new|>"]).toBe(349);
    const before = await Tokenizer.load(join(directory, "vocab.json"), { pattern: "cl100k" });
    const after = await Tokenizer.load(into);
    const probe = "x<|new|>12345 it's";
    expect(Buffer.from(after.decodeBytes(after.encode(probe))).toString()).toBe(probe);
    expect([...after.encode(probe)]).toContain(349);
    expect(before.encode("12345").length).toBeLessThanOrEqual(after.encode("12345").length);
  });

  test("tekken.json has its new size, and lists no more tokens", async () => {
    const bytes = Array.from({ length: 256 }, (_, rank) => ({
      rank,
      token_bytes: Buffer.of(rank).toString("base64"),
      token_str: null,
    }));
    const made = ["lo", "low", " l", "th", "the", " w", "zz"].map((token, i) => ({
      rank: 256 + i,
      token_bytes: Buffer.from(token).toString("base64"),
      token_str: token,
    }));
    const sizes = { default_vocab_size: 264, default_num_special_tokens: 2 };
    const config = { pattern: patterns.tekken.sources[0], ...sizes, version: "v3" };
    // The last token is ignored, because default_vocab_size leaves no id for it.
    const path = alone(
      "tekken.json",
      {
        config: { ...config, num_vocab_tokens: 9 },
        vocab: [...bytes, ...made],
        special_tokens: ["<unk>", "<s>"].map((token_str, rank) => ({ rank, token_str })),
      },
      4,
    );
    const into = pruned(path, 262);
    const written = readJson(into, "tekken.json");
    expect(written.config).toEqual({ ...config, num_vocab_tokens: 9, default_vocab_size: 262 });
    expect(written.vocab.map(({ rank }: { rank: number }) => rank)).toEqual([...Array(260).keys()]);
    const [before, after] = await Promise.all([Tokenizer.load(path), Tokenizer.load(into)]);
    for (const { old, now, bytes } of idsOf(into)) {
      if (now === null) continue;
      expect([before.decodeBytes([old]), after.decodeBytes([now])]).toEqual([bytes, bytes]);
    }
  });
});

describe("refusals", () => {
  const json = jsonOf(writeTokenizer("gpt2"));
  const { vocab } = json.model;
  const cases: [name: string, change: object, message: string][] = [
    [
      "a post-processor that may have ids",
      { post_processor: { type: "New" } },
      "post-processor New is unknown",
    ],
    [
      "padding by an id that no token has",
      { padding: { pad_id: 5000 } },
      "padding has the id 5000, which no token has",
    ],
    [
      "two tokens with one id",
      { model: { ...json.model, vocab: { ...vocab, zzzz: 300 } } },
      "have the same id, 300",
    ],
  ];
  for (const [name, change, message] of cases) {
    test(name, () => {
      const into = newPath();
      const run = prune(
        alone("tokenizer.json", { ...json, ...change }),
        "--text",
        text,
        "-n",
        "300",
        "-o",
        into,
      );
      expect([run.stderr, run.code]).toEqual([expect.stringContaining(message), 1]);
      expect(existsSync(into)).toBe(false);
    });
  }

  test("fewer tokens than bytes, and no fewer than before", () => {
    const path = alone("tokenizer.json", json);
    for (const [size, into, code, message] of [
      ["259", newPath(), 1, "260 of its tokens cannot be removed"],
      [String(Object.keys(vocab).length), newPath(), 1, "would remove none"],
    ] as const) {
      const run = prune(join(path, ".."), "--text", text, "-n", size, "-o", into);
      expect([run.stderr, run.code]).toEqual([expect.stringContaining(message), code]);
    }
    expect(readdirSync(join(path, ".."))).toEqual(["tokenizer.json"]);
  });
});
