// What a shell needs to know of the commands: what may stand behind each option.
import type { CommandSpec } from "./command-table.ts";
import { topicsOf } from "./help.ts";
import type { OptionSpec } from "./option-table.ts";

/** What a value is: words of a list, one or several with commas between, and what is a path. */
export type CompletedValue = {
  /** As help calls it. */
  readonly name: string;
  readonly words: readonly string[];
  readonly isList: boolean;
  readonly path: "file" | "directory" | null;
};

export type CompletedOption = {
  readonly name: string;
  readonly short: string | undefined;
  readonly description: string;
  readonly repeatable: boolean;
  /** Null: a flag. */
  readonly value: CompletedValue | null;
};

export type CompletedCommand = {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** What stands beside the options; null: nothing. */
  readonly operand: CompletedValue | null;
  /** What `--help` and `bpe help` take behind them. */
  readonly topics: readonly string[];
};

/** `names` has words for options whose value is one of them or something else, by the option's name. */
export function completedCommands(
  commands: readonly CommandSpec[],
  names: Readonly<Record<string, readonly string[]>>,
): CompletedCommand[] {
  return commands.map((command) => {
    const { name, description, files, fileWords = [], options } = command;
    const path = fileWords.length > 0 ? null : "file";
    return {
      name,
      description,
      options: options.map((option) => completedOption(option, names)),
      operand: files === "" ? null : { name: files, words: fileWords, isList: false, path },
      topics: [...topicsOf(command), "all"],
    };
  });
}

function completedOption(
  option: OptionSpec,
  names: Readonly<Record<string, readonly string[]>>,
): CompletedOption {
  const { name, short, description, repeatable = false, value } = option;
  return {
    name,
    short,
    description,
    repeatable,
    value: value === undefined ? null : completedValue(option, value, names),
  };
}

function completedValue(
  { name, words }: OptionSpec,
  value: string,
  names: Readonly<Record<string, readonly string[]>>,
): CompletedValue {
  return {
    name: value,
    words: words ?? names[name] ?? [],
    isList: value === "LIST",
    path: /FILE|PATH/.test(value) ? "file" : value === "DIR" ? "directory" : null,
  };
}
