import { checkArgument, objectArgument } from "#bytes";
import { nearest, usageError } from "#runtime";
import type { Written } from "#store";
import { type JsonSchema, type Kind, taken } from "./kinds.ts";

/** What the pages of help are about, in their order. */
export const topics = {
  input: { title: "Input", about: "what is read, and how" },
  tokens: { title: "Tokens", about: "how text is cut, and what becomes a token" },
  output: { title: "Output", about: "what is written, and where" },
  model: { title: "Model", about: "what transformers reads beside the vocabulary" },
  speed: { title: "Speed and memory", about: "how much of the machine a run may use" },
  nightly: { title: "Nightly", about: "repeated, unattended runs" },
  general: { title: "General", about: "options of every command" },
} as const;

export type Topic = keyof typeof topics;

/**
 * An option: help, completions and the manual page are made of it; the library and Python have it, too, unless it says that
 * they do not.
 */
// biome-ignore lint/suspicious/noExplicitAny: tables have options of all kinds
export type Option<T = any> = {
  readonly name: string;
  readonly short?: string;
  readonly kind: Kind<T>;
  /** Of a value that is a path: what is read there. No output may be what the run reads (run-paths.ts). */
  readonly reads?: PathRead;
  /** What is written there. */
  readonly writes?: Written["kind"];
  /** The page of help that describes it. */
  readonly topic: Topic;
  /** Whether the command cannot do without it. */
  readonly required?: boolean;
  /** With this option it can. */
  readonly optionalWith?: string;
  /** What it cannot be combined with. */
  readonly excludes?: readonly Exclusion[];
  /** What it says nothing without. */
  readonly needs?: Need;
  /** Seldom needed: the first page of help only names it. */
  readonly rare?: boolean;
  /** A short phrase, without what the other fields say. */
  readonly description: string;
  /** The sentences behind it, for the page of its topic. */
  readonly details?: string;
  readonly default?: string;
  /** A value for examples; of a flag "". */
  readonly sample?: string;
  /** Its name in the library, if not that in the table, with that of the object it is in: `model.addsBos`; null: there is none. */
  readonly library?: string | null;
  /** The parameter in Python, likewise. */
  readonly python?: string | null;
  /** What the library and Python say of it, if not what the command line does. */
  readonly inCode?: string;
  /** Of a setting that a record has by the name of the table: what it is there, if not what its kind says. */
  readonly recorded?: true | JsonSchema;
};

/** A corpus is files, directories and globs. Of a tokenizer several files may be read. */
export type PathRead = "corpus" | "tokenizer" | "files";

/** `other` is an option; or what only the library has: `texts`. */
export type Need = { readonly other: string; readonly hint?: string };

export type Exclusion = Need & {
  readonly why?: string;
  /** The value that does go with it. */
  readonly unless?: string;
};

/** Options by the names that code has for them. */
export type Options = Readonly<Record<string, Option>>;

type ValueOf<O> = O extends { readonly kind: Kind<infer T> } ? T : never;

/** What is asked for, by the names of a table. */
export type Asked<Table> = { readonly [Name in keyof Table]?: ValueOf<Table[Name]> | undefined };

/** A table of options. */
export const tableOf = <const Table extends Options>(table: Table) =>
  table as { readonly [Name in keyof Table]: Option<ValueOf<Table[Name]>> };

/** What the library calls the option of a table. */
export const nameInLibrary = (key: string, { library = key }: Option): string | null => library;

/** What was given: whether an option was, and as which text. */
export type Given = {
  readonly has: (option: string) => boolean;
  readonly text: (option: string) => string | undefined;
};

/** Refuses options that do not go together, and those that lack what they need; the table of options says which. */
export function checkTogether(options: readonly Option[], given: Given): void {
  const isGiven = (other: string) => {
    const [name, value = given.text(name!)] = other.split(" ");
    return given.has(name!) && given.text(name!) === value;
  };
  for (const { name, excludes = [], needs } of options) {
    if (!given.has(name)) continue;
    for (const { other, why, hint, unless } of excludes) {
      const value = given.text(name);
      if (!isGiven(other) || (unless !== undefined && value === unless)) continue;
      const shown = unless === undefined ? name : `${name} ${value}`;
      const reason = why === undefined ? "" : `: ${why}`;
      throw usageError(`--${shown} cannot be combined with --${other}${reason}`, hint);
    }
    if (needs !== undefined && !isGiven(needs.other))
      throw usageError(`--${name} needs --${needs.other}`, needs.hint);
  }
}

/** Reads what was typed for the options of a table. */
export function readTyped<Table extends Options>(
  table: Table,
  typed: ReadonlyMap<string, readonly string[]>,
): Asked<Table> {
  const read = Object.entries(table).map(([key, { name, kind }]) => {
    const texts = typed.get(name);
    return [key, texts === undefined ? undefined : kind.read(texts, `--${name}`)];
  });
  return Object.fromEntries(read) as Asked<Table>;
}

/** Checks what a caller of the library gives. Options that are undefined are left out; an unknown one is a usage error. */
export function checkGiven<Table extends Options>(table: Table, given: unknown, call: string): Asked<Table> {
  checkArgument(`${call}: options`, given, objectArgument);
  const known = Object.entries(table).flatMap(([key, option]) => {
    const library = nameInLibrary(key, option);
    return library === null ? [] : [{ key, kind: option.kind, path: pathOf(library) }];
  });
  const names = new Set(known.map(({ path }) => path));
  const asked: Record<string, unknown> = {};
  for (const [path, value] of leaves(given as object, "", names, call)) {
    for (const { key, kind, path: own } of known) {
      if (own === path) asked[key] = taken(kind, value, `${call}: ${path}`);
    }
  }
  return asked as Asked<Table>;
}

/** `languages: dev` is a part of what `languages` gives. */
const pathOf = (library: string) => library.split(":")[0]!;

/** The values given, by their names; those of `model: { roles: { … } }` by `model.roles.bos`. */
function* leaves(
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
      checkArgument(`${call}: ${path}`, value, objectArgument);
      yield* leaves(value, `${path}.`, names, call);
    } else throw unknownName(name, prefix, names, call);
  }
}

function unknownName(name: string, prefix: string, names: ReadonlySet<string>, call: string) {
  const beside = [...names].filter((known) => known.startsWith(prefix));
  const known = [...new Set(beside.map((path) => path.slice(prefix.length).split(".")[0]!))];
  const near = nearest(name, known);
  return usageError(
    `${call}${prefix && `: ${prefix.slice(0, -1)}`} has no option "${name}"`,
    near === undefined ? `it has ${known.join(", ")}` : `did you mean ${near}?`,
  );
}
