// Tries tokenizers in every format, whole and damaged, as every argument that takes a tokenizer.
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as formats from "../../src/formats/formats.ts";
import { bpe, put, scratch } from "../binary.ts";
import { turns } from "../rounds.ts";
import { cases, modelOf } from "../unit/formats/made-sentencepiece.ts";
import { fillWithInputs, pathArguments } from "./command-lines.ts";

/**
 * What commands say of formats that they cannot use, by argument. "all others" is for the arguments that are not named.
 */
type Refusals = Readonly<Record<string, string>>;

const others = "all others";
const otherIds = "(id 258 at position 0 is not|the id at position 0 is 258, but must)";
/**
 * What commands say, by format. The ids in the command lines come from `tok`, so other tokenizers may lack some of
 * them.
 */
const refusals: Readonly<Record<string, Refusals>> = {
  sentencepiece: {
    "train --extend": 'PATH/tokenizer.model" cannot be extended: it is not a byte-level tokenizer',
    "train --like": 'PATH/tokenizer.model" cannot be used with --like: it is not a byte-level tokenizer',
    "decode --tokenizer": otherIds,
    "ids check --tokenizer": otherIds,
    "prune <tokenizer>": 'PATH" has 40 tokens, so a size of 260 would remove none',
    "truncate <tokenizer>": 'PATH" has 40 tokens, so a size of 260 would remove none',
    "convert <tokenizer>": "--format huggingface: HF puts a space after each added token",
    "ids truncate --from": 'the ids of "PATH/tokenizer.model" cannot be truncated',
    "ids truncate --to": '"PATH/tokenizer.model" is not a truncated form of',
  },
  tekken: {
    "train --extend": 'PATH/tekken.json" cannot be extended: a tekken.json fixes the size of its vocabulary',
    // The special tokens of tekken.json have the first ids, so its ids differ from those of the other tokenizer.
    "ids truncate --from": '"smaller/tokenizer.json" is not a truncated form of "PATH/tekken.json',
    "ids truncate --to": '"PATH/tekken.json" is not a truncated form of',
  },
  gguf: { [others]: 'PATH" is a GGUF model' },
  image: {
    "train --extend": 'PATH" cannot be extended: it is an image of a tokenizer',
    "prune <tokenizer>": 'no tokens can be removed from "PATH": it is an image of a tokenizer',
    "truncate <tokenizer>": 'no tokens can be removed from "PATH": it is an image of a tokenizer',
  },
};
/**
 * Arguments that take something other than a tokenizer of text, such as merges over ids, with what commands say of a
 * tokenizer in any format.
 */
const ofOtherKinds: Refusals = {
  "verify <dir>":
    'PATH(/training.json" is the record of a converted|" has no training.json|" is not a directory)',
  "ids encode --tokenizer": 'PATH(/merges.txt)?": (no such file|it contains no merges over ids)',
  "ids decode --tokenizer": 'PATH(/merges.txt)?": (no such file|it contains no merges over ids)',
  "ids inspect <path>": 'PATH(/merges.txt)?": (no such file|it contains no merges over ids)',
};

const home = scratch();
const run = (...args: string[]) => bpe(args, { cwd: home });
const tokenizerArguments = pathArguments.filter(({ use }) => use === "tokenizer");
const first = ["-n", "262", "-s", "<|x|>", "--special-tokens-first"];
const names = formats.all.map(({ name }) => name);

/**
 * Makes a directory with a tokenizer in the format. Returns the path by which to name the tokenizer, and the files to
 * damage.
 */
function make(format: string): { path: string; files: string[] } {
  const done = (...args: string[]) => expect([args, run(...args, "-q")]).toMatchObject([args, { code: 0 }]);
  mkdirSync(join(home, format));
  if (format === "sentencepiece") put(home, "sentencepiece/tokenizer.model", modelOf(cases[0]!));
  else if (format === "image") done("image", "tok", "-o", "image/tokenizer.image");
  else done("convert", format === "tekken" ? "first" : "tok", "--format", format, "-o", format);
  const known = formats.all.find(({ name }) => name === format)!.names.flat();
  const made = readdirSync(join(home, format));
  const files = known.length === 0 ? [`tokenizer.${format}`] : made.filter((name) => known.includes(name));
  return { path: known.length === 0 ? `${format}/${files[0]}` : format, files };
}

/** Tries the path as each tokenizer argument. Returns the command lines that end otherwise than expected. */
function complaintsOf(path: string, expected: (argument: string) => string | undefined): string[] {
  return tokenizerArguments.flatMap(({ name, lineWith }) => {
    const message = ofOtherKinds[name] ?? expected(name);
    const line = lineWith(path);
    const { code, stderr } = run(...line);
    const made = readdirSync(home).filter((name) => name.startsWith("new"));
    for (const name of made) rmSync(join(home, name), { recursive: true });
    const pattern = new RegExp(`^bpe: error: .*${message?.replaceAll("PATH", path)}`);
    const isRight =
      message === undefined ? code === 0 : code === 1 && pattern.test(stderr) && made.length === 0;
    return isRight ? [] : [`${line.join(" ")}: exit code ${code}, wrote ${made}: ${stderr}`];
  });
}

test("the rows name formats and arguments that exist", () => {
  fillWithInputs(home);
  expect(run("train", "corpus.txt", ...first, "-o", "first", "-q").code).toBe(0);
  const known = new Set([others, ...tokenizerArguments.map(({ name }) => name)]);
  const named = [...Object.values(refusals), ofOtherKinds].flatMap((row) => Object.keys(row));
  expect(named.filter((name) => !known.has(name))).toEqual([]);
  expect(Object.keys(refusals).filter((name) => !names.includes(name))).toEqual([]);
});

for (const [turn, format] of names.entries()) {
  test(`${format} works as every argument, or is refused by name`, () => {
    const { path, files } = make(format);
    const row = refusals[format] ?? {};
    expect(complaintsOf(path, (argument) => row[argument] ?? row[others])).toEqual([]);
    for (const [i, file] of files.entries()) {
      const place = `${format}/${file}`;
      const bytes = readFileSync(join(home, place));
      for (const length of turns([bytes.length / 2, 0], turn + i)) {
        put(home, place, bytes.subarray(0, length));
        expect(complaintsOf(path, () => `"${place}"`)).toEqual([]);
      }
      put(home, place, bytes);
    }
  });
}
