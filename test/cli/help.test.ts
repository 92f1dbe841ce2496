import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { commands } from "../../src/main/all-commands.ts";
import { checkComplete, parseInvocation } from "../../src/main/arguments.ts";
import type { CommandSpec } from "../../src/main/command-spec.ts";
import {
  commandHelp,
  helpText,
  optionHelp,
  topicExamples,
  topicHelp,
  topicsOf,
  wrapCommand,
} from "../../src/main/help.ts";
import type { Option } from "../../src/options/option.ts";
import { patterns } from "../../src/pattern/named-patterns.ts";
import * as messages from "../../src/runtime/message.ts";
import { colourStyles, plainStyles } from "../../src/terminal/styling.ts";
import { binary, bpe, environment, put, scratch } from "../binary.ts";
import { onTerminal } from "../pseudo-terminal.ts";
import { errorOf } from "../thrown.ts";

const page = (columns: number, styles = plainStyles) => ({ columns, styles });
const textsOf = ({ details, default: standard }: Option) =>
  [details, standard].map((text) => text && messages.spell(text));

describe("the page of an option", () => {
  const train = commands[0]!;
  const like = train.options.find(({ name }) => name === "like")!;

  test("is not requested by -undefined, although many options have no short name", () => {
    expect(errorOf(() => helpText(train, "-undefined")).message).toBe("unknown option -undefined");
  });

  test("is requested by its name, with dashes or without, after help and --help", () => {
    const text = optionHelp(train, like, page(80));
    expect(text).toContain("\n  --like TOKENIZER\n      Take everything but the merges from this tokenizer.");
    expect(text).toEndWith(
      "\nExample\n  Take everything but the merges from this tokenizer:\n    bpe train --like qwen3 corpus.txt -n 32k -s '<|endoftext|>' -o tokenizer\n",
    );
    for (const args of [
      ["help", "train", "--like"],
      ["help", "train", "like"],
      ["train", "--help", "like"],
      ["train", "--help=like"],
      ["train", "corpus.txt", "--help", "--like"],
    ])
      expect(bpe(args)).toEqual({ code: 0, stdout: text, stderr: "" });
    expect(bpe(["help", "train", "-n"]).stdout).toContain("\n  -n, --vocab-size N\n");
    // `output` is a topic and an option: the page of the topic is shown. An option with dashes selects its page only as
    // the last argument; here another follows, so the command's own page is shown.
    expect(bpe(["train", "--help", "output"]).stdout).toBe(topicHelp(train, "output", page(80)));
    expect(bpe(["train", "--help", "--like", "x"]).stdout).toBe(commandHelp(train, page(80)));
    expect(bpe(["help", "train", "--liek"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("unknown option --liek\nhint: did you mean --like?"),
    });
    expect(bpe(["help", "train", "liek"]).stderr).toContain("did you mean like?");
  });

  test("has all facts of the table", () => {
    for (const command of commands) {
      for (const option of command.options) {
        const text = optionHelp(command, option, page(120)).replaceAll(/\s+/g, " ");
        for (const said of [...textsOf(option), ...(option.kind.words ?? [])])
          if (said !== undefined) expect(text).toContain(said);
      }
    }
  });
});

describe("the page of a topic", () => {
  test("has every option of it, with all facts of the table", () => {
    for (const command of commands) {
      for (const topic of topicsOf(command)) {
        const text = topicHelp(command, topic, page(120)).replaceAll(/\s+/g, " ");
        for (const option of command.options.filter((one) => one.topic === topic)) {
          expect(text).toContain(`--${option.name}`);
          for (const said of [...textsOf(option), ...(option.kind.words ?? [])]) {
            if (said !== undefined) expect(text).toContain(said);
          }
          if (option.kind.repeatable) expect(text).toContain("May be given several times.");
        }
        if (topic === "input") expect(text).toContain(command.filesDetails ?? "");
      }
    }
  });

  test("has an example with an option of it", () => {
    for (const command of commands) {
      for (const topic of topicsOf(command)) {
        const found = topicExamples(command, topic);
        expect([command.name, topic, found.length > 0]).toEqual([command.name, topic, true]);
        const own = command.options.filter((option) => option.topic === topic);
        const isOf = ({ command: line }: { command: string }) =>
          own.some(({ name, short }) => ` ${line} `.match(` (--${name}|-${short}) `) !== null);
        if (topic !== "input") expect(found.filter((example) => !isOf(example))).toEqual([]);
        const { what, command: line } = found[0]!;
        expect(topicHelp(command, topic, page(1000))).toContain(`  ${what}:\n    ${line}\n`);
      }
    }
  });

  test("is requested after --help, -h and help, in any position", () => {
    const { stdout } = bpe(["help", "train", "nightly"]);
    expect(stdout).toBe(topicHelp(commands[0]!, "nightly", page(80)));
    for (const args of [
      ["--help", "nightly"],
      ["-h", "nightly"],
      ["--help=nightly"],
      ["x", "-n", "3", "--help", "nightly", "--bogus"],
    ]) {
      expect(bpe(["train", ...args])).toEqual({ code: 0, stdout, stderr: "" });
    }
  });

  test("a word after --help that is not a topic is a file; after help it is an error", () => {
    expect(bpe(["train", "--help", "corpus.txt"]).stdout).toBe(commandHelp(commands[0]!, page(80)));
    for (const args of [
      ["help", "train", "nightyl"],
      ["train", "--help=nightyl"],
    ]) {
      const { code, stderr } = bpe(args);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/^bpe: error: unknown topic "nightyl"\nhint: did you mean nightly\?/),
      ]);
    }
    for (const [args, word] of [
      [["help", "docs", "a", "b"], "a"],
      [["help", "docs/train.md", "b"], "b"],
      [["help", "train", "nightly", "c"], "c"],
      [["version", "x"], "x"],
    ] as const) {
      expect(bpe([...args])).toEqual({
        code: 2,
        stdout: "",
        stderr: expect.stringContaining(`bpe: error: bpe ${args[0]}: "${word}" is one word too many\nhint: `),
      });
    }
    const inspect = commands.find(({ name }) => name === "inspect")!;
    expect(errorOf(() => topicHelp(inspect, "model", page(80))).hint).toContain(
      "bpe help inspect has: input",
    );
  });
});

describe("-p help", () => {
  test("has names and purposes; after it, a name has its expressions", () => {
    const { stdout } = bpe(["train", "-p", "help"]);
    expect(stdout).toStartWith("  gpt2          GPT-2 ");
    expect(stdout).not.toContain("\\p{L}");
    expect(stdout.match(/^ {2}\S+/gm)!.map((name) => name.trim())).toEqual(Object.keys(patterns));
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    const one = bpe(["count", "-p", "help", "gpt-4", "llama3"]).stdout;
    for (const name of ["cl100k", "llama3"] as const) expect(one).toMatch(new RegExp(`^  ${name}  \\S`, "m"));
    expect(one).toContain(`\n    ${patterns.cl100k.sources[0]}\n`);
    expect(bpe(["train", "-p", "help", "lama3"])).toEqual({
      code: 2,
      stdout: "",
      stderr:
        'bpe: error: unknown pattern "lama3"\nhint: did you mean llama3? `bpe train -p help` lists the names\n',
    });
  });
});

describe("on a terminal", () => {
  test("a page of the manual is laid out; text for pasting has no frame", async () => {
    const shown = Bun.stripANSI(await onTerminal([binary, "help", "docs/train.md"], { columns: 70 }));
    expect(shown).toStartWith("Train a tokenizer\n═════════════════\n");
    expect(shown).toContain("\n    head -n 120 LICENSE > corpus/first.txt\n");
    expect(shown).not.toMatch(/^(┌─|│ |└─)[^─]*$(?<!│)/m);
    const lines = shown.split("\n").filter((line) => !line.startsWith("    "));
    expect(Math.max(...lines.map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(70);
    const plain = await onTerminal([binary, "help", "docs/train.md"], { env: { NO_COLOR: "1" } });
    expect(plain).not.toContain("\x1b");
    expect(plain).toContain("\n    head -n 120 LICENSE > corpus/first.txt\n");
  });

  test("help is as wide as it, and has colours", async () => {
    const shown = await onTerminal([binary, "train", "--help"], { columns: 47 });
    expect(shown).toBe(commandHelp(commands[0]!, page(47, colourStyles)));
    const wide = await onTerminal([binary, "help", "train", "speed"], { columns: 300 });
    expect(wide).toBe(topicHelp(commands[0]!, "speed", page(120, colourStyles)));
  });

  test("errors and hints have colours", async () => {
    expect(await onTerminal([binary, "trian"])).toBe(
      'bpe: \x1b[1;31merror:\x1b[0m unknown command "trian"\n\x1b[36mhint:\x1b[0m did you mean bpe train?\n',
    );
  });

  test("the HTML page is not printed on the terminal", async () => {
    expect(Bun.stripANSI(await onTerminal([binary, "playground"]))).toBe(
      "bpe: error: the playground is a page for a browser, so it is not written to the terminal\nhint: write it to a file: bpe playground -o playground.html\n",
    );
  });

  test("nothing has colours with NO_COLOR or TERM=dumb", async () => {
    for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
      expect(await onTerminal([binary, "trian"], { env })).not.toContain("\x1b");
      expect(await onTerminal([binary, "train", "--help"], { env })).toBe(
        commandHelp(commands[0]!, page(80)),
      );
    }
    expect(await onTerminal([binary, "trian"], { env: { NO_COLOR: "" } })).toContain("\x1b");
  });
});

describe("examples", () => {
  const ownExamples = (spec: CommandSpec) => [
    ...new Set([...spec.examples, ...topicsOf(spec).flatMap((topic) => topicExamples(spec, topic))]),
  ];
  const lines = commands.flatMap((spec) => ownExamples(spec).map((example) => ({ spec, ...example })));

  test("are wrapped so that a shell reads the command again", () => {
    for (const { command } of lines) {
      for (const columns of [40, 80, 120]) {
        const words = (text: string) =>
          Bun.spawnSync(["bash", "-c", `printf '%s\\n' ${text}`]).stdout.toString();
        // Quotes the shell's operators, so that the shell reads them as words.
        const quoted = (text: string) => text.replaceAll(/[|>&]+/g, "'$&'").replaceAll(/'('\S+?')'/g, "$1");
        const wrapped = wrapCommand(command, columns).join("\n");
        expect(words(quoted(wrapped))).toBe(words(quoted(command)));
      }
    }
  });

  test("keep an option and its value on a line if they fit", () => {
    expect(wrapCommand("bpe train a.txt -q -s '<a b>' --output tokenizer - | head", 24)).toEqual([
      "    bpe train a.txt -q \\",
      "      -s '<a b>' \\",
      "      --output \\",
      "      tokenizer - | \\",
      "      head",
    ]);
    expect(wrapCommand("bpe train --pattern='a b c' -q", 24)).toEqual([
      "    bpe train \\",
      "      --pattern='a b c' \\",
      "      -q",
    ]);
    for (const { command } of lines) {
      expect(wrapCommand(command, 80).join("\n")).not.toMatch(/ --?[a-z-]+ \\\n +[^- ]/);
    }
  });

  test("have all that their commands need", () => {
    for (const { spec, command } of lines) {
      const parts = command.split(/ (?:&&|\|) /);
      const own = parts.find((part) => part.startsWith(`bpe ${spec.name} `))!;
      if (own !== parts[0] && spec.readsPipe) continue;
      const words = [...own.split(" > ")[0]!.matchAll(/'([^']*)'|(\S+)/g)];
      const typed = words.map(([, quoted, bare]) => quoted ?? bare!);
      expect(() =>
        checkComplete(spec, parseInvocation(spec, typed.slice(1 + spec.name.split(" ").length))),
      ).not.toThrow();
    }
  });

  test("run verbatim, one after the other", () => {
    const home = scratch();
    const text = Array.from({ length: 400 }, (_, i) => `the cat ${i} sat on the mat\n`).join("");
    put(home, "corpus.txt", `${text}<|endoftext|>${text}`);
    for (const directory of ["data", "corpus", "german", ".zfunc", ".config/fish/completions"]) {
      mkdirSync(join(home, directory), { recursive: true });
    }
    mkdirSync(join(home, ".local/share/bash-completion/completions"), { recursive: true });
    const records = zstdCompressSync(`${JSON.stringify({ text })}\n`.repeat(3));
    put(join(home, "data"), "part-1.jsonl.zst", records);
    put(join(home, "corpus"), "new.txt", text);
    put(join(home, "german"), "1.txt", text);
    put(home, "english.txt", text);
    put(home, "notes.txt", "1 2 1 2 1 2 3 1 2 3\n");
    expect(bpe(["train", "corpus.txt", "-n", "300", "-o", "gpt2", "-q"], { cwd: home }).code).toBe(0);
    const env = { ...environment, HOME: home, PATH: `${join(binary, "..")}:${process.env.PATH}` };
    for (const { command } of lines) {
      const run = Bun.spawnSync(["bash", "-o", "pipefail", "-c", command], {
        cwd: home,
        env,
        stdin: "ignore",
      });
      expect([command, run.exitCode, run.stderr.toString()]).toEqual([
        command,
        0,
        expect.not.stringContaining("error"),
      ]);
    }
  });
});

test("the text that samples of pages read is in the program, and the pages say so", () => {
  const read = (page: string) => bpe(["help", page]).stdout;
  expect(read("docs/LICENSE")).toBe(readFileSync("LICENSE", "utf8"));
  const said = "The samples read LICENSE: `bpe help docs/LICENSE > LICENSE` writes it.";
  const pages = readdirSync("docs").filter((name) => name.endsWith(".md"));
  const reading = pages.filter((name) =>
    [...readFileSync(`docs/${name}`, "utf8").matchAll(/^```(?:sh|python) run\n(.*?)^```/gms)].some(
      ([, script]) => script!.includes("LICENSE"),
    ),
  );
  expect(reading.length).toBeGreaterThan(10);
  for (const name of pages) {
    const shown = read(`docs/${name}`);
    expect([name, shown.includes(said)]).toEqual([name, reading.includes(name)]);
    if (reading.includes(name)) expect(shown.split("\n")[2]).toBe(said);
  }
});
