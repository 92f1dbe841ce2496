import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Tiktoken } from "tiktoken";
import { Tokenizer as HuggingFace } from "tokenizers";
import { randomSource } from "../../bench/random.ts";
import { Tokenizer } from "../../src/library/tokenizer.ts";
import { patterns } from "../../src/pattern/named-patterns.ts";
import { bpe, put, scratch } from "../binary.ts";
import { rounds } from "../rounds.ts";
import { triedPatterns } from "../unit/pattern/names.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";
import { huggingFaceIds, jsonOf, specialTokens, writeTokenizer } from "../unit/tokenizer/made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 5);
const home = scratch();
const text = put(home, "text.txt", `${madeText(1, 3000)}${specialTokens[0]}${madeText(2, 500)}`);
const probes = [madeText(1, 400), madeText(3, 300), `a${specialTokens.join("b")}  \n\n 漢字 lowest`];

const run = (...args: string[]) => bpe(args, { cwd: home });
let outputs = 0;
const newPath = () => `cut-${outputs++}`;

/** Truncates, and returns the output directory. */
function truncated(path: string, size: string, ...more: string[]): string {
  const into = newPath();
  const { code, stderr } = run("truncate", path, "-n", size, "-o", into, "-q", ...more);
  expect([stderr, code]).toEqual(["", 0]);
  return join(home, into);
}

const filesOf = (directory: string, without: readonly string[]) =>
  Object.fromEntries(
    readdirSync(directory)
      .filter((name) => !without.includes(name))
      .map((name) => [name, readFileSync(join(directory, name), "utf8")]),
  );

const readJson = (...path: string[]) => JSON.parse(readFileSync(join(...path), "utf8"));
/** Writes a file alone into a new directory, so that it is the whole tokenizer, and returns its path. */
const alone = (name: string, value: object) => put(scratch(), name, JSON.stringify(value));

describe("a tokenizer that was trained", () => {
  const special = ["-s", specialTokens[0]!, "-s", specialTokens[2]!];
  const train = (size: string, compat: string, pattern: string) => {
    const into = newPath();
    const common = ["-w", "1", "-q", "--no-ledger", "--compat", compat, "-p", pattern];
    expect(run("train", text, "-n", size, "-o", into, ...special, ...common).stderr).toBe("");
    return join(home, into);
  };

  for (const [compat, pattern] of [
    ["cs336", "gpt2"],
    ["huggingface", "cl100k"],
    ["rustbpe", "o200k"],
    // With gpt4, tokenizer.json has llama3's equivalent pattern, and only training.json has gpt4's own.
    ["rustbpe", "gpt4"],
  ] as const) {
    test(`has the files of a smaller training, byte for byte: ${compat}, ${pattern}`, () => {
      const cut = truncated(train("700", compat, pattern), "500,300");
      const smaller = train("300,500", compat, pattern);
      for (const size of ["300", "500"]) {
        const files = filesOf(join(cut, size), ["training.json", "ids.tsv"]);
        expect(files).toEqual(filesOf(join(smaller, size), ["training.json"]));
      }
      expect(readdirSync(cut).sort()).toEqual(["300", "500", "training.json"]);
      expect(readJson(cut, "training.json")).toMatchObject({
        pruned: { sizeBefore: 700, unreachableCount: 0, texts: [] },
        options: { vocabSize: 500, sizes: [300, 500], compat },
      });
      expect(readJson(cut, "300", "training.json").options.sizes).toBe(undefined);
    });
  }

  test("ids.tsv has the new id of each old one; a later run replaces the result, and prints what it did", () => {
    const whole = train("700", "cs336", "gpt2");
    const into = truncated(whole, "400");
    const rows = readFileSync(join(into, "ids.tsv"), "utf8").trim().split("\n").slice(1);
    const ids = rows.map((row) =>
      row
        .split("\t")
        .slice(0, 2)
        .map((cell) => (cell === "" ? null : Number(cell))),
    );
    const expected = Array.from({ length: 700 }, (_, id) => [id, id < 398 ? id : id < 698 ? null : id - 300]);
    expect(ids).toEqual(expected);
    const again = run("truncate", whole, "-n", "400,300", "-o", basename(into), "--progress", "json");
    const result = JSON.parse(again.stderr.trim().split("\n").at(-1)!);
    expect(result).toMatchObject({
      success: true,
      sizeBefore: 700,
      sizes: [300, 400],
      output: basename(into),
    });
    expect(readdirSync(into).sort()).toEqual(["300", "400", "training.json"]);
  });
});

test("random trainings, cut to random sizes: ids are those of HF, and those that are cut from ids", async () => {
  for (let round = 0; round < rounds(15); round++) {
    const random = randomSource(seed + round);
    const one = <T>(list: readonly T[]) => list[random.below(list.length)]!;
    const some = (...args: string[]) => (random.below(4) === 0 ? args : []);
    const kept = specialTokens.filter(() => random.below(2) === 0);
    const big = newPath();
    const size = 400 + random.below(500);
    const pattern = one(triedPatterns);
    const isOne = patterns[pattern].sources.length === 1;
    const compat = one(["cs336", "huggingface", ...(isOne ? ["rustbpe"] : [])]);
    const options = [
      ...["-n", String(size), "--compat", compat, "-p", pattern, ...kept.flatMap((token) => ["-s", token])],
      ...some("--normalize", one(["NFC", "NFKC,lowercase"])),
      ...some("--max-token-length", String(2 + random.below(8))),
      ...some("--min-frequency", String(2 + random.below(4))),
      ...some("--pad-to", "64"),
    ];
    const { stderr, code } = run("train", text, "-w", "1", "-q", "-o", big, ...options);
    expect({ round, options, stderr, code }).toMatchObject({ code: 0 });
    const whole = await Tokenizer.load(join(home, big));
    const least = 256 + whole.specialTokens.size + 1;
    const cut = least + random.below(whole.vocabSize - least);
    const into = truncated(big, String(cut));
    const theirs = HuggingFace.fromString(readFileSync(join(into, "tokenizer.json"), "utf8"));
    const ours = await Tokenizer.load(into);
    const texts = [
      ...probes,
      madeText(random.below(1000), 300),
      `${kept.join(" É ")}①\r\n 1234567 don't DON'T`,
    ];
    const ids = texts.map((probe) => [...ours.encode(probe)]);
    for (const [i, probe] of texts.entries())
      expect({ round, options, cut, ids: ids[i] }).toEqual({
        round,
        options,
        cut,
        ids: await huggingFaceIds(theirs, probe),
      });
    const lines = put(home, "lines.txt", texts.map((probe) => `${whole.encode(probe).join(" ")}\n`).join(""));
    const made = run("ids", "truncate", lines, "--from", big, "--to", basename(into), "-q");
    expect({ round, options, cut, ...made }).toMatchObject({
      stdout: ids.map((of) => `${of.join(" ")}\n`).join(""),
    });
  }
}, 600_000);

describe("other people's files", () => {
  const unreachable: Record<string, number> = {
    "tokens that nothing gives": 2,
    "merges in another order than ids": 54,
  };
  const json = jsonOf(writeTokenizer("cl100k"));

  for (const [name, change] of Object.entries({
    unchanged: {},
    "merges in another order than ids": { merges: json.model.merges.toReversed() },
    "several merges for a token": {
      merges: json.model.merges.flatMap((halves) => {
        const token = (halves as string[]).join("");
        const others = Array.from({ length: token.length - 1 }, (_, i) => [
          token.slice(0, i + 1),
          token.slice(i + 1),
        ]);
        return others.filter((pair) => pair.every((half) => half in json.model.vocab));
      }),
    },
    "tokens that nothing gives": { vocab: { ...json.model.vocab, qzqz: 900, ĠĠqqq: 901 } },
    "ignore_merges, with tokens that no merge makes": {
      ignore_merges: true,
      vocab: Object.fromEntries([
        ...Object.entries(json.model.vocab).map(([token, id]) => [token, id < 300 ? id : id + 1]),
        ["Ġlowest", 300],
        ["thth", 2000],
      ]),
    },
  })) {
    test(`tokenizer.json, ${name}: its ids are those of HF`, async () => {
      const path = alone("tokenizer.json", { ...json, model: { ...json.model, ...change } });
      for (const size of ["420", "310"]) {
        const into = truncated(path, size);
        const { unreachableCount } = readJson(into, "training.json").pruned;
        expect(unreachableCount).toBe(unreachable[name] ?? 0);
        const theirs = HuggingFace.fromString(readFileSync(join(into, "tokenizer.json"), "utf8"));
        const ours = await Tokenizer.load(into);
        for (const probe of probes)
          expect([...ours.encode(probe)]).toEqual(await huggingFaceIds(theirs, probe));
        expect(Object.keys(jsonOf(into).model.vocab)).not.toContain("thth");
        expect(Object.keys(jsonOf(into).model.vocab).includes("Ġlowest")).toBe(
          name.startsWith("ignore_merges"),
        );
      }
    });
  }

  test("a pair that is listed again after the cut has no merge, even if another merge has its token", () => {
    const { vocab, merges } = json.model;
    const first = merges.find((halves) => /^[a-z]+$/.test((halves as string[]).join(""))) as string[];
    const content = first.join("");
    const added = { ...json.added_tokens[0], id: vocab[content], content, single_word: true };
    const model = { ...json.model, merges: [...merges, first] };
    const into = truncated(
      alone("tokenizer.json", { ...json, added_tokens: [...json.added_tokens, added], model }),
      "420",
    );
    expect(jsonOf(into).model.vocab[content]).toBeNumber();
    expect(jsonOf(into).model.merges).not.toContainEqual(first);
  });

  test("a file of ranks keeps the first, and its special tokens wherever their ids are", async () => {
    const path = join(writeTokenizer("cl100k"), "tokenizer.tiktoken");
    const ranks = readFileSync(path, "utf8").trim().split("\n");
    const bare = put(scratch(), "some.tiktoken", `${ranks.join("\n")}\n`);
    const into = truncated(bare, "402", "-p", "cl100k", "-s", "<|x|>=2000", "-s", "<|y|>=1000");
    const cut = readFileSync(join(into, "some.tiktoken"), "utf8").trim().split("\n");
    expect(cut).toEqual(ranks.slice(0, 400));
    const lines = cut.map((line) => line.split(" ")).map(([token, rank]) => `! ${rank} ${token}`);
    const tiktoken = new Tiktoken(
      lines.join("\n"),
      { "<|y|>": 400, "<|x|>": 401 },
      patterns.cl100k.sources[0],
    );
    const ours = await Tokenizer.load(join(into, "some.tiktoken"));
    for (const probe of [...probes, "a<|x|>b<|y|>"])
      expect([...ours.encode(probe)]).toEqual([...tiktoken.encode(probe, "all")]);
    tiktoken.free();
  });
});

describe("refusals", () => {
  const json = jsonOf(writeTokenizer("gpt2"));
  const path = dirname(alone("tokenizer.json", json));
  const size = Object.keys(json.model.vocab).length;
  for (const [name, args, code, message] of [
    ["more tokens than there are", ["-n", String(size)], 1, "would remove none"],
    ["fewer than bytes and special tokens", ["-n", "300,259"], 1, "260 of its tokens cannot be removed"],
    [
      "a size beyond another",
      ["-n", "+20"],
      2,
      "--vocab-size +20 would add tokens, but truncate only removes tokens",
    ],
    ["a size twice", ["-n", "300,400,300"], 2, "--vocab-size has the size 300 twice"],
  ] as const) {
    test(name, () => {
      const into = newPath();
      const result = run("truncate", path, "-o", into, ...args);
      expect([result.stderr, result.code]).toEqual([expect.stringContaining(message), code]);
      expect(existsSync(join(home, into))).toBe(false);
    });
  }
});
