// `npm run suite shells`: tests completions in zsh and fish, and the manual page in mandoc.
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { manPage } from "../../scripts/release/man-page.ts";
import { secondWordsOf } from "../../src/main/all-commands.ts";
import { completionScript } from "../../src/main/completions-command.ts";
import { put, scratch } from "../binary.ts";
import { openTerminal } from "../pseudo-terminal.ts";

const root = join(import.meta.dir, "../../dist/shells/root");
const libraries = join(root, "usr/lib/x86_64-linux-gnu");
const home = scratch();
put(home, "corpus.txt", "");
put(home, "words.counts", "");
mkdirSync(join(home, "corpus"));
mkdirSync(join(home, "my dir"));
const env = { HOME: home, PATH: process.env.PATH!, LD_LIBRARY_PATH: libraries, LANG: "C.UTF-8" };

test("zsh completes as people type", async () => {
  const typed: [keys: string, completed: string][] = [
    ["bpe tra\t", "bpe train "],
    ["bpe --ver\t", "bpe --version "],
    ["bpe help ins\t", "bpe help inspect "],
    ["bpe help train ni\t", "bpe help train nightly "],
    ["bpe train --help sp\t", "bpe train --help speed "],
    ["bpe id\t", "bpe ids "],
    ["bpe ids tra\t", "bpe ids train "],
    ["bpe ids train --compat hu\t", "bpe ids train --compat huggingface "],
    ["bpe ids decode --tok\t", "bpe ids decode --tokenizer="],
    ["bpe help ids enc\t", "bpe help ids encode "],
    ["bpe help ids train ni\t", "bpe help ids train nightly "],
    ["bpe train --min\t", "bpe train --min-frequency="],
    ["bpe train --compat hu\t", "bpe train --compat huggingface "],
    ["bpe train --compat=hu\t", "bpe train --compat=huggingface "],
    ["bpe train --format gpt2,h\t", "bpe train --format gpt2,huggingface"],
    ["bpe train -p o2\t", "bpe train -p o200k "],
    ["bpe train -o co\t", "bpe train -o corpus/"],
    ["bpe train -o my\t", "bpe train -o my\\ dir/"],
    ["bpe train --chat-template ch\t", "bpe train --chat-template chatml "],
    ["bpe train --counts wo\t", "bpe train --counts words.counts "],
    ["bpe train --weight=a:1 --wei\t", "bpe train --weight=a:1 --weight="],
    ["bpe train -qn3 --work\t", "bpe train -qn3 --workers="],
    ["bpe completions f\t", "bpe completions fish "],
    ["bpe inspect cor\t", "bpe inspect corpus"],
    ["bpe count -\t", "leave out words that occur fewer than N times"],
  ];
  put(home, "bpe.zsh", completionScript("zsh"));
  const functions = join(root, "usr/share/zsh/functions");
  const session = openTerminal([join(root, "bin/zsh"), "-f", "-i"], { cwd: home, env, columns: 200 });
  // zsh finds its line editor only after the first lines, so each line waits for the previous one.
  for (const [i, line] of [
    `module_path=(${libraries}/zsh/5.9)`,
    `fpath=(${functions}/**/*(/) ${functions})`,
    "autoload -Uz compinit; compinit -D -u; bindkey -e; LISTMAX=1000",
    "source bpe.zsh",
  ].entries()) {
    session.type(`${line}; echo rea''dy${i}\n`);
    await session.until(`ready${i}`);
  }
  for (const [keys, completed] of typed) {
    // The shell regards keys that arrive together with the tab as a paste, so the tab is sent separately.
    session.type(keys.slice(0, -1));
    await Bun.sleep(100);
    session.type("\t");
    await session.until(completed);
    session.type("\x15");
    await Bun.sleep(50);
  }
  session.kill();
  await session.exited;
});

test("fish offers the valid words", () => {
  put(home, "bpe.fish", completionScript("fish"));
  const functions = join(root, "usr/share/fish/functions");
  const offered = (line: string) => {
    const program = `set fish_function_path ${functions}; set fish_complete_path; source bpe.fish; complete -C ${JSON.stringify(line)}`;
    const run = Bun.spawnSync([join(root, "usr/bin/fish"), "--no-config", "-c", program], { cwd: home, env });
    expect(run.stderr.toString()).toBe("");
    return run.stdout
      .toString()
      .trim()
      .split("\n")
      .map((found) => found.split("\t")[0]!);
  };
  const cases: [line: string, offered: string[]][] = [
    ["bpe tra", ["train"]],
    ["bpe --v", ["--version"]],
    ["bpe help ins", ["inspect"]],
    ["bpe help train n", ["nightly"]],
    ["bpe train x --help n", ["nightly"]],
    ["bpe id", ["ids"]],
    ["bpe ids ", secondWordsOf("ids")],
    ["bpe ids train --vocab", ["--vocab-size"]],
    ["bpe ids train --pat", [""]],
    ["bpe ids train x --help n", ["nightly"]],
    ["bpe help ids ", secondWordsOf("ids")],
    ["bpe help ids train n", ["nightly"]],
    ["bpe help ids inspect ", ["all", "general"]],
    ["bpe train --mi", ["--min-frequency"]],
    ["bpe train --compat hu", ["huggingface"]],
    ["bpe train --compat=hu", ["--compat=huggingface"]],
    ["bpe train --format gpt2,h", ["gpt2,huggingface"]],
    ["bpe train -p o2", ["o200k"]],
    ["bpe train -o co", ["corpus/"]],
    ["bpe train --counts wo", ["words.counts"]],
    ["bpe train cor", ["corpus.txt", "corpus/"]],
    ["bpe train -n ", [""]],
    ["bpe completions ", ["bash", "fish", "zsh"]],
  ];
  for (const [line, expected] of cases) expect([line, offered(line).sort()]).toEqual([line, expected.sort()]);
});

test("mandoc accepts the manual page", () => {
  const page = put(home, "bpe.1", manPage({ version: "1.2.3", seconds: 1_700_000_000 }));
  const { stdout } = Bun.spawnSync([join(root, "usr/bin/mandoc"), "-T", "lint", page]);
  const told = stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "" && !line.includes("line longer than 80 bytes"));
  expect(told).toEqual([]);
});
