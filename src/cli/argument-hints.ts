// Errors about names that are not known, with the name that was meant.
import { type UserError, usageError } from "../errors.ts";
import { nearest } from "../runtime/hints.ts";
import { type CommandSpec, commands } from "./command-table.ts";

/** `shown` is the option as typed, without a value; `argument` is where it stands, if several short ones do. */
export function unknownOption(command: CommandSpec, shown: string, argument = shown): UserError {
  const isLong = command.options.some(({ name }) => argument === `-${name}`);
  return usageError(`unknown option ${shown}`, isLong ? meant([`-${argument}`]) : optionHint(command, shown));
}

/** What other programs call it. */
const synonyms: Readonly<Record<string, string>> = {
  "--threads": "workers",
  "--jobs": "workers",
  "--num-threads": "workers",
  "--num-workers": "workers",
  "--j": "workers",
  "--cpus": "workers",
};

/** What to do instead of an option that was there once. */
const removedOptions: Readonly<Record<string, string>> = {
  "--superwords":
    "boundless superwords are gone; --superwords-from N learns superwords that tokenizer.json holds, too",
};

function optionHint(command: CommandSpec, shown: string): string {
  const typed = longName(shown);
  const known = (name: string | undefined) => command.options.some((option) => option.name === name);
  if (known(synonyms[typed])) return meant([`--${synonyms[typed]}`]);
  // The result as JSON, which some commands print; all tell it to the program that watches.
  if (typed === "--json" && known("progress")) return meant(["--progress json"]);
  const removed = removedOptions[typed];
  if (removed !== undefined && command.name === "train") return removed;
  // Of equally near options the one that people use more.
  const names = command.options
    .toSorted((a, b) => Number(a.rare ?? false) - Number(b.rare ?? false))
    .map(({ name }) => `--${name}`);
  const begun = names.filter((name) => name.startsWith(typed));
  if (begun.length === 1) return meant(begun);
  const others = commands.filter(({ options }) => options.some(({ name }) => `--${name}` === typed));
  if (others.length > 0) return `it is an option of ${others.map(({ name }) => `bpe ${name}`).join(", ")}`;
  if (begun.length > 1 && begun.length <= 4) return meant(begun.sort());
  const near = nearest(typed, names);
  return near === undefined ? `bpe ${command.name} --help lists the options` : meant([near]);
}

/** `-help`, `--min_frequency` and `--minFrequency` -> as a long option is spelled. */
const longName = (shown: string) =>
  `--${shown
    .replace(/^-+/, "")
    .replaceAll(/(?<=[a-z])[A-Z]/g, "-$&")
    .replaceAll("_", "-")
    .toLowerCase()}`;

const meant = (names: readonly string[]) => `did you mean ${names.join(" or ")}?`;

/** What to do instead of a command, in a place where only commands may stand. */
export function unknownCommand(typed: string): UserError {
  if (typed.startsWith("-")) return optionBeforeCommand(typed);
  const names = commands.map(({ name }) => name);
  const begun = names.filter((name) => typed !== "" && name.startsWith(typed));
  const near = begun.length === 1 ? begun[0] : nearest(typed, names);
  const hint = near === undefined ? "bpe help lists the commands" : `did you mean bpe ${near}?`;
  return usageError(`unknown command "${typed}"`, hint);
}

function optionBeforeCommand(typed: string): UserError {
  const shown = typed.replace(/=.*$/s, "");
  const option = longName(shown);
  const alone = ["--help", "--version"];
  const begun = alone.filter((name) => option.length > "--".length && name.startsWith(option));
  const taker = commands.find(({ options }) =>
    options.some(({ name, short }) => `--${name}` === option || `-${short}` === shown.slice(0, 2)),
  );
  const near = begun[0] ?? (taker === undefined ? nearest(option, alone) : undefined);
  if (near !== undefined) return usageError(`unknown option ${shown}`, meant([near]));
  const hint = taker === undefined ? "bpe help lists the commands" : `e.g. bpe ${taker.name} ${shown} …`;
  return usageError(`the command comes first, found ${shown}`, hint);
}
