import { expect, test } from "bun:test";
import { cpSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch } from "../binary.ts";
import { turns } from "../rounds.ts";

test("a tokenizer's file, or a plan, that is too deep or too large is refused, and the error names it", () => {
  const home = scratch();
  put(home, "corpus.txt", "the cat sat on the mat. ".repeat(20));
  const command = (...args: string[]) => bpe([...args, "-q"], { cwd: home });
  expect(command("train", "corpus.txt", "-n", "262", "-o", "made").code).toBe(0);
  const deep = `${'{"a":['.repeat(100_000)}${"]}".repeat(100_000)}`;
  for (const [turn, [name, content]] of [
    ["tokenizer.json", (json: string) => json.replace(/}\s*$/, `,"more":${deep}}`)],
    ["tokenizer_config.json", () => deep],
    ["vocab.json", () => deep],
    ["training.json", (json: string) => json.replace(/}\s*$/, `,"more":${deep}}`)],
  ].entries() as ArrayIterator<[number, [string, (json: string) => string]]>) {
    cpSync(join(home, "made"), join(home, "tok"), { recursive: true });
    put(home, `tok/${name}`, content(readFileSync(join(home, "tok", name), "utf8")));
    const runs = [
      ["prune", "tok", "--text", "corpus.txt", "-n", "260", "-o", "out"],
      ["train", "corpus.txt", "--extend", "tok", "-n", "+2", "-o", "out"],
      ["encode", "corpus.txt", "--tokenizer", `tok/${name}`],
    ];
    for (const args of turns(runs, turn)) {
      expect([args, command(...args).stderr]).not.toEqual([args, expect.stringContaining("internal error")]);
    }
    put(home, `tok/${name}`, "");
    truncateSync(join(home, "tok", name), 3 * 2 ** 30);
    const run = command("prune", "tok", "--text", "corpus.txt", "-n", "260", "-o", "out");
    expect(run.stderr).toContain(
      `tok/${name}" has 3,221,225,472 bytes; a file of a tokenizer may have at most 1,073,741,824`,
    );
  }
  put(home, "plan.jsonl", `{"path":${deep}}`);
  expect(command("count", "--ranges", "plan.jsonl").stderr).toContain("nested too deeply");
});
