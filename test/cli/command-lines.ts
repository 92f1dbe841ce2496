import { commands } from "../../src/main/all-commands.ts";
import type { CommandSpec } from "../../src/main/command-spec.ts";
import type { Option } from "../../src/options/option.ts";
import { bpe, put } from "../binary.ts";

// Command lines for tests that try every argument of every command. A new command needs a row in `shortest`. A new
// option that takes a path may need one in `valid`.

/**
 * The shortest command line of each command: its options as `--name=value`, then `--`, then its files. `--workers=1` is
 * added if the command has that option.
 */
const shortest: Readonly<Record<string, string>> = {
  train: "--vocab-size=262 --output=new -- corpus.txt",
  count: "--output=new -- corpus.txt",
  plan: "--output=new -- corpus.txt",
  encode: "--tokenizer=tok --output=new.npy -- corpus.txt",
  tokens: "--tokenizer=tok -- corpus.txt",
  decode: "--tokenizer=tok --output=new -- ids.npy",
  inspect: "-- tok",
  explain: "-- tok text",
  eval: "--text=corpus.txt -- tok",
  diff: "-- tok smaller",
  doctor: "-- tok",
  verify: "-- tok",
  prune: "--text=corpus.txt --vocab-size=260 --output=new -- tok",
  truncate: "--vocab-size=260 --output=new -- tok",
  convert: "--output=new -- tok",
  image: "--output=new -- tok",
  "ids train": "--vocab-size=+2 --output=new -- ids.npy",
  "ids encode": "--tokenizer=id-tok --output=new.npy -- ids.npy",
  "ids decode": "--tokenizer=id-tok --output=new.npy -- id-tokens.npy",
  "ids truncate": "--from=tok --to=smaller --output=new.npy -- ids.npy",
  "ids join": "--plan=tok.plan --output=new.npy -- part.json",
  "ids check": "--tokenizer=tok -- ids.npy",
  "ids inspect": "-- id-tok",
  playground: "--output=new",
  completions: "-- bash",
};

/** Other command lines, for options that cannot be added to the shortest one: by command and option. */
const shortestWith: Readonly<Record<string, string>> = {
  "diff special-tokens": "-- tok smaller/vocab.json",
  "train extend": "--vocab-size=+2 --output=new -- corpus.txt",
  "train language-dev": "--language=en=corpus.txt --vocab-size=262 --output=new --",
};

/** Paths for options that a shortest command line lacks: by option, or by command and option. */
const valid: Readonly<Record<string, string>> = {
  counts: "words.counts",
  extend: "tok",
  language: "corpus.txt",
  "language-dev": "corpus.txt",
  like: "tok",
  model: "config.json",
  ranges: "corpus.plan",
  "encode ranges": "tok.plan",
  "seed-tokens": "seeds.txt",
  "special-tokens": "specials.txt",
  "chat-template": "template.jinja",
  terms: "terms.txt",
  text: "corpus.txt",
  tokenizer: "tok",
  cache: "new-cache",
  "log-file": "new-log",
  pieces: "new-pieces",
  report: "new-report",
  "save-counts": "new-counts",
};

export function fillWithInputs(home: string): void {
  put(home, "corpus.txt", "the cat sat on the mat. ".repeat(20));
  put(home, "config.json", '{"model_type": "gpt2", "n_embd": 4, "n_head": 2, "n_layer": 2}');
  put(home, "template.jinja", "{{ messages }}");
  put(home, "specials.txt", "<|x|>\n");
  put(home, "seeds.txt", "cat\n");
  put(home, "terms.txt", "cat\n");
  for (const line of [
    "train corpus.txt -n 262 -s <|x|> -o tok",
    "truncate tok -n 260 -o smaller",
    "count corpus.txt -o words.counts",
    "plan corpus.txt -o corpus.plan",
    "plan corpus.txt --tokenizer tok -o tok.plan",
    "encode corpus.txt --tokenizer tok -o ids.npy",
    "encode --ranges tok.plan --tokenizer tok --ids-format part -o part",
    "ids train ids.npy -n +3 -o id-tok",
    "ids encode ids.npy --tokenizer id-tok -o id-tokens.npy",
  ]) {
    const { code, stderr } = bpe([...line.split(" "), "-q"], { cwd: home });
    if (code !== 0) throw new Error(`bpe ${line}: ${stderr}`);
  }
}

export type PathArgument = {
  /** E.g. `train --extend`, or `diff <b>`. */
  readonly name: string;
  readonly command: CommandSpec;
  /** What is read from the path, or written to it. */
  readonly use: NonNullable<Option["reads"] | Option["writes"]>;
  readonly isWritten: boolean;
  /** A path with which the command succeeds. */
  readonly valid: string;
  /** Returns the command line in which the argument is this path. */
  readonly lineWith: (path: string) => string[];
};

const linesOf = ({ name, options }: CommandSpec, option = "") => {
  const line = shortestWith[`${name} ${option}`] ?? shortest[name];
  if (line === undefined) throw new Error(`shortest has no command line for bpe ${name}`);
  const [typed, files = ""] = line.split(/(?:^| )--(?: |$)/);
  const workers = options.some(({ name }) => name === "workers") ? ["--workers=1"] : [];
  const words = (text: string) => text.split(" ").filter((word) => word !== "");
  // Special tokens can be given only for a tokenizer whose files have none.
  const inLine = (word: string) =>
    option === "special-tokens" ? word.replace(/(?<=^|=)tok$/, "$&/vocab.json") : word;
  return {
    options: [...words(typed!).map(inLine), ...workers, "--quiet"],
    files: words(files).map(inLine),
  };
};

export function shortestLine(command: CommandSpec): string[] {
  const { options, files } = linesOf(command);
  return [...command.name.split(" "), ...options, "--", ...files];
}

function fileArguments(command: CommandSpec): PathArgument[] {
  const { reads, files: shown } = command;
  if (reads === undefined) return [];
  const { options, files } = linesOf(command);
  const places = shown.split(" ").filter((place) => place !== "<text>");
  return places.map((place, i) => ({
    name: `${command.name} ${place.replace("...", "")}`,
    ...{ command, use: reads, isWritten: false, valid: files[i]! },
    lineWith: (path) => [...command.name.split(" "), ...options, "--", ...files.with(i, path)],
  }));
}

function optionArgument(command: CommandSpec, option: Option): PathArgument {
  const { name, reads, writes, kind } = option;
  const { options, files } = linesOf(command, name);
  const start = `--${name}=${kind.value?.startsWith("NAME=") ? "en=" : ""}`;
  const given = options.find((word) => word.startsWith(start))?.slice(start.length);
  const path = given ?? valid[`${command.name} ${name}`] ?? valid[name];
  if (path === undefined) throw new Error(`valid has no path for --${name} of bpe ${command.name}`);
  const others = options.filter((word) => !word.startsWith(start));
  const isInstead = command.filesFrom?.includes(name);
  return {
    name: `${command.name} --${name}`,
    ...{ command, use: (reads ?? writes)!, isWritten: writes !== undefined, valid: path },
    lineWith: (path) => [
      ...[...command.name.split(" "), ...others, `${start}${path}`, "--"],
      ...(isInstead ? [] : files),
    ],
  };
}

/** All arguments of all commands that take a path, according to the program's tables. */
export const pathArguments: readonly PathArgument[] = commands.flatMap((command) => [
  ...fileArguments(command),
  ...command.options
    .filter(({ reads, writes }) => (reads ?? writes) !== undefined)
    .map((option) => optionArgument(command, option)),
]);
