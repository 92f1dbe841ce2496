import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch } from "../binary.ts";

const directory = scratch();
const text = put(directory, "text.txt", "low lower lowest newest widest ".repeat(40));
const tokenizer = join(directory, "tokenizer");
expect(bpe(["train", text, "-n", "280", "-o", tokenizer, "-q"]).code).toBe(0);

const sections = (page: string) => [...page.matchAll(/<section id="(\w+)"/g)].map(([, id]) => id);

test("inspect --report writes one page, and prints as without it", () => {
  const path = join(directory, "report.html");
  const plain = bpe(["inspect", tokenizer]);
  expect(bpe(["inspect", tokenizer, "--report", path])).toEqual(plain);
  const page = readFileSync(path, "utf8");
  expect(page).toStartWith("<!doctype html>");
  expect(page).toEndWith("</html>\n");
  expect(sections(page)).toEqual(["lengths", "scripts", "longest", "tree", "provenance"]);
  expect(readdirSync(directory).sort()).toEqual(["report.html", "text.txt", "tokenizer"]);
});

test("with a text, the page has frequencies and the text cut into tokens", () => {
  const path = join(directory, "with-text.html");
  expect(bpe(["inspect", tokenizer, "--text", text, "--report", path]).code).toBe(0);
  const page = readFileSync(path, "utf8");
  expect(sections(page)).toEqual([
    "frequency",
    "lengths",
    "scripts",
    "longest",
    "samples",
    "tree",
    "provenance",
  ]);
  expect(page.includes("rank 1: ")).toBe(true);
  const shown = [...page.matchAll(/<i data-id="\d+" data-n="\d+">([^<]*)<\/i>/g)].map(([, token]) => token);
  expect(shown.join("")).toBe("low lower lowest newest widest ".repeat(40).slice(0, shown.join("").length));
  expect(shown.join("").length).toBeGreaterThan(300);
});

test("records show the text of the first one", () => {
  const records = put(
    directory,
    "r.jsonl",
    '{"id":1}\n{"text":""}\n{"text":"lowest <b>"}\n'.replace('{"id":1}\n', ""),
  );
  const path = join(directory, "records.html");
  expect(bpe(["inspect", tokenizer, "--text", records, "--report", path])).toMatchObject({
    code: 0,
    stderr: "",
  });
  expect(readFileSync(path, "utf8")).toContain("&lt;</i>");
});

test("a report that can be written nowhere is an error before any work", () => {
  for (const path of ["-", ""]) {
    const { code, stdout, stderr } = bpe(["inspect", tokenizer, `--report=${path}`]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`--report "${path}" names no file`);
  }
  const nowhere = join(directory, "none", "report.html");
  const { code, stdout, stderr } = bpe(["inspect", tokenizer, "--report", nowhere]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("there is no directory");
  expect(existsSync(join(directory, "none"))).toBe(false);
});
