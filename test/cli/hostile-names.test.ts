// Names and contents of files may come from anybody. What is shown of them stays on its line, does nothing to the
// terminal, and hides nothing.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch } from "../binary.ts";

const evil = "\x1b]0;x\x07\nbpe: error: forged\x1b[31m\r\u009b\u202e\u200b";
const home = scratch();
const text = `${"the cat sat on the mat. ".repeat(20)}${evil} ${evil}`;

/** Fills `home` with files, mostly under evil names, and a tokenizer with evil strings. */
function prepare(): void {
  put(home, `${evil}.txt`, text);
  put(home, "one.txt", text);
  put(home, `bad${evil}.txt`, Buffer.from([0x61, 0xff, 0x62, 0x0a]));
  put(home, `${evil}.json`, '{"a": [1, 2]}');
  put(home, `${evil}.jsonl`, `{"text": "a b", "${JSON.stringify(evil).slice(1, -1)}": "c d"}\n`);
  mkdirSync(join(home, evil, `in${evil}`), { recursive: true });
  put(home, join(evil, `in${evil}`, `${evil}.txt`), text);
  put(home, join(evil, `${evil}.png`), "\x89PNG\r\n\x1a\n\0");
  put(home, join(evil, `${evil}.json`), '[{"text": "a b"}, {"text": "c"}]');
  symlinkSync(`${evil}.txt`, join(home, evil, "twice"));
  const made = bpe(["train", "one.txt", "-n", "270", "-s", evil, "-o", `tok${evil}`, "-q"], { cwd: home });
  expect(made.code).toBe(0);
  const path = join(home, `tok${evil}`, "tokenizer.json");
  const json = JSON.parse(readFileSync(path, "utf8"));
  json.truncation = { direction: evil, max_length: 3, strategy: evil, stride: 0 };
  json.padding = { strategy: evil, direction: evil };
  json.pre_tokenizer = {
    type: "Split",
    pattern: { Regex: `${evil}|\\w+` },
    behavior: "Isolated",
    invert: false,
  };
  mkdirSync(join(home, `notes${evil}`));
  put(home, join(`notes${evil}`, "tokenizer.json"), JSON.stringify(json));
  for (const [name, change] of Object.entries({
    normal: { normalizer: { type: evil } },
    pre: { pre_tokenizer: { type: evil } },
    post: { post_processor: { type: evil } },
    model: { model: { ...json.model, type: evil } },
    dropout: { model: { ...json.model, unk_token: evil, dropout: evil } },
    merges: { model: { ...json.model, merges: [[evil, evil]] } },
    added: { added_tokens: [{ id: 0, content: evil }] },
    pattern: { pre_tokenizer: { type: "Split", pattern: { Regex: `(${evil}` }, behavior: evil } },
  })) {
    put(home, `${name}.json`, JSON.stringify({ ...json, ...change }));
  }
  mkdirSync(join(home, `gpt2${evil}`));
  for (const name of ["vocab.json", "merges.txt"]) {
    writeFileSync(join(home, `gpt2${evil}`, name), readFileSync(join(home, `tok${evil}`, name)));
  }
  put(home, `bad${evil}.tsv`, `#bpe-counts\t${JSON.stringify({ [evil]: evil })}\n1\t${evil}\n`);
  put(home, `bad${evil}.tiktoken`, `${evil} 0\n`);
  put(home, `bad${evil}.plan`, `{"path": ${JSON.stringify(evil)}}\n`);
  put(home, `bad${evil}.ids`, `1 2 ${evil} 3`);
  put(home, `ids${evil}.ids`, "1 2 1 2 3\n1 2\n");
  expect(bpe(["count", "one.txt", "-s", evil, "-o", `c${evil}.counts`, "-q"], { cwd: home }).code).toBe(0);
  const ids = ["ids", "train", `ids${evil}.ids`, "-n", "+2", "-o", `id-tok${evil}`, "-q"];
  expect(bpe(ids, { cwd: home }).code).toBe(0);
}

const tok = `--tokenizer=tok${evil}`;
const commands: string[][] = [
  ["train", `${evil}.txt`, evil, "-n", "270", "-o", `new${evil}`, "-s", evil, "--keep", "1"],
  [
    "train",
    evil,
    `${evil}.jsonl`,
    "-n",
    "262",
    "-o",
    `new${evil}`,
    "--save-counts",
    `s${evil}`,
    "--report",
    `r${evil}`,
  ],
  ["train", `bad${evil}.txt`, "-n", "257", "-o", `new${evil}`, "--cache", `cache${evil}`],
  ["train", `bad${evil}.txt`, "-n", "257", "-o", `new${evil}`, "--cache", `cache${evil}`, "--if-changed"],
  ["train", "--counts", `c${evil}.counts`, `c${evil}.counts`, "-n", "270", "-o", `new${evil}`],
  ["train", "one.txt", "-n", "+2", "-o", `ext${evil}`, "--extend", `tok${evil}`, "-s", `no${evil}`],
  ["ids", "train", `ids${evil}.ids`, "-n", "+2", "-o", `ids-out${evil}`],
  ["ids", "train", `bad${evil}.ids`, "-n", "+2", "-o", `ids-out${evil}`],
  ["train", "one.txt", "-n", "270", "-o", home, "-p", `(${evil}`],
  ["train", "one.txt", "-n", "270", "-o", `new${evil}`, "-p", `${evil}|(?<!b)\\w+`],
  ["train", "one.txt", "-n", "270", "-o", `new${evil}`, "--bos", evil],
  ["train", "one.txt", "-n", "270", "-o", `new${evil}`, "--chat-template", `./${evil}`],
  ["train", "one.txt", "-n", evil, "-o", "x", `--${evil}`, evil],
  ["train", "one.txt", "-n", evil, "-o", "x"],
  ["train", `*${evil}*`, "-n", "262", "-o", `new${evil}`, "--text-field", evil],
  ["count", evil, `${evil}.txt`, "--counts", `bad${evil}.tsv`],
  ["count", evil, `${evil}.json`, `${evil}.txt`, "-o", `n${evil}.tsv`, "--min-count", "2"],
  ["count", "--ranges", `bad${evil}.plan`],
  ["plan", evil, `${evil}.txt`, "-o", `p${evil}`],
  ["plan", evil, "-o", `p${evil}`, tok],
  ["encode", `${evil}.txt`, evil, tok, "-o", `i${evil}.npy`, "--append-token", evil],
  ["encode", `${evil}.txt`, tok, "-o", `i${evil}.npy`, "--append-token", `no${evil}`],
  ["encode", `bad${evil}.txt`, tok, "-o", `i${evil}.npy`],
  ["ids", "encode", `ids${evil}.ids`, `--tokenizer=id-tok${evil}`, "-o", `i${evil}.npy`],
  ["encode", "one.txt", `--tokenizer=bad${evil}.tiktoken`, "-p", evil],
  ["decode", `ids${evil}.ids`, tok, "-o", `d${evil}`],
  ["decode", `bad${evil}.ids`, tok, "-o", `d${evil}`],
  ["decode", `bad${evil}.ids`, `--tokenizer=id-tok${evil}`, "-o", `d${evil}`],
  ["inspect", `tok${evil}`, "--text", `${evil}.txt`, "--report", `r${evil}`],
  ["inspect", `notes${evil}`],
  ["inspect", `gpt2${evil}`, "-s", evil],
  ["inspect", `id-tok${evil}`],
  ...["normal", "pre", "post", "model", "dropout", "merges", "added", "pattern"].map((name) => [
    "inspect",
    `${name}.json`,
  ]),
  ["eval", `tok${evil}`, `${evil}=gpt2${evil}`, "--text", `${evil}.txt`, `n${evil}=bad${evil}.txt`, evil],
  ["eval", `tok${evil}`, `tok${evil}`, "--text", "one.txt"],
  ["diff", `tok${evil}`, `gpt2${evil}`, "--text", `n${evil}=${evil}.txt`],
  ["prune", `tok${evil}`, "--text", `${evil}.txt`, evil, "-n", "260", "-o", `pruned${evil}`],
  ["prune", `tok${evil}`, "--text", evil, "-n", "260", "-o", `tok${evil}`],
  ["completions", evil],
  ["help", evil],
  [evil],
  [`--${evil}`],
];

/** Characters that must not reach a screen. */
const raw = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e]/;
/** Commands whose output is for programs. */
const isData = ([name]: readonly string[]) => ["count", "plan", "encode", "decode"].includes(name!);

test("no name and no content reaches stderr, the log or a summary unescaped, in any command", () => {
  prepare();
  const log = join(home, "the.log");
  for (const command of commands) {
    for (const more of [[], ["--progress", "json"], ["--log-file", log]]) {
      rmSync(log, { force: true });
      for (const name of ["new", "pruned", "ext", "ids-out"]) {
        rmSync(join(home, `${name}${evil}`), { recursive: true, force: true });
      }
      const run = bpe(
        [...command, "-w", "1"]
          .slice(0, ["train", "encode"].includes(command[0]!) ? undefined : -2)
          .concat(more),
        {
          cwd: home,
        },
      );
      const shown =
        run.stderr + (isData(command) ? "" : run.stdout) + (existsSync(log) ? readFileSync(log, "utf8") : "");
      expect([command, raw.exec(shown.replaceAll("\n", ""))]).toEqual([command, null]);
      expect([command, shown.split("\n").filter((line) => /^(\S*Z )?bpe: error: forged/.test(line))]).toEqual(
        [command, []],
      );
      expect([command, run.stderr]).not.toEqual([command, expect.stringContaining("internal error")]);
    }
  }
}, 120_000);
