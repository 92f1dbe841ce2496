import { patterns } from "../pattern/pattern.ts";
import { chatTemplates } from "../vocabulary/chat-templates.ts";
import type { Invocation } from "./arguments.ts";
import { bashCompletion } from "./bash-completion.ts";
import { commands } from "./command-table.ts";
import { completedCommands } from "./completed-commands.ts";
import { fishCompletion } from "./fish-completion.ts";
import { oneOf } from "./option-values.ts";
import type { Output } from "./output.ts";
import { writeStdout } from "./stream-writer.ts";
import { zshCompletion } from "./zsh-completion.ts";

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
const shells = ["bash", "zsh", "fish"] as const;

/** `bpe completions`: the script that lets a shell complete command lines of `bpe`. */
export async function runCompletions({ files }: Invocation, output: Output): Promise<void> {
  const shell = oneOf("completions", files[0]!, shells);
  await writeStdout([Buffer.from(completionScript(shell))]);
  output.succeed("", { shell });
}

export type Shell = (typeof shells)[number];

/** The script for a shell. It holds all that it completes, and starts nothing. */
export function completionScript(shell: Shell): string {
  const names = { pattern: [...Object.keys(patterns), "help"], "chat-template": Object.keys(chatTemplates) };
  return scripts[shell](completedCommands(commands, names));
}
