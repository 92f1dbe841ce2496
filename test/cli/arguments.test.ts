import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Invocation, parseInvocation } from "../../src/cli/arguments.ts";
import { commands } from "../../src/cli/command-table.ts";
import { errorOf } from "../thrown.ts";

const train = commands.find((command) => command.name === "train")!;
const parse = (...typed: string[]): Invocation => parseInvocation(train, typed);
const value = (name: string, ...typed: string[]) => parse(...typed).options.get(name);

describe("values are text exactly as typed", () => {
  test("a leading zero stays", () => expect(value("special-token", "-s", "007")).toEqual(["007"]));
  test("an exponent is not a number", () => expect(value("special-token", "-s", "1e3")).toEqual(["1e3"]));
  test("a value may begin with dashes", () =>
    expect(value("special-token", "-s=--sep--")).toEqual(["--sep--"]));
  test("a directory may be called 2026", () => expect(value("output", "-o", "2026")).toEqual(["2026"]));
  test("a short option takes what follows it", () => expect(value("vocab-size", "-n300")).toEqual(["300"]));
  test("an empty value stays empty", () => expect(value("special-token", "-s", "")).toEqual([""]));
  test("an empty value behind = stays empty", () =>
    expect(value("special-token", "--special-token=")).toEqual([""]));
  test("only the first = separates", () => expect(value("special-token", "-s==a=b")).toEqual(["=a=b"]));
  test("a value may be true, false, null or NaN", () => {
    expect(value("special-token", "-s", "true", "-s", "false", "-s", "null", "-s", "NaN")).toEqual([
      "true",
      "false",
      "null",
      "NaN",
    ]);
  });
  test("a value may hold a newline", () =>
    expect(value("special-token", "--special-token=a\nb")).toEqual(["a\nb"]));
  test("a dotted option value stays one text", () =>
    expect(value("output", "--output=a.b.c")).toEqual(["a.b.c"]));
  test("any text comes through as it is", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (texts) => {
        const typed = texts.map((text) => `-s=${text}`);
        expect(value("special-token", ...typed) ?? []).toEqual(texts);
      }),
    );
  });
});

describe("files", () => {
  test("a lone dash stands where it was typed", () => {
    expect(parse("a", "-", "b", "-n", "300", "c").files).toEqual(["a", "-", "b", "c"]);
  });
  test("behind -- everything is a file", () =>
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
  test("a flag with a dash in its name takes no file for its value", () => {
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
  test("a repeatable option keeps its order", () => {
    expect(value("special-token", "-s", "b", "--special-token", "a", "-sc")).toEqual(["b", "a", "c"]);
  });
  test("arguments behind an option of many values are more of them, up to the next option", () => {
    const spec = commands.find(({ name }) => name === "eval")!;
    const { options, files } = parseInvocation(spec, [
      "t",
      "--text",
      "a",
      "b",
      "--json",
      "u",
      "--text",
      "-",
      "--",
      "v",
    ]);
    expect(options.get("text")).toEqual(["a", "b", "-"]);
    expect(files).toEqual(["t", "u", "v"]);
    expect(parseInvocation(spec, ["--text=a", "t"]).files).toEqual(["t"]);
  });
  test("a single-valued option given twice is an error that names it as typed", () => {
    expect(errorOf(() => parse("-n", "1", "--vocab-size", "2")).message).toBe("--vocab-size is given twice");
  });
  test("an unknown option is named as typed, with the nearest", () => {
    const error = errorOf(() => parse("--vocab-sise", "300"));
    expect([error.message, error.hint, error.exitCode]).toEqual([
      "unknown option --vocab-sise",
      "did you mean --vocab-size?",
      2,
    ]);
  });
  test("an unknown option is reported before a missing value", () => {
    expect(errorOf(() => parse("-n", "--bogus")).message).toBe("unknown option --bogus");
  });
  test("a missing value is an error", () => {
    expect(errorOf(() => parse("corpus", "-n")).message).toBe("-n needs a value (N)");
    expect(errorOf(() => parse("-o", "-n", "300")).message).toBe("-o needs a value (DIR)");
  });
  test("a flag takes no value", () => {
    expect(errorOf(() => parse("--quiet=yes")).message).toBe("--quiet takes no value");
  });
  test("negation is not an option", () => {
    expect(errorOf(() => parse("--no-quiet")).message).toBe("unknown option --no-quiet");
  });
});
