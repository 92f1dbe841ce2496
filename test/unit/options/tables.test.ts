import { describe, expect, test } from "bun:test";
import { readCall, runCall, spellInLibrary } from "../../../src/library/library.ts";
import { commands } from "../../../src/main/all-commands.ts";
import { checkComplete, parseInvocation } from "../../../src/main/arguments.ts";
import { checkCombinations, nameInLibrary, type Option } from "../../../src/options/option.ts";
import { trainingOptions } from "../../../src/options/training-table.ts";
import { asOption } from "../../../src/runtime/message.ts";
import { TypedOptions } from "../../../src/terminal/invocation.ts";
import { settle } from "../../../src/training/training.ts";
import { errorOf, refusalOf } from "../../thrown.ts";

/** Each option of a training, with its name in the library. */
const options = Object.entries(trainingOptions).map(
  ([key, option]): Option & { readonly library: string | null } => ({
    ...option,
    library: nameInLibrary(key, option),
  }),
);
const optionOf = (name: string) => options.find((option) => option.name === name);

/** Returns the argument for an option given as `name` or, if its value matters, `name value`. */
const argument = (known: readonly Option[], given: string): string => {
  const [name, said] = given.split(" ");
  const { value, words } = known.find((option) => option.name === name)!.kind;
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

const cannotBe = " cannot be combined with ";

describe("of every command", () => {
  test("two options that exclude each other are refused by name", () => {
    let count = 0;
    for (const command of commands) {
      const has = (given: string) => command.options.some(({ name }) => name === given.split(" ")[0]);
      for (const option of command.options) {
        for (const { other } of (option.excludes ?? []).filter(({ other }) => has(other))) {
          // Removes `needs`, which another test covers.
          const only: Option = { ...option, needs: undefined as never };
          const typed = [option.name, other].map((given) => argument(command.options, given));
          const { options: given } = parseInvocation(command, typed);
          const { message, exitCode } = errorOf(() => checkCombinations([only], given));
          expect(message).toStartWith(`--${option.name}`);
          expect(message).toContain(`${cannotBe}--${other}`);
          expect(exitCode).toBe(2);
          count++;
        }
      }
    }
    expect(count).toBeGreaterThan(40);
  });

  test("an option without the one that it needs is refused", () => {
    for (const command of commands) {
      for (const option of command.options.filter(({ needs }) => needs !== undefined)) {
        const { options: given } = parseInvocation(command, [argument(command.options, option.name)]);
        const { message } = errorOf(() => checkCombinations([option], given));
        expect(message).toBe(`--${option.name} needs --${option.needs!.other}`);
      }
    }
  });

  test("the hint for a needed option is to leave one out if another given option excludes it", () => {
    const train = commands.find(({ name }) => name === "train")!;
    const hintOf = (...typed: string[]) => {
      const { options: given } = parseInvocation(train, typed);
      return errorOf(() => checkCombinations(train.options, given)).hint;
    };
    const ways = "leave out --superword-pattern or --counts";
    expect(hintOf("--superword-pattern=.", "--counts=a")).toBe(
      `--superwords-from cannot be combined with --counts, so ${ways}`,
    );
    expect(hintOf("--rename=a=b", "--like=c")).toBe(
      "--extend cannot be combined with --like, so leave out --rename or --like",
    );
    expect(hintOf("--rename=a=b")).toBe("name the tokenizer to extend, e.g. --extend tokenizer");
  });

  test("a value that is not of the option's kind is refused with the option's name", () => {
    const never: Readonly<Record<string, string>> = {
      ...{ N: "x", SIZE: "x", RULE: "x", LIST: "x,y", "N,N,...": "1,x", "N:FACTOR": "1:2:3" },
      ...{ "[NAME=]FILE...": "=x", "TEXT[=ID]": "", "OLD=NEW": "x", "NAME=FILE...": "x" },
      "[NAME=]GLOB:WEIGHT": "x",
    };
    const anyText = "TEXT FILE PATH DIR NAME GLOB TOKENIZER REGEX NAME|REGEX NAME|FILE FILE|NAME=N,...";
    let count = 0;
    for (const { options: known } of commands) {
      for (const { name, kind } of known) {
        const { value = "", words } = kind;
        const wrong = never[value] ?? (words && "no such word");
        if (name === "keep-field" || (wrong === undefined && ["", ...anyText.split(" ")].includes(value)))
          continue;
        if (wrong === undefined) throw new Error(`"never" has no wrong value for ${name}, ${value}`);
        expect(errorOf(() => kind.read([wrong], asOption(name))).message).toMatch(
          new RegExp(`^--${name}[ :]`),
        );
        if ((kind.least ?? 0) > 0)
          expect(errorOf(() => kind.read(["0"], `--${name}`)).message).toContain(
            "is 0, but must be at least",
          );
        count++;
      }
    }
    expect(count).toBeGreaterThan(90);
  });

  test("numbers are read as typed", () => {
    const { languageRatio, languageWindow } = trainingOptions;
    expect(languageRatio.kind.read(["1,2.5"], "")).toEqual([1, 2.5]);
    expect(languageWindow.kind.read(["100:2.0"], "")).toEqual({ size: 100, alpha: 2 });
  });

  test("all missing required arguments are named in one error", () => {
    for (const command of commands) {
      const required = command.options.filter(({ required }) => required).map(({ name }) => `--${name}`);
      const files = command.files.split(" ").filter((file) => file.startsWith("<"));
      const missing = [...files, ...required];
      if (missing.length === 0) continue;
      const invocation = { options: new TypedOptions(), files: [], typed: [] };
      const { message, hint, exitCode } = errorOf(() => checkComplete(command, invocation));
      const list = missing.join(", ").replace(/, (?=[^,]*$)/, " and ");
      expect([message, hint, exitCode]).toEqual([
        `${list} ${missing.length === 1 ? "is" : "are"} missing`,
        expect.stringContaining(`usage: bpe ${command.name} `),
        2,
      ]);
      for (const { name, optionalWith } of command.options.filter((one) => one.optionalWith !== undefined)) {
        invocation.options.set(optionalWith!, ["x"]);
        expect(errorOf(() => checkComplete(command, invocation)).message).not.toContain(name);
      }
    }
  });
});

describe("in the library, by its names,", () => {
  test("two options that exclude each other are refused", () => {
    const pairs = options.flatMap((option) =>
      (option.excludes ?? [])
        .filter(({ other }) => optionOf(other) !== undefined)
        .map(({ other }) => ({ option, other: optionOf(other)! })),
    );
    const inLibrary = pairs.filter((pair) => pair.option.library !== null && pair.other.library !== null);
    for (const { option, other } of inLibrary) {
      const needed = option.needs === undefined ? {} : given(optionOf(option.needs.other)!);
      const call = { vocabSize: 1000, ...needed, ...given(option), ...given(other) };
      const message = errorOf(() => readCall(call)).spelled(spellInLibrary).message;
      expect(message).toContain(cannotBe);
      expect(message).toContain(spellInLibrary(asOption(option.name)));
      expect(message).not.toContain(" --");
    }
    expect(inLibrary.length).toBeGreaterThan(20);
  });

  test("every message names options as the library does; quoted text stays", async () => {
    const refused = (call: object) =>
      refusalOf(runCall(async () => settle(readCall({ vocabSize: 1000, ...call }), {})));
    const twice = await refused({ specialTokens: ["--pad-to", "--pad-to"] });
    expect(twice.message).toBe('special token "--pad-to" is given twice');
    const { message, hint } = await refused({ model: { addsBos: true } });
    expect(`${message}; ${hint}`).toBe(
      "model.addsBos needs a bos token, but there is none; add specialTokens '<s>'",
    );
  });

  test("an option without the one that it needs is refused", () => {
    const needy = options.filter(
      ({ needs, library }) => needs !== undefined && library?.includes(":") === false,
    );
    for (const option of needy) {
      const { message } = errorOf(() => readCall({ vocabSize: 1000, ...given(option) })).spelled(
        spellInLibrary,
      );
      expect(message).toBe(`${option.library} needs ${spellInLibrary(asOption(option.needs!.other))}`);
    }
    expect(needy.length).toBeGreaterThan(6);
  });
});

test("a value that is not of the kind is refused with the library's name, for every option", () => {
  expect(errorOf(() => readCall({ vocabSize: 1000, model: 5 })).message).toStartWith("trainTokenizer: model");
  for (const { library } of options) {
    if (library === null || library.includes(":")) continue;
    const [name, ...inner] = library.split(".").reverse();
    const wrong = inner.reduce((object: object, outer) => ({ [outer]: object }), {
      [name!]: Symbol("wrong"),
    });
    expect(errorOf(() => readCall({ vocabSize: 1000, ...wrong })).message).toStartWith(
      `trainTokenizer: ${library} is a symbol, but must be `,
    );
  }
});
