import { argument } from "#bytes";
import { asOption, type Message, type messages, nearest, phrase, usageError } from "#runtime";
import type { writtenPlaces } from "#store";
import { type JsonSchema, type Kind, takeValue } from "./kinds.ts";

/** The topics of help, in order. */
export const topics = {
  input: { title: "Input", about: "what is read, and how" },
  tokens: { title: "Tokens", about: "how text is split, and what becomes a token" },
  output: { title: "Output", about: "what is written, and where" },
  model: { title: "Model", about: "what transformers reads next to the vocabulary" },
  speed: { title: "Speed and memory", about: "how much of the machine a run may use" },
  nightly: { title: "Nightly", about: "repeated, unattended runs" },
  general: { title: "General", about: "options of every command" },
} as const;

export type Topic = keyof typeof topics;

/**
 * An option, from which help, completions and the manual page are made. An option of a training is also in the library
 * and Python, unless `library` or `python` says otherwise.
 */
// biome-ignore lint/suspicious/noExplicitAny: tables have options of all kinds
export type Option<T = any> = {
  readonly name: string;
  readonly short?: string;
  readonly kind: Kind<T>;
  /** What is read from the path, if the value is one. */
  readonly reads?: PathRead;
  /** What is written to the path, if the value is one. */
  readonly writes?: writtenPlaces.RunOutput["kind"];
  /** The page of help that describes the option. */
  readonly topic: Topic;
  /** Whether the command requires the option. */
  readonly required?: boolean;
  /** Another option that makes this required option optional. */
  readonly optionalWith?: string;
  /** The options that this one excludes. */
  readonly excludes?: readonly Exclusion[];
  /** The option that this one requires. */
  readonly needs?: Need;
  /** Whether the option is rarely needed. Then the first page of help leaves it out. */
  readonly rare?: boolean;
  /** A short phrase. It does not repeat what other fields say. The library and Python may have another (in-code.ts). */
  readonly description: Message;
  /** More sentences. The help of the topic shows them; docs/options.md, the library and Python may show them, too. */
  readonly details?: Message;
  readonly default?: Message;
  /** A value for examples; "" for a flag. */
  readonly sample?: string;
  /**
   * The name in the library, if it differs from that in the table; null if the library does not have the option.
   * `model.addsBos` is the field `addsBos` of an object `model`.
   */
  readonly library?: string | null;
  /** The parameter in Python, if it is not the table's name in snake case; null if there is none. */
  readonly python?: string | null;
  /**
   * Set if training.json has the setting, under the option's name in the table: `true`, or the setting's schema if that
   * differs from the schema of the kind.
   */
  readonly recorded?: true | JsonSchema;
};

/** How a path is read: a corpus is files, directories and globs; a tokenizer may have several files. */
export type PathRead = "corpus" | "tokenizer" | "files";

/**
 * `other` is an option, which may have a value: `input-format text`. Or it is a setting that is no option of the
 * command line: `texts`, `files`.
 */
export type Need = { readonly other: string; readonly hint?: Message };

export type Exclusion = Need & {
  readonly why?: string;
  /** The value of this option with which the two options may be combined. */
  readonly unless?: string;
};

/** Options by their names in code. */
export type Options = Readonly<Record<string, Option>>;

type ValueOf<O> = O extends { readonly kind: Kind<infer T> } ? T : never;

/** The requested values, by their names in a table. */
export type Requested<Table> = { readonly [Name in keyof Table]?: ValueOf<Table[Name]> | undefined };

/** Gives a table of options its type. */
export const of = <const Table extends Options>(table: Table) =>
  table as { readonly [Name in keyof Table]: Option<ValueOf<Table[Name]>> };

/** Returns the library's name of an option; null if the library does not have it. */
export const nameInLibrary = (key: string, { library = key }: Option): string | null => library;

/** The options that were given. `text` returns the first value of an option as text; undefined if it has none. */
export type Given = {
  readonly has: (option: string) => boolean;
  readonly text: (option: string) => string | undefined;
};

/** Throws a usage error if two of the given options exclude each other, or if one needs another that is not given. */
export function checkCombinations(options: readonly Option[], given: Given): void {
  const isGiven = (other: string) => {
    const [name, value = given.text(name!)] = other.split(" ");
    return given.has(name!) && given.text(name!) === value;
  };
  for (const { name, excludes = [], needs } of options) {
    if (!given.has(name)) continue;
    for (const { other, why, hint, unless } of excludes) {
      const value = given.text(name);
      if (!isGiven(other) || (unless !== undefined && value === unless)) continue;
      const shown = asOption(name, unless === undefined ? undefined : value);
      const reason = why === undefined ? "" : `: ${why}`;
      throw usageError(phrase`${shown} cannot be combined with ${optionNamed(other)}${reason}`, hint);
    }
    if (needs !== undefined && !isGiven(needs.other)) {
      const [shown, needed] = [asOption(name), optionNamed(needs.other)];
      const bar = excludersOf(options, needs.other).find((other) => other !== "files" && isGiven(other));
      throw usageError(
        phrase`${shown} needs ${needed}`,
        bar === undefined
          ? needs.hint
          : phrase`${needed} cannot be combined with ${optionNamed(bar)}, so leave out ${shown} or ${optionNamed(bar)}`,
      );
    }
  }
}

/**
 * Whether the option `name` is in the table, and no given option excludes it or its value `value`. An exclusion that
 * names a value of the given option is not considered, and `unless` is ignored.
 */
export const mayGive = (
  name: string,
  value: string | undefined,
  options: readonly Option[],
  given: Pick<Given, "has">,
): boolean =>
  options.some((option) => option.name === name) &&
  !excludersOf(options, name, value).some((other) => given.has(other));

/** Returns the options with which the option `name`, or its value `value`, cannot be combined. */
function excludersOf(options: readonly Option[], name: string, value?: string): string[] {
  const names = [name, `${name} ${value}`];
  const excluded = options.find((option) => option.name === name)?.excludes ?? [];
  const excluding = options.filter(({ excludes = [] }) =>
    excludes.some(({ other }) => names.includes(other)),
  );
  return [...excluded.map(({ other }) => other), ...excluding.map((option) => option.name)];
}

/** Returns the option that an exclusion or a need names. It may have a value: `input-format text`. */
function optionNamed(other: string): messages.NamedOption {
  const [name, value] = other.split(" ");
  return asOption(name!, value);
}

/** Reads the values that were typed for the options of a table. */
export function readTyped<Table extends Options>(
  table: Table,
  typed: ReadonlyMap<string, readonly string[]>,
): Requested<Table> {
  const read = Object.entries(table).map(([key, { name, kind }]) => {
    const texts = typed.get(name);
    return [key, texts === undefined ? undefined : kind.read(texts, asOption(name))];
  });
  return Object.fromEntries(read) as Requested<Table>;
}

/**
 * Checks the options that a caller of the library passes. Leaves out undefined ones. Throws a usage error for an
 * unknown one, and for a value of the wrong kind.
 */
export function checkGiven<Table extends Options>(
  table: Table,
  given: unknown,
  call: string,
): Requested<Table> {
  argument.check(`${call}: options`, given, argument.plainObject);
  const known = Object.entries(table).flatMap(([key, option]) => {
    const library = nameInLibrary(key, option);
    return library === null ? [] : [{ key, kind: option.kind, path: pathOf(library) }];
  });
  const names = new Set(known.map(({ path }) => path));
  const asked: Record<string, unknown> = {};
  for (const [path, value] of leafValues(given as object, "", names, call)) {
    for (const { key, kind, path: own } of known) {
      if (own === path) asked[key] = takeValue(kind, value, `${call}: ${path}`);
    }
  }
  return asked as Requested<Table>;
}

/** Returns the name of the setting to which an option belongs: `languages: dev` belongs to `languages`. */
const pathOf = (library: string) => library.split(":")[0]!;

/** Yields the given values by name: that of `model: { roles: { bos } }` is named `model.roles.bos`. */
function* leafValues(
  given: object,
  prefix: string,
  names: ReadonlySet<string>,
  call: string,
): Generator<[string, unknown]> {
  for (const [name, value] of Object.entries(given)) {
    const path = prefix + name;
    if (value === undefined) continue;
    if (names.has(path)) yield [path, value];
    else if ([...names].some((known) => known.startsWith(`${path}.`))) {
      argument.check(`${call}: ${path}`, value, argument.plainObject);
      yield* leafValues(value, `${path}.`, names, call);
    } else throw unknownName(name, prefix, names, call);
  }
}

function unknownName(name: string, prefix: string, names: ReadonlySet<string>, call: string) {
  const siblings = [...names].filter((known) => known.startsWith(prefix));
  const known = [...new Set(siblings.map((path) => path.slice(prefix.length).split(".")[0]!))];
  const near = nearest(name, known);
  return usageError(
    `${call}${prefix && `: ${prefix.slice(0, -1)}`} has no option "${name}"`,
    near === undefined ? `the options are ${known.join(", ")}` : `did you mean ${near}?`,
  );
}
