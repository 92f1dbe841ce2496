import { commandGroups, loadCommands } from "./command-table.ts";

// This module is loaded on demand: for help, for completions, and to explain mistakes. Other runs do not need all
// commands.

/** All commands, in the order of the features in command-table.ts. */
export const commands = await loadCommands();

export const commandsOf = (group: string) => commands.filter(({ name }) => name.startsWith(`${group} `));

export const secondWordsOf = (group: string) =>
  commandsOf(group).map(({ name }) => name.slice(group.length + 1));

/** The words that may follow `bpe`, except `help` and `version`: commands and groups of commands. */
export const firstWords = [
  ...commands.map(({ name }) => name).filter((name) => !name.includes(" ")),
  ...Object.keys(commandGroups),
];
