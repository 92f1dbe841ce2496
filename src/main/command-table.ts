import { doctorCommands } from "#doctor";
import { editCommands, imageCommand } from "#edit";
import { encodeCommands, idsCommands, planCommand } from "#encode";
import { evaluateCommands } from "#evaluate";
import { commonOptions } from "#options";
import { playgroundCommand } from "#playground";
import type { Command, CommandSpec } from "#terminal";
import { trainCommands } from "#train";

const completions: Command = {
  name: "completions",
  files: "<shell>",
  filesDescription: "bash, zsh or fish",
  fileWords: ["bash", "zsh", "fish"],
  description: "print completions for a shell",
  details: "Prints a script for a shell, which then completes commands, options and their values.",
  options: commonOptions,
  examples: [
    {
      what: "bash, for this user",
      command: "bpe completions bash > ~/.local/share/bash-completion/completions/bpe",
    },
    { what: "zsh, in a directory of its fpath", command: "bpe completions zsh > ~/.zfunc/_bpe" },
    { what: "fish", command: "bpe completions fish > ~/.config/fish/completions/bpe.fish" },
  ],
};

/** All commands, in the order of help. */
export const commands: readonly CommandSpec[] = [
  ...trainCommands,
  planCommand,
  ...encodeCommands,
  ...evaluateCommands,
  ...doctorCommands,
  ...editCommands,
  ...idsCommands,
  imageCommand,
  playgroundCommand,
  completions,
].map((command) => ({ ...command, options: Object.values(command.options) }));

/** What the commands with two words are for, by their first word. */
export const commandGroups = {
  ids: "learn merges over ids; truncate, join, check ids",
} as const;

export const commandsOf = (group: string) => commands.filter(({ name }) => name.startsWith(`${group} `));

export const secondWordsOf = (group: string) =>
  commandsOf(group).map(({ name }) => name.slice(group.length + 1));

/** The words that may follow `bpe`: commands and groups of them. */
export const firstWords = [
  ...commands.map(({ name }) => name).filter((name) => !name.includes(" ")),
  ...Object.keys(commandGroups),
];
