import { sharedOptions } from "#options";
import type { commands } from "#terminal";
import type { CommandSpec } from "./command-spec.ts";

const completions: commands.Command = {
  name: "completions",
  files: "<shell>",
  filesDescription: "bash, zsh or fish",
  fileWords: ["bash", "zsh", "fish"],
  description: "print completions for a shell",
  details: "Prints a script for a shell, which then completes commands, options and their values.",
  options: sharedOptions.common,
  examples: [
    {
      what: "bash, for this user",
      command: "bpe completions bash > ~/.local/share/bash-completion/completions/bpe",
    },
    { what: "zsh, in a directory of its fpath", command: "bpe completions zsh > ~/.zfunc/_bpe" },
    { what: "fish", command: "bpe completions fish > ~/.config/fish/completions/bpe.fish" },
  ],
};

/** Commands that are loaded together. A run loads them if its command line begins with one of `words`. */
type Feature = {
  readonly words: readonly string[];
  readonly load: () => Promise<readonly commands.Command[]>;
};

/** The features. Help lists their commands in this order, and after them the groups. */
const features: readonly Feature[] = [
  { words: ["train", "count"], load: async () => (await import("#train/train-commands")).trainCommands },
  { words: ["plan"], load: async () => [(await import("#encode/plan-commands")).planCommand] },
  {
    words: ["encode", "tokens", "decode"],
    load: async () => (await import("#encode/encode-commands")).encodeCommands,
  },
  {
    words: ["eval", "diff", "inspect", "explain"],
    load: async () => (await import("#evaluate/evaluate-commands")).evaluateCommands,
  },
  { words: ["doctor", "verify"], load: async () => (await import("#doctor/doctor-commands")).doctorCommands },
  {
    words: ["prune", "truncate", "convert"],
    load: async () => (await import("#edit/edit-commands")).editCommands,
  },
  { words: ["ids"], load: async () => (await import("#encode/ids-commands")).idsCommands },
  { words: ["image"], load: async () => [(await import("#edit/edit-commands")).imageCommand] },
  {
    words: ["playground"],
    load: async () => [(await import("#playground/playground-commands")).playgroundCommand],
  },
  { words: ["completions"], load: async () => [completions] },
];

/** Descriptions of the groups of two-word commands (such as `ids train`), keyed by the first word. */
export const commandGroups = {
  ids: "learn merges over ids; truncate, join, check ids",
} as const;

const specsOf = async ({ load }: Feature): Promise<CommandSpec[]> =>
  (await load()).map((command) => ({ ...command, options: Object.values(command.options) }));

/** Returns the command that the first words name, and the remaining arguments; undefined if they name no command. */
export async function findCommandIn(
  typed: readonly string[],
): Promise<{ command: CommandSpec; rest: string[] } | undefined> {
  const feature = features.find(({ words }) => words.includes(typed[0]!));
  const commands = feature === undefined ? [] : await specsOf(feature);
  const command = commands.find(({ name }) => name.split(" ").every((word, i) => word === typed[i]));
  return command && { command, rest: typed.slice(command.name.split(" ").length) };
}

/** Loads all commands, in the order of `features`. */
export const loadCommands = async (): Promise<readonly CommandSpec[]> =>
  (await Promise.all(features.map(specsOf))).flat();
