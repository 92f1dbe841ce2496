import { expect, test } from "bun:test";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch } from "../../binary.ts";

// Files that transformers reads next to a tokenizer.json, and that rewrites copy.

const home = scratch();
const text = put(home, "text.txt", "low lower lowest new newer <|e|> ".repeat(50));
const more = put(home, "more.txt", "zebra zebras quagga quaggas ".repeat(50));
const run = (...args: string[]) => {
  const { code, stderr } = bpe([...args, "-w", "1", "-q"]);
  expect([stderr, code]).toEqual(["", 0]);
};

const base = join(home, "base");
run("train", text, "-n", "290", "-s", "<|e|>", "-o", base);
const [{ id }] = JSON.parse(readFileSync(join(base, "tokenizer.json"), "utf8")).added_tokens;
const copied = {
  "chat_template.jinja": "{{ messages }}\r\n",
  "chat_template.json": '{"chat_template":  "{{ x }}"}',
  "special_tokens_map.json": '{ "eos_token":"<|e|>" }',
};
for (const [name, content] of Object.entries(copied)) writeFileSync(join(base, name), content);
writeFileSync(join(base, "added_tokens.json"), `{"<|e|>":${id}}`);
writeFileSync(join(base, "notes.txt"), "mine");

const fileIn = (directory: string, name: string) => readFileSync(join(directory, name), "utf8");

test("an extended tokenizer has all of them unchanged, however its directory is named", () => {
  for (const [i, path] of [base, `${base}/`].entries()) {
    const output = join(home, `extended-${i}`);
    run("train", "--extend", path, more, "-n", "+4", "-o", output);
    const names = [...Object.keys(copied), "added_tokens.json", "tokenizer_config.json"];
    for (const name of names) expect(fileIn(output, name)).toBe(fileIn(base, name));
    expect(() => fileIn(output, "notes.txt")).toThrow("ENOENT");
  }
});

test("a pruned one has them with the new ids, however its directory is named; a file that is named alone has none", () => {
  for (const [i, path] of [base, `${base}/`, join(base, "tokenizer.json")].entries()) {
    const output = join(home, `pruned-${i}`);
    run("prune", path, "--text", text, "-n", "270", "-o", output);
    const [{ id: now }] = JSON.parse(fileIn(output, "tokenizer.json")).added_tokens;
    expect(now).toBeLessThan(id);
    if (path.endsWith(".json")) {
      for (const name of Object.keys(copied)) expect(() => fileIn(output, name)).toThrow("ENOENT");
      continue;
    }
    for (const [name, content] of Object.entries(copied)) expect(fileIn(output, name)).toBe(content);
    expect(JSON.parse(fileIn(output, "added_tokens.json"))).toEqual({ "<|e|>": now });
    expect(Object.keys(JSON.parse(fileIn(output, "tokenizer_config.json")).added_tokens_decoder)).toEqual([
      `${now}`,
    ]);
    expect(() => fileIn(output, "notes.txt")).toThrow("ENOENT");
  }
});

test("layout, escapes and fields of a tokenizer.json from elsewhere stay in every rewrite", () => {
  const other = join(home, "other");
  cpSync(base, other, { recursive: true });
  const json = JSON.parse(fileIn(base, "tokenizer.json"));
  json.model.merges = json.model.merges.map((halves: string[]) => halves.join(" "));
  const compact = JSON.stringify({ x_own: [1.5, "é"], ...json }).replace("1.5,", "1.50,");
  const ascii = compact.replace(
    /[\u007f-\uffff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const path = put(other, "tokenizer.json", ascii);
  const head = ascii.slice(0, ascii.indexOf('"added_tokens"'));
  for (const [output, args] of [
    [join(home, "layout-extended"), ["train", "--extend", path, more, "-n", "+4"]],
    [join(home, "layout-pruned"), ["prune", path, "--text", text, "-n", "270"]],
  ] as const) {
    run(...args, "-o", output);
    const written = fileIn(output, "tokenizer.json");
    expect(written).toStartWith(head);
    expect(head).toContain('"x_own":[1.50,"\\u00e9"]');
    expect(/[^\x21-\x7e]/.test(written.replaceAll(" ", ""))).toBe(false);
    const { merges } = JSON.parse(written).model;
    expect(merges.every((merge: unknown) => typeof merge === "string")).toBe(true);
    expect(merges.length).not.toBe(json.model.merges.length);
  }
});
