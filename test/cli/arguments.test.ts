import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { commands } from "../../src/main/all-commands.ts";
import { parseInvocation } from "../../src/main/arguments.ts";
import { unknownCommand, unknownOption } from "../../src/main/mistakes.ts";
import {
  flag,
  oneOf,
  sizeBytes,
  sizes as sizesKind,
  splitSizes,
  wholeNumber,
} from "../../src/options/kinds.ts";
import type { Invocation } from "../../src/terminal/invocation.ts";
import { rowsOf } from "../rows.ts";
import { errorOf } from "../thrown.ts";

const train = commands.find((command) => command.name === "train")!;
const parse = (...typed: string[]): Invocation => parseInvocation(train, typed);
const value = (name: string, ...typed: string[]) => parse(...typed).options.get(name);

describe("values are text exactly as typed", () => {
  const cases: [what: string, typed: string[], name: string, values: string[]][] = [
    ["a leading zero stays", ["-s", "007"], "special-token", ["007"]],
    ["an exponent is not a number", ["-s", "1e3"], "special-token", ["1e3"]],
    ["a value may begin with dashes", ["-s=--sep--"], "special-token", ["--sep--"]],
    ["a directory may be called 2026", ["-o", "2026"], "output", ["2026"]],
    ["a short option takes what follows it", ["-n300"], "vocab-size", ["300"]],
    ["an empty value stays empty", ["-s", ""], "special-token", [""]],
    ["an empty value after = stays empty", ["--special-token="], "special-token", [""]],
    ["only the first = separates", ["-s==a=b"], "special-token", ["=a=b"]],
    ["a value may be true or null", ["-s", "true", "-s", "null"], "special-token", ["true", "null"]],
    ["a value may be false or NaN", ["-s", "false", "-s", "NaN"], "special-token", ["false", "NaN"]],
    ["a value may hold a newline", ["--special-token=a\nb"], "special-token", ["a\nb"]],
    ["a dotted option value stays one text", ["--output=a.b.c"], "output", ["a.b.c"]],
    [
      "a repeatable option keeps its order",
      ["-s", "b", "--special-token", "a", "-sc"],
      "special-token",
      ["b", "a", "c"],
    ],
  ];
  test.each(cases)("%s", (_, typed, name, values) => expect(value(name, ...typed)).toEqual(values));
  test("any text is passed through verbatim", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (texts) => {
        const typed = texts.map((text) => `-s=${text}`);
        expect(value("special-token", ...typed) ?? []).toEqual(texts);
      }),
    );
  });
});

describe("files", () => {
  test("a lone dash keeps its position", () => {
    expect(parse("a", "-", "b", "-n", "300", "c").files).toEqual(["a", "-", "b", "c"]);
  });
  test("after -- everything is a file", () =>
    expect(parse("--", "-n", "--help").files).toEqual(["-n", "--help"]));
  test("a file may be called 007, 1e3 or no-thing", () => {
    expect(parse("007", "1e3", "no-thing").files).toEqual(["007", "1e3", "no-thing"]);
  });
});

describe("options", () => {
  test("flags may be joined", () => {
    const { options } = parse("-qn300", "corpus");
    expect(options.has("quiet")).toBe(true);
    expect(options.get("vocab-size")).toEqual(["300"]);
  });
  test("a flag with a dash in its name takes no value", () => {
    const encode = commands.find((command) => command.name === "encode")!;
    for (const typed of [
      ["--special-tokens-as-text", "corpus"],
      ["corpus", "--special-tokens-as-text"],
    ]) {
      const { files, options } = parseInvocation(encode, typed);
      expect([files, options.has("special-tokens-as-text")]).toEqual([["corpus"], true]);
    }
  });
  test("short and long names give the same options, and flags no text", () => {
    const { files, options } = parse("-n", "300", "-q", "-");
    expect(files).toEqual(["-"]);
    expect([...options]).toEqual([
      ["vocab-size", ["300"]],
      ["quiet", []],
    ]);
  });
  test("arguments after an option of many values are more of them, up to the next option", () => {
    const spec = commands.find(({ name }) => name === "eval")!;
    const typed = "t --text a b --json u --text - -- v".split(" ");
    const { options, files } = parseInvocation(spec, typed);
    expect(options.get("text")).toEqual(["a", "b", "-"]);
    expect(files).toEqual(["t", "u", "v"]);
    expect(parseInvocation(spec, ["--text=a", "t"]).files).toEqual(["t"]);
  });
  const wrong: [what: string, typed: string[], message: string][] = [
    ["given twice, it is named as typed", ["-n", "1", "--vocab-size", "2"], "--vocab-size is given twice"],
    ["an unknown one comes before a missing value", ["-n", "--bogus"], "unknown option --bogus"],
    ["a missing value is an error", ["corpus", "-n"], "-n needs a value (N)"],
    ["another option is no value", ["-o", "-n", "300"], "-o needs a value (DIR)"],
    ["a flag takes no value", ["--quiet=yes"], "--quiet takes no value"],
    ["negation is not an option", ["--no-quiet"], "unknown option --no-quiet"],
  ];
  test.each(wrong)("%s", (_, typed, message) => expect(() => parse(...typed)).toThrow(new Error(message)));
});

test("whole numbers are digits; k multiplies them by 1,024, and m by 1,024 squared", () => {
  const numbers = rowsOf(`
    00300 | 300
    32k | 32768
    1K | 1024
    1m | 1048576
    0k | 0
    32,000 | 32000
    32_000 | 32000
    1,048,576 | 1048576
    3_2000 | 32000
    1,000k | 1024000
  `);
  for (const [text, value] of numbers) expect(wholeNumber("-n", text!, 0)).toBe(Number(value));
  for (const text of ["9".repeat(30), "9007199254740991k", "8589934592m"]) {
    expect(() => wholeNumber("-n", text, 0)).toThrow(`-n: ${text} is too large`);
  }
  expect(wholeNumber("-n", "8589934591m", 0)).toBe(8589934591 * 1048576);
  const wrong = "1e3,-5,3.5,0x10, 7,k,1.5k,32kk,1g,32 k,1kb,32__0,_3,3_,".split(",");
  for (const text of [...wrong, "32,00", "3200,000", ",000"]) {
    expect(errorOf(() => wholeNumber("--workers", text, 1)).message).toBe(
      `--workers: "${text}" is not a whole number`,
    );
  }
  expect(errorOf(() => wholeNumber("-w", "0", 1)).message).toBe("-w: 0 is too small, it must be at least 1");
});

test("a comma is in a number or between sizes: groups of three digits that cannot all be sizes are one number", () => {
  const one = ["32,000", "50,257", "128,256", "262,144", "1,000,256", "+8,000", "32000", "32_000"];
  for (const text of one) expect(splitSizes(text)).toEqual([text]);
  const several = "16k,32k 300,400 262,266,270 32,000,64,000 132,000,164,000 +1k,+2k".split(" ");
  for (const text of several) expect(splitSizes(text)).toEqual(text.split(","));
  expect(sizesKind.read(["+8,000"], "--vocab-size")).toEqual([{ isMore: true, count: 8000 }]);
});

test("a word that is not in its list is refused with the nearest one", () => {
  expect(oneOf("--compat", "cs336", ["cs336", "rustbpe"])).toBe("cs336");
  expect(errorOf(() => oneOf("--compat", "rustbp", ["cs336", "rustbpe"])).hint).toStartWith(
    "did you mean rustbpe?",
  );
});

test("sizes are read with decimal and binary units, in upper and lower case, with fractions", () => {
  const sizes = rowsOf(`
    1048576 | 1048576
    0 | 0
    300MB | 300e6
    300mb | 300e6
    1.5GB | 1.5e9
    2GiB | 2147483648
    64KB | 64e3
    64Ki | 65536
    64,000 | 64e3
    1_000.5KB | 1000500
    0.5 MiB | 524288
    1TB | 1e12
    12b | 12
    0.3kb | 300
  `);
  for (const [text, value] of sizes) expect(sizeBytes("--size", text!, 0)).toBe(Number(value));
});

test("an invalid, too small or too large size is a usage error that shows it", () => {
  for (const text of ["", "MB", "-1", "1,5GB", "1e9", "3XB", "10iB", "1..5k", "12 apples"]) {
    expect(() => sizeBytes("--size", text, 0)).toThrow(`--size: "${text}" is not a size`);
  }
  // As a number, 64k is 65,536.
  for (const [text, hint] of Object.entries({
    "64k": "64KB is 64,000 bytes, 64KiB 65,536",
    "1.5 G": "1.5GB is 1,500,000,000 bytes, 1.5GiB 1,610,612,736",
    "2m": "2MB is 2,000,000 bytes, 2MiB 2,097,152",
  })) {
    const error = errorOf(() => sizeBytes("--size", text, 0));
    expect([error.message, error.hint, error.exitCode]).toEqual([
      `--size: "${text}" can mean two sizes`,
      hint,
      2,
    ]);
  }
  // Without a unit, a number is bytes.
  for (const text of ["1", "10", "999"]) {
    const error = errorOf(() => sizeBytes("--size", text, 0));
    expect([error.message, error.hint]).toEqual([
      `--size: ${text} is ${text} bytes`,
      `did you mean ${text}GB or ${text}MB?`,
    ]);
  }
  expect(["0", "10B", "1000"].map((text) => sizeBytes("--size", text, 0))).toEqual([0, 10, 1000]);
  expect(() => sizeBytes("--size", "9999999PB", 0)).toThrow("--size: 9999999PB is too large");
  expect(() => sizeBytes("--size", "1000", 1001)).toThrow(
    "--size: 1000 is too small, it must be at least 1001 bytes",
  );
});

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
    expect(() => parse("-help")).toThrow("unknown option -e");
    expect(unknownOption(train, "-e", "-help").hint).toBe("did you mean --help?");
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
    - | the command must come before - | bpe help lists the commands
    -n300 | the command must come before -n300 | e.g. bpe train -n300 …
    --vocab-size=300 | the command must come before --vocab-size | e.g. bpe train --vocab-size …
    --range-size | the command must come before --range-size | e.g. bpe plan --range-size …
    --nonsense-of-mine | the command must come before --nonsense-of-mine | bpe help lists the commands
  `);
  for (const [typed, message, hint] of cases) {
    test(`"${typed}"`, () => {
      const error = unknownCommand(typed!);
      expect([error.message, error.hint, error.exitCode]).toEqual([message!, hint!, 2]);
    });
  }
});
