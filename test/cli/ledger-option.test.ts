import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch } from "../binary.ts";
import { madeText } from "../vocabulary/made-merges.ts";

const home = scratch();
const corpus = put(
  home,
  "corpus.txt",
  `${madeText(7, 3000)}<|end|>${madeText(8, 500)} -------- ----------- ${"=".repeat(40)}      x`,
);
const train = (output: string, ...args: string[]) =>
  bpe(["train", corpus, "-n", "500", "-s", "<|end|>", "-o", output, "-w", "1", ...args], { cwd: home });
const tableOf = (output: string) => {
  const path = join(home, output, "tokens.tsv");
  return existsSync(path) ? readFileSync(path, "utf8") : null;
};

test("occurrences at the end are those in the ids of the corpus, for each rule, whoever counts", () => {
  for (const compat of ["cs336", "rustbpe"]) {
    const tables = ["1", "2", "7"].map((workers) => {
      const output = `${compat}-${workers}`;
      const { code } = bpe(
        [
          "train",
          corpus,
          "-n",
          "500",
          "-s",
          "<|end|>",
          "-o",
          output,
          "--compat",
          compat,
          "-w",
          workers,
          "-q",
        ],
        { cwd: home },
      );
      expect(code).toBe(0);
      return tableOf(output)!;
    });
    expect(tables[1]).toBe(tables[0]!);
    expect(tables[2]).toBe(tables[0]!);
    const ids = bpe(["encode", corpus, "--tokenizer", `${compat}-1`, "-q"], { cwd: home })
      .stdout.trim()
      .split(" ");
    const counts = new Map<string, number>();
    for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
    const rows = tables[0]!
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split("\t"));
    expect(rows).toHaveLength(500);
    for (const [id, token, , birth, end] of rows) {
      if (token === "<|end|>") expect([birth, end]).toEqual(["", ""]);
      else expect([id, Number(end)]).toEqual([id, counts.get(id!) ?? 0]);
    }
  }
});

test("tokens.tsv is written without being asked for if it is small and no formats are named", () => {
  const isWritten = (...args: string[]) => {
    expect(train("chosen", "-q", ...args).code).toBe(0);
    const { files } = JSON.parse(readFileSync(join(home, "chosen/training.json"), "utf8"));
    expect(files.includes("tokens.tsv")).toBe(tableOf("chosen") !== null);
    return tableOf("chosen") !== null;
  };
  expect(isWritten()).toBe(true);
  expect(isWritten("--no-ledger")).toBe(false);
  expect(isWritten("--format", "gpt2")).toBe(false);
  expect(isWritten("--format", "gpt2", "--ledger")).toBe(true);
});

test("--ledger and --no-ledger do not go together", () => {
  const { code, stderr } = train("never", "--ledger", "--no-ledger");
  expect([code, stderr]).toEqual([2, expect.stringContaining("--ledger and --no-ledger")]);
  expect(existsSync(join(home, "never"))).toBe(false);
});

test("--if-changed makes the table anew if it is asked for otherwise", () => {
  const nightly = (...args: string[]) => {
    const { stderr } = train("nightly", "--cache", "cache", "--if-changed", "--progress", "json", ...args);
    return JSON.parse(stderr.trim().split("\n").at(-1)!).changed;
  };
  expect([nightly(), nightly(), nightly("--no-ledger"), nightly("--no-ledger")]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(tableOf("nightly")).toBe(null);
});

test("the summary names residues and the half, and its longest tokens have letters", () => {
  const { stderr } = bpe(["train", corpus, "-n", "600", "-o", "told", "-w", "1"], { cwd: home });
  const record = JSON.parse(readFileSync(join(home, "told/training.json"), "utf8"));
  const { residueCount, mergeCount, half, bytesPerToken } = record;
  const share = ((100 * residueCount) / mergeCount).toFixed(1);
  expect(stderr).toContain(
    `bytes/token ${bytesPerToken.toFixed(3)}, ${half.bytesPerToken.toFixed(3)} at half the size (300)\n`,
  );
  expect(stderr).toContain(`residues    ${residueCount} tokens (${share} %) that others used up`);
  const [, longest] = /^longest +(.*)$/m.exec(stderr)!;
  const shown = longest!.match(/"[^"]*"/g)!;
  expect(shown).toHaveLength(10);
  for (const token of shown) expect(token).toMatch(/\p{L}/u);
  expect(stderr).toMatch(/^blank +\d+ tokens? of blanks, \d+ of one sign, such as -----$/m);
});
