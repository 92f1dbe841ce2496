import { describe, expect, test } from "bun:test";
import { parseInvocation, unknownCommand, unknownOption } from "../../src/cli/arguments.ts";
import { commands } from "../../src/cli/command-table.ts";
import { errorOf } from "../thrown.ts";

const commandOf = (name: string) => commands.find((command) => command.name === name)!;
const hint = (command: string, shown: string) => unknownOption(commandOf(command), shown).hint;

describe("an option that is not known gets", () => {
  const cases: [command: string, typed: string, meant: string][] = [
    ["train", "--hlep", "did you mean --help?"],
    ["train", "--vocab-sise", "did you mean --vocab-size?"],
    ["train", "--vocab_size", "did you mean --vocab-size?"],
    ["train", "--vocabSize", "did you mean --vocab-size?"],
    ["train", "--VOCAB-SIZE", "did you mean --vocab-size?"],
    ["train", "--min-freq", "did you mean --min-frequency?"],
    ["train", "--min_freq", "did you mean --min-frequency?"],
    ["train", "--minFreq", "did you mean --min-frequency?"],
    ["train", "--special", "did you mean --special-token or --special-tokens-as-text?"],
    ["encode", "--special", "did you mean --special-token or --special-tokens-as-text?"],
    [
      "train",
      "--superwords",
      "boundless superwords are gone; --superwords-from N learns superwords that tokenizer.json holds, too",
    ],
    ["count", "--keep", "it is an option of bpe train"],
    ["train", "--threads", "did you mean --workers?"],
    ["encode", "--jobs", "did you mean --workers?"],
    ["count", "-j", "did you mean --workers?"],
    ["decode", "--threads", "bpe decode --help lists the options"],
    ["encode", "--json", "did you mean --progress json?"],
    ["train", "--json", "did you mean --progress json?"],
    ["train", "--nonsense-that-is-far-from-all", "bpe train --help lists the options"],
  ];
  for (const [command, typed, meant] of cases) {
    test(`${command} ${typed}: ${meant}`, () => expect(hint(command, typed)).toBe(meant));
  }

  test("the commands that have it, if several do", () => {
    expect(hint("decode", "--memory-limit")).toStartWith("it is an option of bpe train, bpe count");
  });

  test("the more usual of two that are equally near", () => {
    const spec = {
      ...commandOf("inspect"),
      options: ["abcd", "abce"].map((name) => ({
        name,
        topic: "input" as const,
        rare: name === "abcd",
        description: "",
      })),
    };
    expect(unknownOption(spec, "--abcf").hint).toBe("did you mean --abce?");
  });

  test("its second dash, if it is a long one with one", () => {
    const { message, hint } = errorOf(() => parseInvocation(commandOf("train"), ["-help"]));
    expect([message, hint]).toEqual(["unknown option -e", "did you mean --help?"]);
  });

  test("no hint of what many begin with", () => {
    expect(hint("train", "--")).toBe("bpe train --help lists the options");
  });
});

describe("where a command is expected", () => {
  const cases: [typed: string, message: string, hint: string][] = [
    ["trian", 'unknown command "trian"', "did you mean bpe train?"],
    ["enc", 'unknown command "enc"', "did you mean bpe encode?"],
    ["corpus.txt", 'unknown command "corpus.txt"', "bpe help lists the commands"],
    ["", 'unknown command ""', "bpe help lists the commands"],
    ["--hlep", "unknown option --hlep", "did you mean --help?"],
    ["-help", "unknown option -help", "did you mean --help?"],
    ["--verison", "unknown option --verison", "did you mean --version?"],
    ["--ver", "unknown option --ver", "did you mean --version?"],
    ["--h", "unknown option --h", "did you mean --help?"],
    ["-H", "unknown option -H", "did you mean --help?"],
    ["--keep", "the command comes first, found --keep", "e.g. bpe train --keep …"],
    ["-", "the command comes first, found -", "bpe help lists the commands"],
    ["-n300", "the command comes first, found -n300", "e.g. bpe train -n300 …"],
    ["--vocab-size=300", "the command comes first, found --vocab-size", "e.g. bpe train --vocab-size …"],
    ["--range-size", "the command comes first, found --range-size", "e.g. bpe plan --range-size …"],
    [
      "--nonsense-of-mine",
      "the command comes first, found --nonsense-of-mine",
      "bpe help lists the commands",
    ],
  ];
  for (const [typed, message, hint] of cases) {
    test(`"${typed}"`, () => {
      const error = unknownCommand(typed);
      expect([error.message, error.hint, error.exitCode]).toEqual([message, hint, 2]);
    });
  }
});
