import { describe, expect, test } from "bun:test";
import { parseInvocation } from "../../src/cli/arguments.ts";
import { commands } from "../../src/cli/command-table.ts";
import { readCall, spellInLibrary } from "../../src/options/library.ts";
import { checkTogether, nameInLibrary, type Option, typedSpelling } from "../../src/options/option.ts";
import { trainingOptions } from "../../src/options/training-table.ts";
import { errorOf } from "../thrown.ts";

const train = commands.find(({ name }) => name === "train")!;
/** Each with its name in the library said. */
const options = Object.entries(trainingOptions).map(
  ([key, option]): Option & { readonly library: string | null } => ({
    ...option,
    library: nameInLibrary(key, option),
  }),
);
const optionOf = (name: string) => options.find((option) => option.name === name);

/** An option that is given, as `name` or, where a value matters, `name value`. */
const argument = (given: string): string => {
  const [name, said] = given.split(" ");
  const { value, words } = optionOf(name!)!.kind;
  return value === undefined ? `--${name}` : `--${name}=${said ?? words?.[0] ?? "a"}`;
};

const libraryValues: Readonly<Record<string, unknown>> = {
  number: 1000,
  boolean: true,
  string: "a",
  "string | readonly string[]": "a",
  "readonly string[]": ["a"],
  "readonly number[]": [1],
  "Readonly<Record<string, number>>": { a: 1 },
  "Readonly<Record<string, string>>": { a: "b" },
};

function given(option: (typeof options)[number]): object {
  const { type } = option.kind;
  const [name, ...inner] = option.library!.split(":")[0]!.split(".").reverse();
  const special: Readonly<Record<string, unknown>> = {
    language: [{ name: "en", files: "a" }],
    "language-dev": [{ name: "en", files: "a", dev: "b" }],
    "language-window": { size: 1, alpha: 1 },
    "vocab-size": 1000,
    format: ["huggingface"],
    normalize: "NFC",
  };
  const value = special[option.name] ?? libraryValues[type] ?? option.kind.words?.[0];
  if (value === undefined) throw new Error(`"special" has no value for ${option.name}, of type ${type}`);
  return inner.reduce((object: object, outer) => ({ [outer]: object }), { [name!]: value });
}

type Pair = { readonly option: (typeof options)[number]; readonly other: string };

const pairs = options.flatMap((option) =>
  (option.excludes ?? []).map(({ other }): Pair => ({ option, other })),
);
const needs = options.flatMap((option) => (option.needs ? [{ option, other: option.needs.other }] : []));

describe("two options that exclude each other are refused", () => {
  const typed = pairs.filter(({ other }) => optionOf(other.split(" ")[0]!) !== undefined);

  test("on the command line, by their names", () => {
    for (const { option, other } of typed) {
      // What an option needs comes first in no list, so that it is given does not matter here.
      const only: Option = { ...option, needs: undefined as never };
      const { options: given } = parseInvocation(train, [argument(option.name), argument(other)]);
      const { message, exitCode } = errorOf(() => checkTogether([only], given, typedSpelling));
      expect(message).toStartWith(`--${option.name}`);
      expect(message).toContain(` cannot be combined with --${other}`);
      expect(exitCode).toBe(2);
    }
    expect(typed.length).toBeGreaterThan(30);
  });

  test("in the library, by its names", () => {
    const inLibrary = typed.filter(
      ({ option, other }) =>
        !other.includes(" ") && option.library !== null && optionOf(other)!.library !== null,
    );
    for (const { option, other } of inLibrary) {
      const needed = option.needs === undefined ? {} : given(optionOf(option.needs.other)!);
      const call = { vocabSize: 1000, ...needed, ...given(option), ...given(optionOf(other)!) };
      const { message } = errorOf(() => readCall(call));
      expect(message).toContain("cannot be combined with");
      expect(message).toContain(spellInLibrary(option.name));
      expect(message).not.toContain(" --");
    }
    expect(inLibrary.length).toBeGreaterThan(20);
  });
});

test("an option without the one that it needs is refused, on the command line and in the library", () => {
  for (const { option, other } of needs) {
    const { options: typed } = parseInvocation(train, [argument(option.name)]);
    expect(errorOf(() => checkTogether([option], typed, typedSpelling)).message).toBe(
      `--${option.name} needs --${other}`,
    );
    if (option.library === null || option.library.includes(":")) continue;
    const { message } = errorOf(() => readCall({ vocabSize: 1000, ...given(option) }));
    expect(message).toBe(`${option.library} needs ${spellInLibrary(other)}`);
  }
  expect(needs.length).toBeGreaterThan(6);
});

test("a value of the library that is not of the kind is refused by its name, for every option", () => {
  for (const { library } of options) {
    if (library === null || library.includes(":")) continue;
    const [name, ...inner] = library.split(".").reverse();
    const wrong = inner.reduce((object: object, outer) => ({ [outer]: object }), {
      [name!]: Symbol("wrong"),
    });
    expect(errorOf(() => readCall({ vocabSize: 1000, ...wrong })).message).toStartWith(
      `trainTokenizer: ${library} is a symbol: it must be `,
    );
  }
});
