import {
  asOption,
  type Message,
  messages,
  nearest,
  phrase,
  shell,
  type UserError,
  usageError,
} from "#runtime";
import type { Invocation } from "#terminal";
import { commands, firstWords, secondWordsOf } from "./all-commands.ts";
import { named } from "./arguments.ts";
import type { CommandSpec } from "./command-spec.ts";

// Errors about unknown commands and options, with suggestions. This file is loaded on demand, because suggestions need
// all commands.

/**
 * Returns the error for an unknown option. `shown` is the option as typed, without its value. For a short option,
 * `argument` is the whole argument: one or several short options, or a long one that was typed with a single dash.
 */
export function unknownOption(command: CommandSpec, shown: string, argument = shown): UserError {
  const isLong = command.options.some(({ name }) => argument === `-${name}`);
  return usageError(
    phrase`unknown option ${named(shown)}`,
    isLong ? suggest([`-${argument}`]) : optionHint(command, shown),
  );
}

/** Names that other programs have for our options. */
const synonyms: Readonly<Record<string, string>> = {
  "--threads": "workers",
  "--jobs": "workers",
  "--num-threads": "workers",
  "--num-workers": "workers",
  "--j": "workers",
  "--cpus": "workers",
  "--bos-token": "bos",
  "--eos-token": "eos",
  "--pad-token": "pad",
  "--unk-token": "unk",
};

function optionHint(command: CommandSpec, shown: string): Message {
  const typed = longName(shown);
  const known = (name: string | undefined) => command.options.some((option) => option.name === name);
  if (known(synonyms[typed])) return suggest([`--${synonyms[typed]}`]);
  // A command without an option --json writes its result as JSON if `--progress json` is given.
  if (typed === "--json" && known("progress")) return phrase`did you mean ${asOption("progress", "json")}?`;
  // If several options are equally similar to what was typed, the more common one is suggested.
  const names = command.options
    .toSorted((a, b) => Number(a.rare ?? false) - Number(b.rare ?? false))
    .map(({ name }) => `--${name}`);
  if (names.includes(typed)) return suggest([typed]);
  const begun = names.filter((name) => name.startsWith(typed));
  if (begun.length === 1) return suggest(begun);
  // What was typed may be the end of a name: `--format` may mean `--ids-format`.
  const ended = names.filter((name) => name.endsWith(typed.slice(1)));
  if (ended.length > 0 && ended.length <= 2) return suggest(ended);
  const others = commands.filter(({ options }) => options.some(({ name }) => `--${name}` === typed));
  if (others.length > 0) return `it is an option of ${others.map(({ name }) => `bpe ${name}`).join(", ")}`;
  if (begun.length > 1 && begun.length <= 4) return suggest(begun.sort());
  const near = nearest(typed, names);
  return near === undefined ? `bpe ${command.name} --help lists the options` : suggest([near]);
}

/** Spells an option as a long one: `-help`, `--pad_to` and `--padTo` become `--help` and `--pad-to`. */
const longName = (shown: string) =>
  `--${shown
    .replace(/^-+/, "")
    .replaceAll(/(?<=[a-z])[A-Z]/g, "-$&")
    .replaceAll("_", "-")
    .toLowerCase()}`;

const suggest = (names: readonly string[]) =>
  phrase`did you mean ${messages.joined(names.map(named), " or ")}?`;

/** Returns the error for `--input-format ids`, which earlier versions of `train` and `encode` had. */
export function idsAsFormat({ name }: CommandSpec, { typed }: Invocation): UserError {
  const rest = typed.filter(
    (word, i) =>
      !/^--input-format(=ids)?$/.test(word) && !(word === "ids" && typed[i - 1] === "--input-format"),
  );
  const isCommand = commands.some((command) => command.name === `ids ${name}`);
  return usageError(
    "--input-format ids was removed: ids have their own commands",
    isCommand
      ? `use ${shell.line(["bpe", "ids", name, ...rest])}`
      : "see the list of these commands: bpe ids",
  );
}

export function unknownCommand(typed: string, group?: string): UserError {
  if (group === undefined && /^-./s.test(typed)) return optionBeforeCommand(typed);
  const names = group === undefined ? firstWords : secondWordsOf(group);
  const begun = names.filter((name) => typed !== "" && name.startsWith(typed));
  const near = begun.length === 1 ? begun[0] : nearest(typed, names);
  const before = group === undefined ? "" : `${group} `;
  const other = group === undefined && Object.hasOwn(otherNames, typed) ? otherNames[typed] : undefined;
  const hint =
    other ??
    (near === undefined ? `bpe help ${before}lists the commands` : `did you mean bpe ${before}${near}?`);
  return usageError(`unknown command "${before}${typed}"`, hint);
}

/** Other words for what commands do. */
const otherNames: Readonly<Record<string, string>> = {
  compare: "bpe eval compares tokenizers on texts, bpe diff their tokens and merges",
  extend: "bpe train --extend TOKENIZER adds tokens",
  serve: "the C library, npm and Python encode in their own process: bpe help docs/encode.md",
  tokenize: "bpe encode turns text into ids, bpe explain shows how",
};

function optionBeforeCommand(typed: string): UserError {
  const shown = typed.replace(/=.*$/s, "");
  const option = longName(shown);
  const alone = ["--help", "--version"];
  const begun = alone.filter((name) => option.length > "--".length && name.startsWith(option));
  const taker = commands.find(({ options }) =>
    options.some(({ name, short }) => `--${name}` === option || `-${short}` === shown.slice(0, 2)),
  );
  if (taker !== undefined && begun.length === 0)
    return usageError(`the command must come before ${shown}`, `e.g. bpe ${taker.name} ${shown} …`);
  const command = option.slice("--".length);
  if (firstWords.includes(command))
    return usageError(`unknown option ${shown}`, `did you mean bpe ${command}?`);
  const near = begun[0] ?? nearest(option, alone);
  const hint = near === undefined ? "give a command first; bpe help lists the commands" : suggest([near]);
  return usageError(`unknown option ${shown}`, hint);
}
