import { isUtf8 } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import { countNoun, groupDigits, isPlainObject, schema } from "#bytes";
import { keptField } from "#corpus";
import type { trainingRecords } from "#formats";
import { files, type Message, messages, nearest, phrase, UserError, usageError } from "#runtime";
import { normalForms } from "#text";
import { chatTemplateNames, type tokenizers } from "#tokenizer";

// Kinds of values: how they are typed, checked and described. Errors about a value name its option.

export type JsonSchema = { readonly [name: string]: unknown };

export type Kind<T> = Typed & {
  /** Parses the texts that were typed for the option `name`, one for each of its values; a flag has no texts. */
  readonly read: (typed: readonly string[], name: Message) => T;
  /** What the library accepts, as in "must be a path". */
  readonly wanted: string;
  /**
   * Converts a value from the library to the form that commands use. Returns undefined if the value has no effect, and
   * `wrongKind` if it is not of this kind. May throw a usage error that says more.
   */
  readonly take: (value: unknown, place: Message) => T | undefined | typeof wrongKind;
  /** The type of values in the library. */
  readonly type: string;
  /** The schema of a value in training.json. */
  readonly schema: JsonSchema;
  /** How the parameter in Python is declared and passed on. */
  readonly python: {
    readonly type: string;
    /** The default, as Python source. */
    readonly none: string;
    /** Selects how `_training.py` makes arguments from the value. */
    readonly print: string;
  };
};

/** What help and completions say about a value. */
export type Typed = {
  /** The name of the value in help. An option without one is a flag. */
  readonly value?: string;
  /** The allowed words. If `value` is `LIST`, the option takes any of them, separated by commas. */
  readonly words?: readonly string[];
  /**
   * The smallest allowed number; for a `SIZE`, the smallest number of bytes. Left out if it is 0, and for sizes of
   * vocabularies.
   */
  readonly least?: number;
  readonly repeatable?: boolean;
  /** Whether further arguments, up to the next option, are more values. After `--name=value`, they are not. */
  readonly many?: boolean;
};

export const wrongKind = Symbol("wrong");

/**
 * Returns a value from the library in the form that commands use, or throws a usage error. `place` names the value for
 * the caller: `trainTokenizer: padTo`.
 */
export function takeValue<T>(kind: Kind<T>, value: unknown, place: Message): T | undefined {
  const found = kind.take(value, place);
  if (found !== wrongKind) return found as T | undefined;
  throw usageError(phrase`${place} ${schema.describeMismatch(value, kind.wanted)}`);
}

const union = (...types: readonly string[]) => `t.Union[${types.join(", ")}, None]`;
const inPython = (type: string, print = "value") => ({ type: union(type), none: "None", print });

const isText = (value: unknown): value is string => typeof value === "string";
const isPath = (value: unknown) => isText(value) && value !== "";
/** Copies an array of strings. Returns undefined for anything else. */
function textsOf(value: unknown): string[] | undefined {
  const texts = Array.isArray(value) ? Array.from<unknown>(value) : undefined;
  return texts?.every(isText) ? texts : undefined;
}

export const flag: Kind<boolean> = {
  read: () => true,
  wanted: "true or false",
  // false is the same as no value.
  take: (value) => (typeof value === "boolean" ? value || undefined : wrongKind),
  type: "boolean",
  schema: { const: true },
  python: { type: "bool", none: "False", print: "flag" },
};

/** A flag that can also be negated, as `--ledger` can by `--no-ledger`. */
export const decision: Kind<boolean> = {
  ...flag,
  take: (value) => (typeof value === "boolean" ? value : wrongKind),
  python: inPython("bool", "decision"),
};

const isWhole = (value: unknown, least: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least;

export const whole = (least = 0): Kind<number> => ({
  value: "N",
  ...(least > 0 && { least }),
  read: ([text], name) => wholeNumber(name, text!, least),
  wanted: `a whole number of ${least} or more`,
  take: (value) => (isWhole(value, least) ? value : wrongKind),
  type: "number",
  schema: least === 0 ? { $ref: "#/$defs/count" } : { type: "integer", minimum: least },
  python: inPython("int"),
});

/** A size in bytes. */
export const size = (least = 0): Kind<number> => ({
  ...whole(least),
  value: "SIZE",
  read: ([text], name) => sizeBytes(name, text!, least),
  python: inPython("str"),
});

export const text = (value = "TEXT"): Kind<string> => ({
  value,
  read: ([text]) => text!,
  wanted: "a string",
  take: (value) => (isText(value) ? value : wrongKind),
  type: "string",
  schema: { type: "string" },
  python: inPython("str"),
});

/**
 * A path. The library refuses an empty one. The command line refuses it only if there is a `hint`, which says what to
 * do.
 */
export const path = (value = "FILE", hint?: Message): Kind<string> => ({
  ...text(value),
  read([text], name) {
    if (text !== "" || hint === undefined) return text!;
    throw usageError(phrase`${name} was given an empty name`, hint);
  },
  wanted: "a path: a string that is not empty",
  take: (value) => (isPath(value) ? (value as string) : wrongKind),
  python: inPython("t.PathLike", "path"),
});

/** A directory to which something is written. The command line refuses `-`, which for other options means stdout. */
export function directory(hint: Message): Kind<string> {
  const named = path("DIR", hint);
  return {
    ...named,
    read(typed, name) {
      if (typed[0] === "-") throw usageError(phrase`${name} "-" does not name a directory`, hint);
      return named.read(typed, name);
    },
  };
}

/** Texts of an option that may be given several times. */
export const texts = (value = "TEXT"): Kind<readonly string[]> => ({
  value,
  repeatable: true,
  read: (typed) => typed,
  wanted: "an array of strings",
  take: (value) => textsOf(value) ?? wrongKind,
  type: "readonly string[]",
  schema: { type: "array", items: { type: "string" } },
  python: { type: "t.Sequence[str]", none: "()", print: "texts" },
});

/** Makes a kind of values that exist only on the command line. */
export const commandLineKind = <T>(typed: Typed, read: Kind<T>["read"]): Kind<T> => ({
  ...text(),
  ...typed,
  read,
  take: () => wrongKind,
});

/** The file for a command's output. undefined is standard output, which is typed as `-`. */
export const outputFile = commandLineKind<string | undefined>({ value: "FILE" }, ([path], name) => {
  if (path === "") throw usageError(phrase`${name} was given an empty name`, "name a file, or - for stdout");
  return path === "-" ? undefined : path;
});

export const paths: Kind<readonly string[]> = {
  ...texts("FILE"),
  wanted: "a path or an array of paths",
  take(value) {
    if (isPath(value)) return [value as string];
    const paths = textsOf(value);
    return paths?.every(isPath) ? paths : wrongKind;
  },
  type: "string | readonly string[]",
  python: inPython("t.Union[t.PathLike, t.Sequence[t.PathLike]]", "paths"),
};

export const word = <const Word extends string>(
  words: readonly Word[],
  value: string,
  inLibrary: readonly Word[] = words,
): Kind<Word> => ({
  value,
  words,
  read: ([text], name) => oneOf(name, text!, words),
  wanted: `one of ${inLibrary.join(", ")}`,
  take: (value) => inLibrary.find((word) => word === value) ?? wrongKind,
  type: inLibrary.map((word) => `"${word}"`).join(" | "),
  schema: { enum: inLibrary },
  python: inPython("str"),
});

/** Some of these words, separated by commas. The library does not accept the words in `besides`. */
export const words = <const Word extends string>(
  all: readonly Word[],
  besides: readonly Word[] = [],
): Kind<readonly Word[]> => ({
  value: "LIST",
  words: [...all, ...besides],
  read: ([text], name) => text!.split(",").map((part) => oneOf(name, part.trim(), [...all, ...besides])),
  wanted: `an array of some of ${all.join(", ")}`,
  take(value) {
    const texts = textsOf(value);
    return texts?.every((text) => (all as readonly string[]).includes(text)) ? (texts as Word[]) : wrongKind;
  },
  type: `readonly (${all.map((word) => `"${word}"`).join(" | ")})[]`,
  schema: { type: "array", items: { enum: [...all, ...besides] } },
  python: inPython("t.Sequence[str]", "listed"),
});

/** Fields to keep next to the ids of each record: `id,score:double`. */
export const keptFields: Kind<readonly keptField.Field[]> = {
  value: "LIST",
  read: ([text], name) => text!.split(",").map((field) => readKeptField(name, field)),
  wanted: "an array of names of fields",
  take: (value, place) => textsOf(value)?.map((field) => readKeptField(place, field)) ?? wrongKind,
  type: "readonly string[]",
  schema: { type: "array", items: { type: "string" } },
  python: inPython("t.Sequence[str]", "listed"),
};

function readKeptField(option: Message, typed: string): keptField.Field {
  const kind = keptField.kinds.find((kind) => typed.endsWith(`:${kind}`));
  const name = kind === undefined ? typed : typed.slice(0, -kind.length - 1);
  if (name === "") throw usageError(phrase`${option} contains an empty name`, "leave out the empty name");
  if (name === "input_ids")
    throw usageError(
      phrase`${option} cannot keep the field input_ids, because the column with the ids has that name`,
      "rename the field in the input, or leave it out",
    );
  return { name, kind };
}

/** Steps of normalization, separated by commas. */
export const normalization = (steps: readonly string[]): Kind<string> => ({
  value: "LIST",
  words: steps,
  read: ([text], name) => normalForms.read(name, text!),
  wanted: "a string, or an array of strings",
  take(value, place) {
    const steps = isText(value) ? [value] : textsOf(value);
    return steps === undefined ? wrongKind : normalForms.read(place, steps.join(","));
  },
  type: "string | readonly string[]",
  schema: { $ref: "#/$defs/normalization" },
  python: inPython("str, t.Sequence[str]", "listed"),
});

/** The requested size of a vocabulary: of all tokens, or, as `+8k`, of the additional ones. */
export type AskedSize = { readonly isMore: boolean; readonly count: number };

export const sizes: Kind<readonly AskedSize[]> = {
  value: "N",
  read: ([text], name) => splitSizes(text!).map((size) => readSize(name, size, text)),
  wanted:
    'a whole number, an array of whole numbers, or "+8000" for 8,000 more tokens than the tokenizer to extend has',
  take(value, place) {
    if (isText(value) && value.startsWith("+"))
      return splitSizes(value).map((size) => readSize(place, size, value));
    const counts = [value].flat();
    if (counts.length === 0 || !counts.every((count) => isWhole(count, 0))) return wrongKind;
    return counts.map((count) => ({ isMore: false, count: count as number }));
  },
  type: `number | readonly number[] | \`+\${string}\``,
  schema: { $ref: "#/$defs/count" },
  python: { type: union("int, str, t.Sequence[int]"), none: "None", print: "sizes" },
};

/** A single size of a vocabulary. */
export const oneSize = commandLineKind({ value: "N" }, ([text], name) => readSize(name, text!));

/** Parses one size of the list `whole`. If the size is empty, throws an error that shows the list. */
function readSize(name: Message, text: string, whole = text): AskedSize {
  const isMore = text.startsWith("+");
  const count = wholeNumber(name, isMore ? text.slice(1) : text, 0, text || whole);
  if (isMore && count === 0) throw usageError(phrase`${name} is ${text}, but must add at least one token`);
  return { isMore, count };
}

/**
 * Splits a list of sizes at commas. `300,400` are two sizes. `32,000` is one size, because it has the form of a large
 * number, and one of its groups is less than 256, the smallest size.
 */
export function splitSizes(text: string): string[] {
  const isOne = /^\+?\d{1,3}(,\d{3}){1,2}$/.test(text);
  return isOne && text.split(",").some((group) => Number(group) < 256) ? [text] : text.split(",");
}

/** Decimal numbers with the given separator. */
export const decimals = (value: string, separator: string): Kind<readonly number[]> => ({
  value,
  read: ([text], name) =>
    text!.split(separator).map((part) => {
      if (/^\d+(\.\d+)?$/.test(part)) return Number(part);
      throw usageError(
        phrase`${messages.withValue(name, text!)} contains "${part}", which is not a decimal number`,
        `write ${value}, e.g. ${["2", "1.5"].join(separator)}`,
      );
    }),
  wanted: "an array of numbers",
  take: (value) =>
    Array.isArray(value) && value.every((number) => typeof number === "number") ? value : wrongKind,
  type: "readonly number[]",
  schema: { type: "array", items: { type: "number" } },
  python: inPython("t.Sequence[float]", separator === "," ? "numbers" : "fields"),
});

/** Numbers separated by colons, as in `N:FACTOR`: one for each of `names`, in order. `example` is shown in errors. */
export function fields<const Name extends string>(
  value: string,
  names: readonly Name[],
  example: Message,
): Kind<{ readonly [N in Name]: number }> {
  const { read, python } = decimals(value, ":");
  const named = (numbers: readonly unknown[]) =>
    Object.fromEntries(names.map((name, i) => [name, numbers[i]])) as { [N in Name]: number };
  return {
    value,
    read(typed, name) {
      const numbers = read(typed, name);
      if (numbers.length === names.length) return named(numbers);
      throw usageError(
        phrase`${messages.withValue(name, typed[0]!)} does not have the form ${value}`,
        phrase`write ${value}, e.g. ${example}`,
      );
    },
    wanted: `an object of the numbers ${names.join(" and ")}`,
    take(value) {
      if (!isPlainObject(value) || Object.keys(value).some((key) => !names.includes(key as Name)))
        return wrongKind;
      const numbers = names.map((name) => value[name]);
      return numbers.every((number) => typeof number === "number") ? named(numbers) : wrongKind;
    },
    type: `{ ${names.map((name) => `readonly ${name}: number`).join("; ")} }`,
    schema: {
      type: "object",
      required: names,
      additionalProperties: false,
      properties: Object.fromEntries(names.map((name) => [name, { type: "number" }])),
    },
    python,
  };
}

/** Weights of the words of some inputs: `[NAME=]GLOB:WEIGHT`. */
export const weights: Kind<readonly trainingRecords.InputWeight[]> = {
  value: "[NAME=]GLOB:WEIGHT",
  repeatable: true,
  read: (typed, name) => typed.map((one) => readWeight(name, one)),
  wanted: "a plain object of numbers",
  take: (value) =>
    isPlainObject(value)
      ? Object.entries(value).map(([glob, weight]) => ({ name: null, glob, weight: weight as number }))
      : wrongKind,
  type: "Readonly<Record<string, number>>",
  schema: { $ref: "#/$defs/weights" },
  python: inPython("t.Mapping[str, float]", "weights"),
};

function readWeight(option: Message, typed: string): trainingRecords.InputWeight {
  const [, named, text] = /^(.*):([^:]*)$/s.exec(typed) ?? [];
  if (named === undefined || !/^\d+(\.\d{1,6})?$/.test(text!)) {
    const isTooFine = /^\d+\.\d+$/.test(text ?? "");
    throw usageError(
      phrase`${messages.withValue(option, `"${typed}"`)} ${isTooFine ? "has a weight with more than six decimal places" : "does not end with a weight"}`,
      isTooFine
        ? "round the weight, e.g. to 0.333333"
        : "write GLOB:WEIGHT, e.g. 'corpus/en:0.5'; a weight is a decimal number with at most six decimal places",
    );
  }
  const { name, path } = readNamed(option, named, typed, "NAME=GLOB:WEIGHT, or only GLOB:WEIGHT");
  return { name, glob: path, weight: Number(text) };
}

/** New texts by their old ones: `OLD=NEW`. `example` is a value for the error. */
export const oldAndNew = (example: string): Kind<Readonly<Record<string, string>>> => ({
  value: "OLD=NEW",
  repeatable: true,
  read(typed, name) {
    const pairs = typed.map((one): [string, string] => {
      const [, before, after] = /^([^=]+)=(.+)$/s.exec(one) ?? [];
      if (before !== undefined) return [before, after!];
      throw usageError(
        phrase`${messages.withValue(name, `"${one}"`)} does not have the form OLD=NEW`,
        phrase`write OLD=NEW, e.g. ${messages.withValue(name, example)}`,
      );
    });
    const twice = pairs.find(([before], i) => pairs.findIndex(([other]) => other === before) < i);
    if (twice !== undefined)
      throw usageError(
        phrase`${name} gives two new values for "${twice[0]}"`,
        phrase`leave out one of the two: ${messages.withValue(name, `"${twice[0]}=…"`)}`,
      );
    return Object.fromEntries(pairs);
  },
  wanted: "a plain object of strings",
  take: (value) =>
    isPlainObject(value) && Object.values(value).every(isText)
      ? (value as Record<string, string>)
      : wrongKind,
  type: "Readonly<Record<string, string>>",
  schema: { type: "object", additionalProperties: { type: "string" } },
  python: inPython("t.Mapping[str, str]", "renames"),
});

/** A file, with the language of its text. */
export type NamedFile = { readonly language: string; readonly file: string };

/**
 * Files with their languages: `NAME=FILE`. A file without a name has the language of the file before it. In the
 * library, each language is an object, with its files in the field that `key` names.
 */
export const languageFiles = (key: "files" | "dev"): Kind<readonly NamedFile[]> => ({
  value: "NAME=FILE...",
  repeatable: true,
  many: true,
  read(typed, name) {
    let language: string | null = null;
    return typed.map((value) => {
      const { name: named, path: file } = readNamed(name, value, value, "NAME=FILE");
      language = named ?? language;
      if (language !== null) return { language, file };
      throw usageError(
        phrase`${messages.withValue(name, `"${value}"`)} names no language`,
        phrase`write NAME=FILE, e.g. ${messages.withValue(name, `en=${value}`)}`,
      );
    });
  },
  wanted: "an array of languages",
  take(value, place) {
    if (!Array.isArray(value)) return wrongKind;
    const files = value.flatMap((one, i) => {
      const at = phrase`${place}[${i}]`;
      if (!isPlainObject(one))
        throw usageError(phrase`${at} ${schema.describeMismatch(one, "an object { name, files, dev }")}`);
      const other = Object.keys(one).find((field) => !["name", "files", "dev"].includes(field));
      if (other !== undefined)
        throw usageError(phrase`${at} has no option "${other}"`, "the options are name, files, dev");
      const language = takeValue(text(), one.name, phrase`${at}: name`)!;
      const named = takeValue(paths, one.files, phrase`${at}: files`)!;
      const dev = one.dev === undefined ? [] : takeValue(paths, one.dev, phrase`${at}: dev`)!;
      if (language === "" || named.length === 0)
        throw usageError(
          language === ""
            ? phrase`${at}: name is empty, but must name a language`
            : phrase`${at}: files is empty, but must name files of the language "${language}"`,
        );
      return (key === "files" ? named : dev).map((file) => ({ language, file }));
    });
    return files.length === 0 && key === "dev" ? undefined : files;
  },
  type: `readonly { readonly name: string; readonly files: string | readonly string[]; readonly dev?: string | readonly string[] | undefined }[]`,
  schema: { type: "object" },
  python: inPython("t.Mapping[str, t.Union[t.PathLike, t.Sequence[t.PathLike]]]", "languages"),
});

/** The name of a chat template, or a file that contains one. The library accepts a name or the text of a template. */
export const chatTemplate: Kind<string> = {
  ...text("NAME|FILE"),
  read([typed], name) {
    const names: readonly string[] = chatTemplateNames;
    if (names.includes(typed!)) return typed!;
    if (/[./]/.test(typed!)) {
      const text = readTextFile(name, typed!);
      // A file without `{` has no Jinja expression, so it was named by mistake.
      if (text.includes("{")) return text;
      throw new UserError(phrase`${messages.withValue(name, `"${typed}"`)} is not a Jinja template`, {
        hint: `name a file with a template, or one of: ${names.join(", ")}`,
      });
    }
    const near = nearest(typed!, names);
    const hint =
      near === undefined
        ? `write one of ${names.join(", ")}; for a file, write ./${typed}`
        : `did you mean ${near}?`;
    throw usageError(phrase`${name}: unknown name "${typed}"`, hint);
  },
};

/** Reads a text file that an option names. */
export function readTextFile(option: Message, path: string): string {
  const bytes = files.withRegular(path, (fd) => readFileSync(fd));
  if (!isUtf8(bytes))
    throw new UserError(phrase`${messages.withValue(option, `"${path}"`)} is not valid UTF-8`, {
      hint: "convert the file to UTF-8, e.g. with iconv",
    });
  return new TextDecoder().decode(bytes);
}

/** Files with optional names: `[NAME=]FILE`. */
export const namedFiles = commandLineKind<readonly Named[]>(
  { value: "[NAME=]FILE...", repeatable: true, many: true },
  (typed, name) => typed.map((one) => readNamed(name, one)),
);

/** Special tokens with optional ids. A text may contain `=`, so only a number after the last `=` is an id. */
export const specialTokens = commandLineKind<readonly tokenizers.SpecialTokenOption[]>(
  { value: "TEXT[=ID]", repeatable: true },
  (typed, name) => {
    const read = typed.map((one) => {
      const [, text, id] = /^(.*)=(\d+)$/s.exec(one) ?? [undefined, one, undefined];
      if (text === "" || text === undefined)
        throw usageError(
          phrase`${messages.withValue(name, `"${one}"`)} has no text`,
          "write TEXT or TEXT=ID",
        );
      return { text, id: id === undefined ? undefined : Number(id) };
    });
    const twice = read.find(({ text }, i) => read.findIndex((other) => other.text === text) < i);
    if (twice !== undefined)
      throw usageError(phrase`${messages.withValue(name, `"${twice.text}"`)} is given twice`);
    return read;
  },
);

/** A path with an optional name: `[NAME=]PATH`. */
export type Named = { readonly name: string | null; readonly path: string };

/**
 * Parses `[NAME=]PATH`. If all of `typed` is an existing path, there is no NAME. A NAME has no slash. Errors show the
 * value as `shown`, and the forms that a value may have as `forms`.
 */
export function readNamed(
  what: Message,
  typed: string,
  shown = typed,
  forms = "NAME=PATH, or only PATH",
): Named {
  const [, name, path] = /^([^=/]*)=(.*)$/s.exec(typed) ?? [];
  if (name === undefined || path === undefined || existsSync(typed)) return { name: null, path: typed };
  if (name === "" || path === "") {
    throw usageError(
      phrase`${messages.withValue(what, `"${shown}"`)} has no ${name === "" ? "name" : "path"}`,
      `write ${forms}`,
    );
  }
  return { name, path };
}

// Numbers, sizes and words as typed.

const multipliers = { "": 1, k: 1024, m: 1024 ** 2 };

/** Matches digits as people write them: `32000`, `32,000`, `32_000`. */
const written = String.raw`\d{1,3}(?:,\d{3})+|\d+(?:_\d+)*`;
const wholeForm = new RegExp(`^(${written})([km]?)$`);
const sizeForm = new RegExp(String.raw`^((?:${written})(?:\.\d+)?) ?(?:([kmgtp])(i?))?(b?)$`, "i");

const numberOf = (digits: string) => Number(digits.replaceAll(/[,_]/g, ""));

/**
 * Parses a whole number of at least `least`: digits, optionally with `k` for 1,024 times and `m` for 1,048,576 times,
 * so `32k` is 32,768. Case does not matter. Errors show the value as `shown`, except for one below `least`.
 */
export function wholeNumber(option: Message, text: string, least: number, shown = text): number {
  const [, digits, unit = ""] = wholeForm.exec(text.toLowerCase()) ?? [];
  if (digits === undefined) {
    const hint =
      "write digits, or digits with k (times 1,024) or m (times 1,024 x 1,024), e.g. 32000, 32,000 or 32k";
    throw usageError(phrase`${option} is "${shown}", but must be a whole number`, hint);
  }
  const value = numberOf(digits) * multipliers[unit as keyof typeof multipliers];
  if (!Number.isSafeInteger(value)) throw usageError(phrase`${option} is ${shown}, but must be below 2^53`);
  if (value < least) throw usageError(phrase`${option} is ${text}, but must be at least ${least}`);
  return value;
}

/** Returns the text if it is one of the words, otherwise throws a usage error. */
export function oneOf<const Word extends string>(
  option: Message,
  text: string,
  words: readonly Word[],
): Word {
  if ((words as readonly string[]).includes(text)) return text as Word;
  const near = nearest(text, words);
  const hint =
    near === undefined
      ? `one of: ${words.join(", ")}`
      : `did you mean ${near}? (one of: ${words.join(", ")})`;
  throw usageError(phrase`${option}: unknown value "${text}"`, hint);
}

const prefixes = ["", "k", "m", "g", "t", "p"];

/**
 * Parses a size in bytes: `300MB`, `1.5GB`, `2GiB`, `1048576`. KB, MB and so on are powers of 1000, KiB, MiB and so on
 * powers of 1024. `64k` is refused, because other options would read it as 65,536.
 */
export function sizeBytes(option: Message, text: string, leastBytes: number): number {
  const [, digits, prefix, binary, unit] = sizeForm.exec(text) ?? [];
  if (digits === undefined) {
    throw usageError(
      phrase`${option} is "${text}", but must be a size in bytes`,
      "write e.g. 300MB, 1.5GB, 2GiB or 1048576",
    );
  }
  const power = prefixes.indexOf(prefix?.toLowerCase() ?? "");
  const times = (base: number) => Math.floor(numberOf(digits) * base ** power);
  if (prefix !== undefined && !binary && !unit) {
    const [decimal, other] = ["B", "iB"].map((end) => `${digits}${prefix.toUpperCase()}${end}`);
    const hint = `write ${decimal} for ${groupDigits(times(1000))} bytes, or ${other} for ${groupDigits(times(1024))} bytes`;
    throw usageError(phrase`${option} is "${text}", which can mean two sizes`, hint);
  }
  const value = times(binary ? 1024 : 1000);
  if (!Number.isSafeInteger(value))
    throw usageError(phrase`${option} is ${text}, but must be below 2^53 bytes`);
  // Without a unit, a limit this small is surely a mistake; 0 is a valid limit.
  if (!unit && value > 0 && value < 1000)
    throw usageError(
      phrase`${option} is only ${countNoun(value, "byte")}`,
      `did you mean ${digits}GB or ${digits}MB?`,
    );
  if (value < leastBytes) {
    throw usageError(phrase`${option} is ${text}, but must be at least ${countNoun(leastBytes, "byte")}`);
  }
  return value;
}
