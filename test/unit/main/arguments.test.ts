import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { commands } from "../../../src/main/all-commands.ts";
import { parseInvocation } from "../../../src/main/arguments.ts";
import type { Invocation } from "../../../src/terminal/invocation.ts";

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
