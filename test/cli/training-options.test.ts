// The options of a training give the same request, whether they are typed, given to the library, or given to Python.
import { expect, test } from "bun:test";
import { readCall } from "../../src/library/library.ts";
import { commands } from "../../src/main/all-commands.ts";
import { parseInvocation } from "../../src/main/arguments.ts";
import { nameInLibrary, type Option, readTyped } from "../../src/options/option.ts";
import { pythonName } from "../../src/options/python-spelling.ts";
import { trainingOptions } from "../../src/options/training-table.ts";

/**
 * The value of an option: the texts as typed, one for each time that the option is typed, or none for a flag; the value
 * in the library, or null if the library lacks the option; and the value in Python, if it differs from that in the
 * library.
 */
type Row = readonly [typed: readonly string[], value: unknown, python?: unknown];
const flag: Row = [[], true];

/** A row for each option, by its name in the table of options. */
const rows: Readonly<Record<keyof typeof trainingOptions, Row>> = {
  vocabSize: [["300,400"], [300, 400]],
  specialTokens: [
    ["<a>", "--b=c\n", "it's"],
    ["<a>", "--b=c\n", "it's"],
  ],
  specialTokensFirst: flag,
  specialTokensFile: [["a.txt", "-b"], null, ["a.txt", "-b"]],
  pattern: [["\\p{L}+|=\n"], "\\p{L}+|=\n"],
  normalize: [["NFKC,lowercase"], ["nfkc", "Lowercase"]],
  compat: [["rustbpe"], "rustbpe"],
  minFrequency: [["1,000"], 1000],
  maxTokenLength: [["16"], 16],
  wholeCharacters: flag,
  seedTokens: [
    [" a", ""],
    [" a", ""],
  ],
  seedTokensFile: [["a=b"], null, "a=b"],
  superwordsFrom: [["1k"], 1024],
  superwordPattern: [["\\d"], "\\d"],
  extend: [["a/b"], "a/b"],
  rename: [["<a>=b=c", "d=e"], { "<a>": "b=c", d: "e" }],
  like: [["gpt2"], "gpt2"],
  wholeTexts: flag,
  specialTokensAsText: flag,
  padTo: [["64"], 64],
  textField: [["body"], "body"],
  include: [
    ["*.txt", "a/**"],
    ["*.txt", "a/**"],
  ],
  inputFormat: [["jsonl"], "jsonl"],
  binary: [["text"], "text"],
  languages: [
    ["en=a", "en=b", "de=c"],
    [
      { name: "en", files: ["a", "b"] },
      { name: "de", files: "c" },
    ],
    { en: ["a", "b"], de: "c" },
  ],
  languagesDev: [["en=a"], [{ name: "en", files: "x", dev: "a" }], { en: "a" }],
  languageRatio: [["1,2.5"], [1, 2.5]],
  languageWindow: [["100:2.5"], { size: 100, alpha: 2.5 }, [100, 2.5]],
  globalMerges: [["50"], 50],
  weights: [["./a:0.5", "./b*:3"], { "./a": 0.5, "./b*": 3 }, { a: 0.5, "b*": 3 }],
  output: [["a dir"], "a dir"],
  formats: [["gpt2,tiktoken"], ["gpt2", "tiktoken"]],
  ledger: flag,
  report: [["a.html"], null, "a.html"],
  noLedger: [[], null],
  workers: [["2"], 2],
  memoryLimit: [["300MB"], 300_000_000, "300MB"],
  cache: [["c"], "c"],
  cacheLimit: [["2KiB"], 2048, "2KiB"],
  ifChanged: flag,
  keep: [["0"], 0],
  counts: [
    ["a*.tsv", "b"],
    ["a*.tsv", "b"],
  ],
  saveCounts: [["a.tsv"], "a.tsv"],
  bos: [[""], ""],
  eos: [["</s>"], "</s>"],
  pad: [["=p"], "=p"],
  unk: [["<unk>"], "<unk>"],
  addBos: flag,
  chatTemplate: [["chatml"], "chatml"],
  modelMaxLength: [["32,768"], 32768],
  tokenizerClass: [["A"], "A"],
  modelCard: flag,
  wait: [[], null, true],
  logFile: [["a.log"], null, "a.log"],
  summary: [["full"], null],
  progress: [["json"], null],
  quiet: [[], null],
  help: [[], null],
};

const train = commands.find(({ name }) => name === "train")!;
const options: [keyof typeof rows, Option][] = Object.entries(trainingOptions) as never;

/** Returns the value that an option gets from a command line. */
function typed(key: keyof typeof rows, args: readonly string[]): unknown {
  const { options } = parseInvocation(train, args);
  return readTyped(trainingOptions, options)[key];
}
const inFull = (key: keyof typeof rows, { name }: Option) =>
  rows[key][0].length === 0 ? [`--${name}`] : rows[key][0].map((text) => `--${name}=${text}`);

test("an option typed long or short, with = or without, has the same value", () => {
  expect(Object.keys(rows)).toEqual(options.map(([key]) => key));
  for (const [key, option] of options) {
    const { name, short, kind } = option;
    const [texts] = rows[key];
    expect([name, texts.length === 0]).toEqual([name, kind.value === undefined]);
    const expected = typed(key, inFull(key, option));
    expect([name, expected]).not.toEqual([name, undefined]);
    const forms =
      texts.length === 0
        ? [...(short === undefined ? [] : [[`-${short}`]])]
        : [
            // After a long name, a value that begins with a dash needs the equals sign.
            texts.flatMap((text) => (/^-/.test(text) ? [`--${name}=${text}`] : [`--${name}`, text])),
            ...(short === undefined
              ? []
              : [texts.map((text) => `-${short}=${text}`), texts.map((text) => `-${short}${text}`)]),
          ];
    for (const args of forms) expect([args, typed(key, args)]).toEqual([args, expected]);
  }
});

test("an option in the library has the same value as typed", () => {
  for (const [key, option] of options) {
    const library = nameInLibrary(key, option);
    const [, value] = rows[key];
    expect([key, value === null]).toEqual([key, library === null]);
    if (library === null) continue;
    const [last, ...outer] = library.split(":")[0]!.split(".").reverse();
    const call = outer.reduce((inner: object, name) => ({ [name]: inner }), { [last!]: value });
    // If this option needs another one, `needed` gives it. That does not change the value of this option.
    const needed = option.needs === undefined ? {} : neededBy(option.needs.other);
    const asked = readCall({ vocabSize: 300, ...needed, ...call }) as Record<string, unknown>;
    expect([key, asked[key]]).toEqual([key, typed(key, inFull(key, option))]);
  }
});

function neededBy(other: string): object {
  const [key, option] = options.find(([, { name }]) => name === other)!;
  return { [nameInLibrary(key, option)!]: rows[key][1] };
}

test("an option in Python has the same value as typed", () => {
  const given = options.flatMap(([key, option]) => {
    const parameter = pythonName(key, option);
    // Leaves out the options that Python's `train` lacks, and two whose arguments it makes by other code.
    if (parameter === null || key === "vocabSize" || key === "output") return [];
    const [, value, python = value] = rows[key];
    return [{ key, parameter, value: python }];
  });
  const script = `import json, sys
from bpe_trainer import _options, _training
kinds = {name: kind for kind, names in _options.PARAMETERS.items() for name in names}
print(json.dumps([
    _training._format_option(name, "--" + _options.OPTIONS.get(name, name.replace("_", "-")), kinds[name], value)
    for name, value in json.load(sys.stdin)
]))`;
  const stdin = Buffer.from(JSON.stringify(given.map(({ parameter, value }) => [parameter, value])));
  const env = { ...process.env, PYTHONPATH: "python", PYTHONDONTWRITEBYTECODE: "1" };
  if (Bun.which("python3") === null) return console.log("skipped: there is no python3");
  const { stdout, stderr, exitCode } = Bun.spawnSync(["python3", "-c", script], { stdin, env });
  expect([stderr.toString(), exitCode]).toEqual(["", 0]);
  const printed: string[][] = JSON.parse(stdout.toString());
  for (const [i, { key }] of given.entries()) {
    const option = trainingOptions[key] as Option;
    expect([key, typed(key, printed[i]!)]).toEqual([key, typed(key, inFull(key, option))]);
  }
});
