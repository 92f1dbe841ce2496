import type { CompletedCommand, CompletedOption, CompletedValue } from "./completed-commands.ts";

/** Commands for fish, one for each command and option. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  const alone = `"not __fish_seen_subcommand_from ${names} help version"`;
  return `# Completion of bpe for fish: put it into ~/.config/fish/completions/bpe.fish
complete -c bpe -f
complete -c bpe -n ${alone} -s h -l help -d 'show help'
complete -c bpe -n ${alone} -s v -l version -d 'show versions'
complete -c bpe -n ${alone} -a help -d 'the options of a command, or a topic of them'
complete -c bpe -n ${alone} -a version -d 'the versions of bpe and Bun, and the commit'
complete -c bpe -n "__fish_seen_subcommand_from help; and not __fish_seen_subcommand_from ${names}" -a '${names}'
${commands.map((command) => linesOf(command, alone)).join("\n")}
`;
}

function linesOf({ name, description, options, operand, topics }: CompletedCommand, alone: string): string {
  const begin = `complete -c bpe -n "__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from help"`;
  return [
    `\n# bpe ${name}`,
    `complete -c bpe -n ${alone} -a ${name} -d ${quoted(description)}`,
    `complete -c bpe -n "__fish_seen_subcommand_from help; and __fish_seen_subcommand_from ${name}" -a '${topics.join(" ")}'`,
    `${begin.replace("; and not", "; and contains -- (commandline -opc)[-1] -h --help; and not")} -a '${topics.join(" ")}'`,
    ...(operand === null ? [] : [`${begin}${valueFlags(operand, false)}`]),
    ...options.map((option) => `${begin}${optionFlags(option)}`),
  ].join("\n");
}

function optionFlags({ name, short, description, value }: CompletedOption): string {
  const names = `${short === undefined ? "" : ` -s ${short}`} -l ${name}`;
  return `${names} -d ${quoted(description)}${value === null ? "" : valueFlags(value, true)}`;
}

/** -x: a value that is no file; -r -F: a file; -a: what it may be. */
function valueFlags({ words, isList, path }: CompletedValue, isOption: boolean): string {
  const list = words.join(" ");
  const takes = path === "file" ? `${isOption ? " -r" : ""} -F` : isOption ? " -x" : "";
  if (path === "directory") return `${takes} -a '(__fish_complete_directories)'`;
  if (words.length === 0) return takes;
  return `${takes} -a '${isList ? `(__fish_complete_list , "string split \\" \\" ${list}")` : list}'`;
}

const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
