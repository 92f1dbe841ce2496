import { describe, expect, test } from "bun:test";
import { commands } from "../../../src/main/all-commands.ts";
import { parseInvocation } from "../../../src/main/arguments.ts";
import { unknownCommand, unknownOption } from "../../../src/main/mistakes.ts";
import { flag } from "../../../src/options/kinds.ts";
import { rowsOf } from "../../rows.ts";

const commandOf = (name: string) => commands.find((command) => command.name === name)!;
const hint = (command: string, shown: string) => unknownOption(commandOf(command), shown).hint;

describe("the hint for an unknown option names", () => {
  const cases = rowsOf(`
    train | --hlep | did you mean --help?
    train | --vocab-sise | did you mean --vocab-size?
    train | --vocab_size | did you mean --vocab-size?
    train | --vocabSize | did you mean --vocab-size?
    train | --VOCAB-SIZE | did you mean --vocab-size?
    train | --min-freq | did you mean --min-frequency?
    encode | --special | did you mean --special-token or --special-tokens or --special-tokens-as-text?
    train | --superwords | did you mean --superwords-from?
    count | --keep | it is an option of bpe train, bpe ids train
    train | --threads | did you mean --workers?
    count | -j | did you mean --workers?
    train | --pad-token | did you mean --pad?
    encode | --format | did you mean --ids-format or --input-format?
    decode | --threads | bpe decode --help lists the options
    encode | --json | did you mean --progress json?
    train | --nonsense-that-is-far-from-all | bpe train --help lists the options
  `);
  for (const [command, typed, meant] of cases) {
    test(`${command} ${typed}: ${meant}`, () => expect(hint(command!, typed!)).toBe(meant!));
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
        kind: flag,
        rare: name === "abcd",
        description: "",
      })),
    };
    expect(unknownOption(spec, "--abcf").hint).toBe("did you mean --abce?");
  });

  test("the second dash of a long option typed with one", () => {
    expect(() => parseInvocation(commandOf("train"), ["-help"])).toThrow("unknown option -e");
    expect(unknownOption(commandOf("train"), "-e", "-help").hint).toBe("did you mean --help?");
  });

  test("nothing if many options begin like it", () => {
    expect(hint("train", "--")).toBe("bpe train --help lists the options");
  });
});

describe("where a command is expected", () => {
  const cases = rowsOf(`
    trian | unknown command "trian" | did you mean bpe train?
    enc | unknown command "enc" | did you mean bpe encode?
    corpus.txt | unknown command "corpus.txt" | bpe help lists the commands
    constructor | unknown command "constructor" | bpe help lists the commands
    extend | unknown command "extend" | bpe train --extend TOKENIZER adds tokens
    --hlep | unknown option --hlep | did you mean --help?
    -help | unknown option -help | did you mean --help?
    --ver | unknown option --ver | did you mean --version?
    -H | unknown option -H | did you mean --help?
    --keep | the command must come before --keep | e.g. bpe train --keep …
    - | unknown command "-" | bpe help lists the commands
    -n300 | the command must come before -n300 | e.g. bpe train -n300 …
    --vocab-size=300 | the command must come before --vocab-size | e.g. bpe train --vocab-size …
    --range-size | the command must come before --range-size | e.g. bpe plan --range-size …
    --nonsense-of-mine | unknown option --nonsense-of-mine | give a command first; bpe help lists the commands
    --train | unknown option --train | did you mean bpe train?
  `);
  for (const [typed, message, hint] of cases) {
    test(`"${typed}"`, () => {
      const error = unknownCommand(typed!);
      expect([error.message, error.hint, error.exitCode]).toEqual([message!, hint!, 2]);
    });
  }
});
