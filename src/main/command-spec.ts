import type { optionTables } from "#options";
import type { commands } from "#terminal";

/** A command with its options as a list. */
export type CommandSpec = Omit<commands.Command, "options"> & {
  readonly options: readonly optionTables.Option[];
};

/** Returns the usage line: the command, its arguments and its required options. */
export function usageLine({ name, files, options }: CommandSpec): string {
  const required = options
    .filter((option) => option.required)
    .map(({ name, short, kind }) => `${short === undefined ? `--${name}` : `-${short}`} ${kind.value}`);
  return ["bpe", name, files, ...required, "[options]"].filter((part) => part !== "").join(" ");
}
