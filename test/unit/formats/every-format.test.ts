import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as formats from "../../../src/formats/formats.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { bpe, put, scratch } from "../../binary.ts";
import { madeText } from "../tokenizer/made-merges.ts";
import { specialTokens } from "../tokenizer/made-tokenizer.ts";

// A tokenizer in each format that training writes, except images, is read, extended, pruned, and converted to the other
// formats. `undone` has what a format cannot do, with the message.

const undone: Record<string, { read?: string; extend?: string } | undefined> = {
  tekken: { extend: "cannot be extended: a tekken.json fixes the size of its vocabulary" },
  gguf: { read: "contains no tokenizer" },
};

/** The formats that a training can write, except `image`. */
const writable = formats.all.filter(({ written }) => written !== undefined);

const trainings: readonly { args: readonly string[]; unheld: Record<string, string> }[] = [
  {
    args: ["-p", "gpt2", "--pad-to", "16", ...specialTokens.flatMap((token) => ["-s", token])],
    unheld: {
      tekken:
        "in tekken.json special tokens have the first ids, but in this tokenizer they do not; use tokenizer.json instead, or train with --special-tokens-first",
    },
  },
  { args: ["-p", "cl100k", "--compat", "rustbpe"], unheld: {} },
  // tekken.json never recognizes special tokens in text. So this training has two that do not occur in `probe`, the
  // text that is encoded below.
  { args: ["-p", "tekken", "--special-tokens-first", "-s", "<s>", "-s", "</s>"], unheld: {} },
  {
    args: ["-p", "starcoder", "--compat", "huggingface", "-s", specialTokens[0]!, "-s", "[é漢]"],
    unheld: {
      tiktoken: "tiktoken takes one regular expression, and this pattern is a sequence of several",
      tekken: "tekken.json stores one regular expression, but this pattern has 2",
    },
  },
];

const home = scratch();
const content = `${madeText(1, 3000)}${specialTokens.join("low")}${madeText(2, 500)}`;
const corpus = put(home, "corpus.txt", content);
const more = put(home, "more.txt", "zebras quagga zebra 'quagga' ".repeat(50));
const seeds = put(home, "seeds.txt", "zebra\n");
const probe = `${content.slice(0, 5000)}a${specialTokens.join("b")}<|reserved_special_token_3|>  \n\n 漢字é zebra 123`;
let outputs = 0;

/** Runs a command. Returns its output directory and the files in it, except training.json and *.tsv. */
function made(...args: string[]) {
  const output = join(home, String(outputs++));
  expect(bpe([...args, "-o", output, "-q"])).toMatchObject({ code: 0, stderr: "" });
  const names = readdirSync(output).filter((name) => !/^(training\.json|.*\.tsv)$/.test(name));
  const textOf = (name: string) => readFileSync(join(output, name), "latin1");
  return { output, files: Object.fromEntries(names.sort().map((name) => [name, textOf(name)])) };
}

function expectRefusal(what: string, ...args: string[]): void {
  const output = join(home, "refused");
  const { code, stderr } = bpe([...args, "-o", output, "-q"]);
  expect([stderr, code !== 0, existsSync(output)]).toEqual([expect.stringContaining(what), true, false]);
}

async function idsAt(path: string): Promise<number[]> {
  const tokenizer = await Tokenizer.load(path);
  const ids = [...tokenizer.encode(probe)];
  expect(tokenizer.decode(ids)).toBe(probe);
  return ids;
}

for (const { args, unheld } of trainings) {
  const train = (name: string) => ["train", corpus, "-n", "400", "-w", "1", ...args, "--format", name];
  const written = new Map<string, ReturnType<typeof made>>();
  const firstIds: Record<string, number[]> = {};

  /** Checks that after a step, tokenizers of all formats give the same ids. */
  async function expectIds(step: string, name: string, path: string): Promise<void> {
    const ids = await idsAt(path);
    firstIds[step] ??= ids;
    expect([step, name, ids]).toEqual([step, name, firstIds[step]]);
  }

  describe(args.slice(0, 4).join(" "), () => {
    for (const { name } of writable) {
      test(`${name} is written, or refused by name`, () => {
        if (unheld[name] === undefined) written.set(name, made(...train(name)));
        else expectRefusal(`--format ${name}: ${unheld[name]}`, ...train(name));
      });
    }

    for (const { name, names } of writable.filter(({ name }) => unheld[name] === undefined)) {
      const { read, extend } = undone[name] ?? {};

      test(`${name} is read, extended, renamed and pruned like the others, or refused`, async () => {
        const { output, files } = written.get(name)!;
        if (read !== undefined) return expectRefusal(read, "convert", output);
        await expectIds("read", name, output);
        const from = ["train", "--extend", output, "-w", "1"];
        const steps: Record<string, string[]> = {
          pruned: ["prune", output, "--text", corpus, "-n", "370"],
          extended: [...from, more, "-n", "+4"],
          ...(args.includes(specialTokens[0]!) && {
            renamed: [...from, "--rename", `${specialTokens[0]}=<|"fin\\|>`, "--seed-tokens", seeds],
          }),
        };
        for (const [step, argsOfStep] of Object.entries(steps)) {
          if (extend !== undefined && step !== "pruned") expectRefusal(extend, ...argsOfStep);
          else {
            const after = made(...argsOfStep);
            expect(Object.keys(after.files)).toEqual(Object.keys(files));
            await expectIds(step, name, after.output);
            expect(firstIds[step]).not.toEqual(firstIds.read!);
            if (step !== "extended") continue;
            const partsOf = (file: string) => new Set(file.split(/[\n,{}]+/));
            for (const [file, before] of Object.entries(files))
              expect([...partsOf(before).difference(partsOf(after.files[file]!))]).toEqual([]);
          }
        }
      });
      if (read !== undefined) continue;

      test(`${name} is converted to the files that the training writes in each other format, or refused`, () => {
        for (const { name: other } of writable) {
          const convert = ["convert", written.get(name)!.output, "--format", other];
          if (unheld[other] !== undefined) expectRefusal(`--format ${other}: ${unheld[other]}`, ...convert);
          else {
            const [{ files }, expected] = [made(...convert), written.get(other)!.files];
            expect(Object.keys(files)).toEqual(Object.keys(expected));
            // After a conversion to the same format, only the files of the format are compared.
            for (const file of name === other ? names.flat() : Object.keys(expected))
              expect([other, file, files[file] === expected[file]]).toEqual([other, file, true]);
          }
        }
      });
    }
  });
}
