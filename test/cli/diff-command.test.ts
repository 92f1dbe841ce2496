import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { bpe, put, scratch } from "../binary.ts";
import { writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const directory = scratch();
const a = writeTokenizer("gpt2");
const b = writeTokenizer("cl100k", "huggingface");
const text = put(directory, "text.txt", "the cat, don't  you\nthe hat 1234\n".repeat(9));

describe("bpe diff", () => {
  test("says what differs, for people", () => {
    const { code, stdout, stderr } = bpe(["diff", `old=${a}`, `new=${b}`, "--text", text]);
    expect(code).toBe(0);
    expect(stderr).toContain("compared old with new");
    expect(stdout).toContain("they cut text by different patterns");
    expect(stdout).toMatch(/^old: tokenizer.json, pattern gpt2, /m);
    expect(stdout).toMatch(/^tokens: \d+ in both$/m);
    expect(stdout).toMatch(/^ {2}with another id: \d+$/m);
    expect(stdout).toMatch(/^text text: 63 words$/m);
    expect(stdout).toMatch(/^ {2}words cut differently: \d+ \(\d+\.\d\d %\), \d+ of them distinct$/m);
  });

  test("two tokenizers are needed, no more and no fewer", () => {
    const cases: [args: string[], code: number, message: string][] = [
      [[a, b, "c"], 2, '"c" is one too many'],
      [[a, join(directory, "none")], 1, "no such file or directory"],
      [[a, b, "--text", join(directory, "none.txt")], 1, "none.txt"],
    ];
    for (const [args, wantedCode, message] of cases) {
      const { code, stdout, stderr } = bpe(["diff", ...args]);
      expect(stderr).toContain(message);
      expect([code, stdout]).toEqual([wantedCode, ""]);
    }
  });
});
