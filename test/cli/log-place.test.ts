import { expect, test } from "bun:test";
import { linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, environment, put } from "../binary.ts";
import { eachInNewHome } from "../homes.ts";

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

/** All that is there, with its content. */
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

test("a log that is what the run reads or writes is refused, by any name, and nothing is touched", () => {
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
    // Mistakes that are found before anything is looked at, or after.
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
      /^bpe: error: (--log-file ".*" (would be written into|is in --output) |unknown option|".*" is an input, and|".*": no such file)/,
    );
  }
});

/** Runs a command line in a shell, for its descriptors. */
const inShell = (command: string) =>
  Bun.spawnSync(["sh", "-c", command.replaceAll("bpe ", `${binary} `)], { cwd: home, env: environment });

test("nor by a descriptor of it, nor the file that is standard input or standard output", () => {
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

test("standard output takes a log where no data goes there", () => {
  const run = inShell(`bpe ${encode} -o new.npy -q --log-file /dev/stdout | cat`);
  expect(run.stdout.toString()).toContain('"success":true');
});

test("a log beside them is taken: in the directory of a tokenizer, below a corpus where --include leaves it out", () => {
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
