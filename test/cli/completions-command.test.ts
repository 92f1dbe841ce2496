import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { commands } from "../../src/main/all-commands.ts";
import { completionScript } from "../../src/main/completions-command.ts";
import { trainingOptions } from "../../src/options/training-table.ts";
import { bpe, put, scratch } from "../binary.ts";
import { openTerminal } from "../pseudo-terminal.ts";

const home = scratch();
const script = put(home, "bpe.bash", completionScript("bash"));
put(home, "corpus.txt", "");
put(home, "my text.txt", "");
mkdirSync(join(home, "corpus"));
mkdirSync(join(home, "my dir"));

/** Returns what bash offers for the last word of a command line; null if bash completes files itself (`-o default`). */
function offered(line: string): string[] | null {
  // For bash, `=` is a separate word.
  const words = line
    .split(" ")
    .flatMap((word) => word.split(/(?<=^--[^=]*)(=)/).filter((part, i) => i === 0 || part !== ""));
  const program = `source "$0"; compopt() { [[ $* == *"+o default"* ]] && echo "no files"; return 0; }
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bpe; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const run = Bun.spawnSync(["bash", "--norc", "-c", program, script, ...words], { cwd: home });
  expect(run.stderr.toString()).toBe("");
  const lines = run.stdout
    .toString()
    .split("\n")
    .filter((text) => text !== "");
  return lines.length === 0 ? null : lines.filter((text) => text !== "no files");
}

describe("bash completes", () => {
  const cases: [line: string, offered: string[] | null][] = [
    ["bpe tra", ["train"]],
    ["bpe help in", ["inspect"]],
    ["bpe help train ni", ["nightly"]],
    ["bpe help decode ni", ["nightly"]],
    ["bpe help inspect ni", []],
    ["bpe train --help sp", ["speed"]],
    ["bpe id", ["ids"]],
    ["bpe ids ", ["train", "encode", "decode", "truncate", "join", "check", "inspect"]],
    ["bpe ids en", ["encode"]],
    ["bpe ids train --compat ", ["huggingface", "rustbpe"]],
    ["bpe ids train --pat", []],
    ["bpe ids encode --dtype=", ["uint16", "uint32"]],
    ["bpe help ids ", ["train", "encode", "decode", "truncate", "join", "check", "inspect"]],
    ["bpe help ids train ni", ["nightly"]],
    ["bpe help ids inspect ni", []],
    ["bpe help train nightly ni", null],
    ["bpe train --voc", ["--vocab-size"]],
    ["bpe count --voc", []],
    ["bpe train --compat ", [...trainingOptions.compat.kind.words!]],
    ["bpe train --compat hu", ["huggingface"]],
    ["bpe train --compat=", [...trainingOptions.compat.kind.words!]],
    ["bpe train --compat=hu", ["huggingface"]],
    ["bpe train -p o2", ["o200k"]],
    ["bpe train --pattern hel", ["help"]],
    [
      "bpe train --format gpt2,",
      trainingOptions.formats.kind.words!.filter((name) => name !== "gpt2").map((name) => `gpt2,${name}`),
    ],
    ["bpe train --format gpt2,h", ["gpt2,huggingface"]],
    ["bpe train -n ", []],
    ["bpe train -o co", ["corpus"]],
    ["bpe train --output=my", ["my dir"]],
    ["bpe train corpus.txt --cache ", ["corpus", "my dir"]],
    ["bpe train co", null],
    ["bpe train --counts co", null],
    ["bpe train --chat-template ch", ["chatml"]],
    ["bpe train --chat-template my", null],
    ["bpe train -- --vo", null],
    ["bpe completions z", ["zsh"]],
    ["bpe inspect co", null],
  ];
  for (const [line, expected] of cases) {
    test(line, () => expect(offered(line)?.sort() ?? null).toEqual(expected?.sort() ?? null));
  }
});

// The bash of macOS, 3.2, has no `compopt`, by which the script says that a word is a path.
test.skipIf(process.platform === "darwin")(
  "bash completes as people type, paths with spaces and values after = too",
  async () => {
    const typed: [keys: string, completed: string][] = [
      ["bpe tra\t", "bpe train "],
      ["bpe train --compat hu\t", "bpe train --compat huggingface "],
      ["bpe train --compat=hu\t", "bpe train --compat=huggingface "],
      ["bpe train -o my\t", "bpe train -o my\\ dir/"],
      ["bpe train my\\ t\t", "bpe train my\\ text.txt "],
      ["bpe train --chat-template my\\ t\t", "bpe train --chat-template my\\ text.txt "],
    ];
    const env = { PS1: "$ ", HOME: home, PATH: process.env.PATH! };
    const session = openTerminal(["bash", "--norc", "--noprofile", "-i"], { cwd: home, env, columns: 200 });
    session.type("source bpe.bash; echo rea''dy\n");
    await session.until("ready");
    for (const [keys, completed] of typed) {
      session.type(keys);
      await session.until(completed);
      session.type("\x15");
    }
    session.kill();
    await session.exited;
  },
);

test("every shell's script has every command, option and word, and equals the command's output", () => {
  for (const shell of ["bash", "zsh", "fish"] as const) {
    const text = completionScript(shell);
    expect(bpe(["completions", shell])).toEqual({ code: 0, stdout: text, stderr: "" });
    for (const { name, options } of commands) {
      expect(text).toContain(name);
      for (const option of options) {
        expect(text).toContain(shell === "fish" ? ` -l ${option.name} ` : `--${option.name}`);
        for (const word of option.kind.words ?? []) expect(text).toContain(word);
      }
    }
  }
});

test("no character of a phrase ends its quotes", () => {
  // In both scripts, a quoted phrase ends on the line on which it begins. So each line has an even number of quotes
  // that are not escaped.
  for (const line of completionScript("fish").split("\n")) {
    expect([line, line.replaceAll(/\\['\\]/g, "").split("'").length % 2]).toEqual([line, 1]);
  }
  for (const line of completionScript("zsh").split("\n")) {
    expect([line, line.replaceAll("'\\''", "").split("'").length % 2]).toEqual([line, 1]);
  }
});

test("another shell is refused with the nearest", () => {
  expect(bpe(["completions", "fisch"])).toEqual({
    code: 2,
    stdout: "",
    stderr:
      'bpe: error: completions: unknown value "fisch"\nhint: did you mean fish? (one of: bash, zsh, fish)\n',
  });
  expect(bpe(["completions"]).stderr).toContain("<shell> is missing");
});
