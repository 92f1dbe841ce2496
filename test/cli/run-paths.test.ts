import { expect, test } from "bun:test";
import { linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { commands } from "../../src/main/all-commands.ts";
import { parseInvocation } from "../../src/main/arguments.ts";
import type { CommandSpec } from "../../src/main/command-spec.ts";
import { checkRunPaths } from "../../src/main/run-paths.ts";
import type { PathRead } from "../../src/options/option.ts";
import * as pageHead from "../../src/reports/page-mark.ts";
import { MisplacedOutput } from "../../src/store/written-places.ts";
import { binary, bpe, environment, put } from "../binary.ts";
import { eachInNewHome } from "../homes.ts";
import { errorOf } from "../thrown.ts";

let home: string;
eachInNewHome((made) => {
  home = made;
  put(home, "corpus.txt", "the cat sat on the mat. ".repeat(20));
  mkdirSync(join(home, "texts", "more"), { recursive: true });
  put(home, "texts/more/a.txt", "some text in a directory ".repeat(20));
  for (const args of [
    ["train", "corpus.txt", "-n", "262", "-o", "tok", "--save-counts", "words.counts"],
    ["plan", "corpus.txt", "-o", "plan.jsonl"],
    ["encode", "corpus.txt", "--tokenizer", "tok", "-o", "ids.npy"],
  ]) {
    expect(bpe([...args, "-q"], { cwd: home }).code).toBe(0);
  }
  put(home, "chat.jinja", "{{ messages }}");
  linkSync(join(home, "corpus.txt"), join(home, "hard-link"));
  symlinkSync("corpus.txt", join(home, "link"));
  symlinkSync("texts", join(home, "texts-link"));
  mkdirSync(join(home, "[kept]"));
  linkSync(join(home, "words.counts"), join(home, "[kept]", "a.counts"));
  symlinkSync("[kept]", join(home, "kept-link"));
  symlinkSync("../corpus.txt", join(home, "texts", "linked.txt"));
  symlinkSync("tok", join(home, "tok-link"));
});

/** Returns the content of every file below the directory, by path. */
function everything(directory = home): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(directory, { recursive: true }) as string[]) {
    const path = join(directory, name);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) found[name] = readFileSync(path, "latin1");
  }
  return found;
}

const train = "train corpus.txt -n 262 -o out";
const encode = "encode corpus.txt --tokenizer tok";

test("a log that the run reads or writes is refused, by any name, and nothing is touched", () => {
  const refused: [command: string, log: string][] = [
    ...["corpus.txt", "./corpus.txt", `${home}/corpus.txt`, "tok/../corpus.txt", "hard-link", "link"].map(
      (log): [string, string] => [train, log],
    ),
    ["train link -n 262 -o out", "hard-link"],
    ["train texts -n 262 -o out", "texts/more/a.txt"],
    ["train texts -n 262 -o out", "texts/new.log"],
    ["train texts-link -n 262 -o out", "texts/more/new.log"],
    ["train texts -n 262 -o out", "corpus.txt"],
    ["train texts -n 262 -o out --include *.log", "texts/new.log"],
    ["train texts/**/*.txt -n 262 -o out", "texts/more/a.txt"],
    ["train --counts words.counts -n 262 -o out", "words.counts"],
    ["train --counts *.counts -n 262 -o out", "words.counts"],
    ["train --counts kept-link/*.counts -n 262 -o out", "[kept]/a.counts"],
    ["train texts-link/more/*.txt -n 262 -o out", "texts/more/a.txt"],
    [`${train} --save-counts new.counts`, "new.counts"],
    [`${train} --save-counts new.counts`, "./texts/../new.counts"],
    [`${train} --report page.html`, "page.html"],
    [`${train} --cache kept`, "out/log"],
    [`${train} --chat-template ./chat.jinja`, "chat.jinja"],
    [train, "out/log"],
    [train, "out"],
    ["train corpus.txt -n 262 -o tok", "tok-link/log"],
    [train, "texts/../out/log"],
    ["train corpus.txt -n +2 -o out --extend tok", "tok/vocab.json"],
    ["count corpus.txt -o words.counts", "words.counts"],
    ["count --ranges plan.jsonl", "plan.jsonl"],
    ["count --ranges plan.jsonl", "hard-link"],
    ["plan corpus.txt -o new.jsonl", "new.jsonl"],
    ["plan corpus.txt --tokenizer tok", "tok-link/tokenizer.json"],
    [`${encode} -o new.npy`, "new.npy"],
    [encode, "tok/training.json"],
    ["encode corpus.txt --tokenizer tok/vocab.json", "tok/merges.txt"],
    ["decode ids.npy --tokenizer tok", "ids.npy"],
    ["decode ids.npy --tokenizer tok -o text", "text"],
    ["prune tok --text corpus.txt -n 260 -o out", "corpus.txt"],
    ["prune tok --text corpus.txt -n 260 -o out", "tok/tokenizer.json"],
    ["truncate tok -n 260 -o out", "tok/tokenizer.json"],
    ["convert tok -o out", "tok/tokenizer.json"],
    // The next two commands have another mistake, which may be reported instead.
    ["train corpus.txt -n 262 -o out --vocab-sise 3", "corpus.txt"],
    ["train texts none.txt -n 262 -o out", "texts/more/a.txt"],
    ["eval tok --text corpus.txt", "corpus.txt"],
  ];
  const before = everything();
  for (const [command, log] of refused) {
    const run = bpe([...command.split(" "), `--log-file=${log}`], { cwd: home });
    expect([command, log, run.code === 0, run.stderr]).toEqual([command, log, false, expect.any(String)]);
    expect([command, log, everything()]).toEqual([command, log, before]);
    expect(run.stderr).toMatch(
      /^bpe: error: (--log-file ".*" (would be written into|is (in|also) --output|is (in|also) --cache) |unknown option|".*": no such file)/,
    );
  }
});

/** Runs a command line in a shell, which can redirect descriptors. */
const inShell = (command: string) =>
  Bun.spawnSync(["sh", "-c", command.replaceAll("bpe ", `${binary} `)], { cwd: home, env: environment });

test("a log is refused that is a descriptor of a file that the run reads, or the file at its stdin or stdout", () => {
  const before = everything();
  for (const command of [
    `bpe ${train} --log-file /dev/fd/7 7>>corpus.txt`,
    `bpe ${train} --log-file /proc/self/fd/7 7>>hard-link`,
    "bpe train - -n 262 -o out --log-file corpus.txt < corpus.txt",
    "bpe count --log-file hard-link < corpus.txt",
    "bpe count - --ranges x --nonsense --log-file hard-link < corpus.txt",
    `bpe ${encode} --log-file words.counts >> words.counts`,
    `bpe ${encode} --log-file /dev/stdout >> words.counts`,
  ]) {
    const run = inShell(command);
    expect([command, run.exitCode === 0]).toEqual([command, false]);
    expect([command, everything()]).toEqual([command, before]);
  }
  const piped = inShell(`bpe ${encode} --log-file /dev/stdout | cat`);
  expect(piped.stdout.toString()).toBe("");
  expect(piped.stderr.toString()).toContain("would be written into standard output");
});

test("standard output accepts a log if no data goes there", () => {
  const run = inShell(`bpe ${encode} -o new.npy -q --log-file /dev/stdout | cat`);
  expect(run.stdout.toString()).toContain('"success":true');
});

test("a log next to inputs and outputs is accepted: in the directory of a tokenizer, below a corpus where --include leaves it out", () => {
  for (const [command, log] of [
    ["train texts --include *.txt -n 262 -o out", "texts/bpe.log"],
    ["train texts -n 262 -o out", "texts/.bpe.log"],
    ["train *.txt -n 262 -o out", ".bpe.txt"],
    [`${encode} -o new.npy`, "tok/bpe.log"],
    ["decode ids.npy --tokenizer tok -o text", "corpus.txt.log"],
    [train, "/dev/null"],
  ] as const) {
    for (let n = 0; n < 2; n++) {
      const run = bpe([...command.split(" "), "-q", `--log-file=${log}`], { cwd: home });
      expect([command, log, run.code]).toEqual([command, log, 0]);
    }
    if (log !== "/dev/null") expect(readFileSync(join(home, log), "utf8")).toContain('"success":true');
  }
});

test("the table of options says of every path whether it is read or written, and of every command what its files are", () => {
  for (const { name, options, files, fileWords, reads } of commands) {
    expect([name, reads === undefined]).toEqual([name, files === "" || fileWords !== undefined]);
    for (const {
      name: option,
      kind: { value = "" },
      reads,
      writes,
    } of options) {
      const isPath = /FILE|DIR|PATH|TOKENIZER/.test(value);
      expect([name, option, [reads, writes].filter((use) => use !== undefined).length]).toEqual([
        name,
        option,
        isPath ? 1 : 0,
      ]);
    }
  }
});

/**
 * Returns the arguments of a command that are paths to read. For each: what is typed before the path (`typed`), and how
 * the path is read.
 */
const readers = ({ options, reads }: CommandSpec): [typed: string[], reads: PathRead][] => [
  ...(reads === undefined ? [] : [[[], reads] as [string[], PathRead]]),
  ...options.flatMap(({ name, reads, kind: { value = "" } }): [string[], PathRead][] =>
    reads === undefined ? [] : [[[`--${name}`, ...(value.includes("NAME=") ? ["n="] : [])], reads]],
  ),
];

/**
 * Names of an input, and names of outputs that would replace that input, a file of it, or a directory that contains it.
 * All pairs of a row are tried.
 */
const sameFile: Record<PathRead, [read: string, written: string]> = {
  corpus: ["corpus.txt link hard-link texts/../corpus.txt", "corpus.txt link hard-link ./corpus.txt"],
  files: ["plan.jsonl ./plan.jsonl plan-link", "plan.jsonl plan-link plan-hard-link tok/../plan.jsonl"],
  tokenizer: [
    "tok tok-link tok/vocab.json",
    "tok/vocab.json tok-link/merges.txt hard-links/merges.txt tok/training.json",
  ],
};
const ofText: [string, string] = [
  "texts/more/a.txt texts-link/more/a.txt",
  "texts texts/more/ texts-link ./texts",
];
const sameDirectory: Record<PathRead, [read: string, written: string]> = {
  corpus: ofText,
  files: ofText,
  tokenizer: ["tok tok-link tok/vocab.json", "tok ./tok/ texts/../tok"],
};

test("no output of any command may be, or contain, what any of its paths reads, by any name", () => {
  symlinkSync("plan.jsonl", join(home, "plan-link"));
  linkSync(join(home, "plan.jsonl"), join(home, "plan-hard-link"));
  mkdirSync(join(home, "hard-links"));
  linkSync(join(home, "tok", "merges.txt"), join(home, "hard-links", "merges.txt"));
  const pathsOf = (names: string) => names.split(" ").map((name) => `${relative(".", home)}/${name}`);
  let checkedCount = 0;
  for (const command of commands) {
    for (const [typed, reads] of readers(command)) {
      for (const { name, writes } of command.options) {
        if (writes === undefined) continue;
        const isDirectory = writes === "directory" || writes === "cache";
        const [read, written] = (isDirectory ? sameDirectory : sameFile)[reads].map(pathsOf);
        for (const [from, into] of read!.flatMap((from) => written!.map((into) => [from, into] as const))) {
          const value = typed.length < 2 ? [...typed, from] : [typed[0]!, `${typed[1]}${from}`];
          const args = [...value, `--${name}=${into}`];
          const error = errorOf(() => checkRunPaths(command, parseInvocation(command, args)));
          expect([args, error instanceof MisplacedOutput, error.exitCode]).toEqual([args, true, 2]);
          checkedCount++;
        }
      }
    }
  }
  expect(checkedCount).toBeGreaterThan(500);
});

test("no output may be a file that a directory, a glob or a plan leads to, and the run touches nothing", () => {
  linkSync(join(home, "texts/more/a.txt"), join(home, "elsewhere"));
  linkSync(join(home, "ids.npy"), join(home, "same.npy"));
  linkSync(put(home, "texts/page.txt", `${pageHead.mark} of an earlier run`), join(home, "page"));
  const before = everything();
  for (const command of [
    "count texts -o elsewhere",
    "count texts --save-counts elsewhere",
    "count texts/**/*.txt -o elsewhere",
    "count --ranges plan.jsonl -o hard-link",
    "count --counts *.counts -o words.counts",
    "count --counts *.counts --save-counts [kept]/a.counts",
    "count texts --cache texts/more",
    "train texts -n 262 -o out --report page",
    "train --language a=texts --language b=corpus.txt -n 262 -o out --save-counts elsewhere",
    "train tok -n 262 -o tok",
    "train . -n 262 -o tok",
    "plan texts -o elsewhere",
    "eval tok --text a=texts --report page",
    "inspect tok --text texts --report page",
    "prune tok --text tok -n 261 -o tok",
    "decode ids.npy --tokenizer tok -o same.npy",
    "decode ids.npy --tokenizer tok -o tok/tokenizer.json",
    "ids train ids.npy -n +2 -o tok --log-file ids.npy",
    "ids encode *.npy --tokenizer tok -o ids.npy",
  ]) {
    const run = bpe(command.split(" "), { cwd: home });
    expect([command, run.code, run.stderr]).toEqual([
      command,
      2,
      expect.stringMatching(/, which this run (reads|writes)\n|would be written into/),
    ]);
    expect([command, everything()]).toEqual([command, before]);
  }
});

test("standard output is not appended to the text of a file that is read; an empty file there does no harm", () => {
  const before = everything();
  for (const command of [
    "bpe count corpus.txt >> hard-link",
    "bpe count < corpus.txt >> corpus.txt",
    "bpe decode ids.npy --tokenizer tok >> ids.npy",
    "bpe tokens texts --tokenizer tok >> texts/more/a.txt",
    "bpe count -o corpus.txt < corpus.txt",
    "bpe inspect tok >> tok/tokenizer.json",
  ]) {
    const run = inShell(command);
    expect([command, run.exitCode, run.stderr.toString()]).toEqual([
      command,
      2,
      expect.stringMatching(/would (replace|be written into) /),
    ]);
    expect([command, everything()]).toEqual([command, before]);
  }
  expect(inShell("bpe tokens texts --tokenizer tok > texts/sizes.txt").exitCode).toBe(0);
});

test("a directory that is also mounted elsewhere is the same directory", () => {
  mkdirSync(join(home, "mounted"));
  const mount = Bun.spawnSync(["mount", "--bind", "tok", "mounted"], { cwd: home });
  // Only root may mount, and some containers forbid it.
  if (mount.exitCode !== 0) return;
  try {
    for (const read of [
      "--extend=mounted",
      "--extend=mounted/vocab.json",
      "--like=mounted/tokenizer.json",
      "mounted/merges.txt",
    ]) {
      const run = bpe(["train", "corpus.txt", "-n", "+2", read, "-o", "tok"], { cwd: home });
      expect([read, run.code, run.stderr]).toEqual([
        read,
        2,
        expect.stringMatching(/, which this run (reads|writes)\n/),
      ]);
    }
  } finally {
    Bun.spawnSync(["umount", "mounted"], { cwd: home });
  }
});

test("a name of no file, and a new output next to an input, are accepted", () => {
  for (const command of [
    `${train} --chat-template chatml --save-counts chatml -s <|im_start|> -s <|im_end|>`,
    "count corpus.txt -o texts/new.counts",
    "train corpus.txt -n 262 -o tok -w1",
    "train corpus.txt -n 262 -o cache/tok --cache cache -w1",
    "decode ids.npy --tokenizer tok -o tok/text",
  ]) {
    const run = bpe([...command.split(" "), "-q"], { cwd: home });
    expect([command, run.code, run.stderr]).toEqual([command, 0, ""]);
  }
});
