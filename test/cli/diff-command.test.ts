import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer as HuggingFace } from "tokenizers";
import * as byteCharacters from "../../src/bytes/byte-characters.ts";
import { piecesText } from "../../src/evaluate/eval-text.ts";
import { bpe, put, scratch } from "../binary.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";
import { huggingFaceIds, jsonOf, specialTokens, writeTokenizer } from "../unit/tokenizer/made-tokenizer.ts";

const directory = scratch();
const a = writeTokenizer("gpt2");
const b = writeTokenizer("cl100k", "huggingface");
const text = put(directory, "text.txt", "the cat, don't  you\nthe hat 1234\n".repeat(9));

describe("bpe diff", () => {
  test("describes the differences for people", () => {
    const { code, stdout, stderr } = bpe(["diff", `old=${a}`, `new=${b}`, "--text", text]);
    expect(code).toBe(0);
    expect(stderr).toContain("compared old with new");
    expect(stdout).toContain("they cut text by different patterns");
    expect(stdout).toMatch(/^old: tokenizer.json, pattern gpt2, /m);
    expect(stdout).toMatch(/^tokens: \d+ in both$/m);
    expect(stdout).toMatch(/^ {2}with another id: 300 \(and 256 bytes, 4 special tokens\)$/m);
    expect(stdout).toMatch(/^text text: 63 words$/m);
    expect(stdout).toMatch(/^ {2}words cut differently: \d+ \(\d+\.\d\d %\), \d+ of them distinct$/m);
  });

  test("pieces are separated by a character that none of them contains, and spaces that look alike are marked", () => {
    expect(piecesText(["a", "b", "c"], 2)).toBe("a·b·…");
    expect(piecesText(["a·b", "|"], 9)).toBe("a·b¦|");
    expect(piecesText(["\u00a0a", " b"], 9)).toBe("‿a· b");
  });

  test("exactly two tokenizers are needed", () => {
    const cases: [args: string[], code: number, message: string][] = [
      [[a, b, "c"], 2, '"c" is one too many'],
    ];
    for (const [args, wantedCode, message] of cases) {
      const { code, stdout, stderr } = bpe(["diff", ...args]);
      expect(stderr).toContain(message);
      expect([code, stdout]).toEqual([wantedCode, ""]);
    }
  });
});

describe("bpe diff --pieces", () => {
  const corpus = put(directory, "corpus.txt", `${madeText(9, 900)}${"é漢字🙂 ".repeat(40)}`);
  const special = ["-s", specialTokens[0]!, "-s", "<|new|>", "-s", "the"];
  const train = ["train", corpus, "-n", "520", ...special, "-p", "o200k", "-w", "1", "-q", "-o", "fresh"];
  expect(bpe(train, { cwd: directory }).stderr).toBe("");
  const fresh = join(directory, "fresh");

  const rowsOf = (old: string, file: string) => {
    const { code, stderr } = bpe(["diff", old, fresh, "--pieces", file, "-q"], { cwd: directory });
    expect([stderr, code]).toEqual(["", 0]);
    const [head, ...rows] = readFileSync(join(directory, file), "utf8").slice(0, -1).split("\n");
    expect(head).toBe("new\told\ttoken");
    return rows.map((row) => {
      const [id, ids, token] = row.split("\t") as [string, string, string];
      return {
        id: Number(id),
        ids: ids.split(" ").map(Number),
        bytes: Buffer.from(byteCharacters.decode(token)!),
      };
    });
  };

  for (const [name, change] of Object.entries({
    unchanged: {},
    "a tokenizer that puts a space in front": {
      pre_tokenizer: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    },
  })) {
    test(`a token that both have is one id, any other one what its text is in the old tokenizer: ${name}`, async () => {
      const json = jsonOf(b);
      const old = put(scratch(), "tokenizer.json", JSON.stringify({ ...json, ...change }));
      const theirs = HuggingFace.fromString(JSON.stringify(json));
      const rows = rowsOf(old, "pieces.tsv");
      expect(rows.map(({ id }) => id)).toEqual([...Array(520).keys()]);
      const { vocab } = json.model;
      const keys = Object.entries(jsonOf(fresh).model.vocab);
      const met = { known: 0, pieces: 0, broken: 0 };
      for (const [key, id] of keys) {
        const { ids, bytes } = rows[id]!;
        const isSpecial = id >= 517;
        const known = isSpecial && !specialTokens.includes(key) ? undefined : vocab[key];
        const text = bytes.toString();
        if (known !== undefined) {
          met.known++;
          expect([key, ids]).toEqual([key, [known]]);
        } else if (Buffer.from(text).equals(bytes)) {
          met.pieces++;
          expect([key, ids]).toEqual([key, await huggingFaceIds(theirs, text)]);
        } else {
          met.broken++;
          const texts = new Map(Object.entries(vocab).map(([token, id]) => [id, token]));
          expect(ids.map((piece) => texts.get(piece)).join("")).toBe(key);
        }
      }
      expect(Object.values(met).every((count) => count > 0)).toBe(true);
      // Token 519 is a special token with the text "the". Its row has the ids of this text in the old tokenizer.
      expect(rows[519]!.ids).toEqual(await huggingFaceIds(theirs, "the"));
    });
  }

  test("refuses to replace any other output, or a file of a tokenizer", () => {
    for (const [file, code, message] of [[join(fresh, "vocab.json"), 2, "which this run reads"]] as const) {
      const run = bpe(["diff", a, fresh, `--pieces=${file}`], { cwd: directory });
      expect([file, run.stderr, run.code]).toEqual([file, expect.stringContaining(message), code]);
    }
    const { code } = bpe(["diff", a, join(directory, "none"), "--pieces", "never.tsv"], { cwd: directory });
    expect([code, existsSync(join(directory, "never.tsv"))]).toEqual([1, false]);
  });
});
