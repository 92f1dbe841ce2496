import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as byteCharacters from "../../src/bytes/byte-characters.ts";
import { bpe, put, scratch, tokenizerFiles } from "../binary.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

const home = scratch();
put(home, "text.txt", madeText(5, 500));
const train = (output: string, ...args: string[]) =>
  bpe(
    [
      "train",
      "text.txt",
      "-w",
      "1",
      "-o",
      output,
      "-q",
      ...(args.includes("-n") ? [] : ["-n", "400"]),
      ...args,
    ],
    {
      cwd: home,
    },
  );
const idsOf = (tokenizer: string, text: string) =>
  bpe(["encode", put(home, "one.txt", text), "--tokenizer", tokenizer, "-q"], { cwd: home }).stdout.trim();

describe("--seed-tokens", () => {
  const tokens = ["naïve", "12", "123", " the quick".slice(0, 4), "日本"];

  test("is a file of lines, of any line ends, or a JSON list, and the same as --seed-token", () => {
    const typed = tokens.map((token) => `--seed-token=${token}`);
    expect(train("typed", ...typed)).toMatchObject({ code: 0, stderr: "" });
    const wanted = tokenizerFiles(join(home, "typed"));
    const files = {
      lines: tokens.join("\n"),
      ended: `${tokens.join("\n")}\n\n`,
      windows: `${tokens.join("\r\n")}\r\n`,
      marked: `\ufeff${tokens.join("\n")}\n`,
      "list.json": JSON.stringify(tokens, null, 1),
      twice: `${tokens.join("\n")}\n${tokens.join("\n")}\n`,
    };
    for (const [name, content] of Object.entries(files)) {
      put(home, name, content);
      expect([name, train("filed", "--seed-tokens", name)]).toMatchObject([name, { code: 0, stderr: "" }]);
      expect([name, tokenizerFiles(join(home, "filed"))]).toEqual([name, wanted]);
    }
    put(home, "some", tokens.slice(2).join("\n"));
    expect(train("filed", ...typed.slice(0, 2), "--seed-tokens", "some").code).toBe(0);
    expect(tokenizerFiles(join(home, "filed"))).toEqual(wanted);
    for (const token of tokens) expect(idsOf("typed", token)).toMatch(/^\d+$/);
  });

  test("invalid tokens are refused, and nothing is written", () => {
    put(home, "empty", "\n\n");
    put(home, "numbers.json", "[1, 2]");
    put(home, "half.json", '["a", ]');
    put(home, "wide", Buffer.from("ab\ncd\n", "utf16le"));
    put(home, "latin", Buffer.from([0x61, 0xe4, 0x0a]));
    const wrong: [string, string][] = [
      ["empty", '--seed-tokens "empty" has no token'],
      ["numbers.json", '--seed-tokens "numbers.json" is not a list of texts'],
      ["half.json", "half.json"],
      ["wide", 'line 1 of --seed-tokens "wide": there is a zero byte'],
      ["latin", '--seed-tokens "latin" is not valid UTF-8'],
    ];
    for (const [name, message] of wrong) {
      const { code, stderr } = train("refused", "--seed-tokens", name);
      expect({ name, isRefused: code === 1 || code === 2, stderr }).toMatchObject({
        name,
        isRefused: true,
        stderr: expect.stringContaining(message),
      });
      expect(stderr).toContain("bpe: error");
    }
    expect(train("refused", "--seed-token", "a b").code).toBe(2);
    expect(() => tokenizerFiles(join(home, "refused"))).toThrow();
  });

  test("--if-changed compares the tokens, not the file that contains them", () => {
    const changed = (...args: string[]) =>
      JSON.parse(
        bpe(
          [
            "train",
            "text.txt",
            "-n",
            "300",
            "-o",
            "nightly",
            "--cache",
            "c",
            "--if-changed",
            "--progress",
            "json",
            ...args,
          ],
          { cwd: home },
        )
          .stderr.trim()
          .split("\n")
          .at(-1)!,
      ).changed;
    put(home, "a.txt", "low\nnew\n");
    put(home, "b.txt", '["low", "new"]');
    expect(changed("--seed-tokens", "a.txt")).toBe(true);
    expect(changed("--seed-tokens", "b.txt")).toBe(false);
    put(home, "b.txt", '["low", "newer"]');
    expect(changed("--seed-tokens", "b.txt")).toBe(true);
    expect(changed()).toBe(true);
  });

  test("they are in every size, and work with counts, whole characters, padding, a report and token counts", () => {
    const seeds = ["--seed-token", "zebra", "--seed-token", "日本"];
    const more = ["--whole-characters", "--pad-to", "16", "--ledger", "--report", "report.html"];
    const { code, stderr } = train("sizes", "-n", "280,400", ...seeds, ...more);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const size of ["280", "400"])
      for (const token of ["zebra", "日本"]) expect(idsOf(`sizes/${size}`, token)).toMatch(/^\d+$/);
    expect(bpe(["count", "text.txt", "-o", "words.tsv", "-q"], { cwd: home }).code).toBe(0);
    train("plain", ...seeds);
    expect(
      bpe(["train", "--counts", "words.tsv", "-n", "400", "-o", "counted", "-q", ...seeds], { cwd: home })
        .code,
    ).toBe(0);
    expect(tokenizerFiles(join(home, "counted"))).toEqual(tokenizerFiles(join(home, "plain")));
  });

  test("with --language they are one token, too, and characters stay whole", () => {
    put(home, "other.txt", madeText(8, 300));
    const { code, stderr } = bpe(
      [
        "train",
        "--language",
        "a=text.txt",
        "--language",
        "b=other.txt",
        "-n",
        "500",
        "-o",
        "pair",
        "-q",
        "-w",
        "1",
      ].concat(["--whole-characters", "--seed-token", "zebra", "--seed-token", "日本"]),
      { cwd: home },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const token of ["zebra", "日本"]) expect(idsOf("pair", token)).toMatch(/^\d+$/);
    const vocabulary = JSON.parse(readFileSync(join(home, "pair", "vocab.json"), "utf8"));
    const broken = Object.keys(vocabulary).filter((token) => {
      const bytes = byteCharacters.decode(token)!;
      return bytes.length > 3 && new TextDecoder().decode(bytes).includes("\ufffd");
    });
    expect(broken).toEqual([]);
  });

  test("with --normalize and with --like a seed has to be in the normal form that text is brought into", () => {
    expect(train("nfc", "-p", "cl100k").code).toBe(0);
    const path = join(home, "nfc", "tokenizer.json");
    const json = JSON.parse(readFileSync(path, "utf8"));
    put(home, "nfc/tokenizer.json", JSON.stringify({ ...json, normalizer: { type: "NFC" } }));
    expect(train("lower", "--normalize", "lowercase", "--seed-token", "Widest")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the normalization (lowercase) changes it to "widest"'),
    });
    const like = ["--like", "nfc/tokenizer.json"];
    expect(train("liked", ...like, "--seed-token", "cafe\u0301")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the normalization (NFC) changes it to "café"'),
    });
    expect(train("liked", ...like, "--seed-token", "café")).toMatchObject({ code: 0, stderr: "" });
    for (const text of ["café", "cafe\u0301"]) expect(idsOf("liked", text)).toMatch(/^\d+$/);
  });
});
