import { kinds, type optionTables } from "#options";
import { patterns } from "#pattern";
import { messages } from "#runtime";
import { dataOutput, type Invocation, type Output } from "#terminal";
import { chatTemplateNames } from "#tokenizer";
import { commands, firstWords, secondWordsOf } from "./all-commands.ts";
import type { CommandSpec } from "./command-spec.ts";
import { commandGroups } from "./command-table.ts";
import { topicsOf } from "./help.ts";

const shells = ["bash", "zsh", "fish"] as const;

/** `bpe completions`: prints the script that lets a shell complete command lines of `bpe`. */
export async function runCompletions({ files }: Invocation, output: Output): Promise<void> {
  const shell = kinds.oneOf("completions", files[0]!, shells);
  await dataOutput.writeStdout(completionScript(shell));
  output.succeed("", { shell });
}

type Shell = (typeof shells)[number];

/** Returns the script for a shell. It contains all words that it offers, so completing does not start `bpe`. */
export const completionScript = (shell: Shell): string => scripts[shell]();

/**
 * The completions of an option's value or of an argument: words, and paths unless `path` is null. If `isList` is set, a
 * value may have several of the words, separated by commas.
 */
type Completed = {
  readonly words: readonly string[];
  readonly isList?: boolean;
  readonly path: "file" | "directory" | null;
};

/** The words that are suggested for options that also accept other values. */
const ownWords: Readonly<Record<string, readonly string[]>> = {
  pattern: [...Object.keys(patterns), "help"],
  "chat-template": chatTemplateNames,
};

const completionOf = ({
  name,
  kind: { words = ownWords[name] ?? [], value = "" },
}: optionTables.Option): Completed => ({
  words,
  isList: value === "LIST",
  path: /FILE|PATH/.test(value) ? "file" : value === "DIR" ? "directory" : null,
});

const operandOf = ({ fileWords = [] }: CommandSpec): Completed => ({
  words: fileWords,
  path: fileWords.length > 0 ? null : "file",
});

/** The words that are suggested after `bpe COMMAND --help` and `bpe help COMMAND`. */
const topicWords = (command: CommandSpec) => [...topicsOf(command), "all"].join(" ");

const firstNames = firstWords.join(" ");
const groups = Object.keys(commandGroups).map((name) => ({ name, words: secondWordsOf(name).join(" ") }));

/** The first words of commands, with descriptions. `help` and `version` are not among them. */
const firstPhrases = [
  ...commands.map(({ name, description }) => [name, description] as const),
  ...Object.entries(commandGroups),
].filter(([name]) => firstWords.includes(name));

/**
 * The function for bash 3.2 and later, without the package bash-completion.
 *
 * Before version 4, bash has no `compopt`, so a directory gets no slash, and files may be offered where only words fit.
 * Bash splits words at `=`, so `--compat=x` arrives as three words. If nothing is offered, bash completes file names
 * itself, unless `+o default` turns that off.
 */
const bashCompletion = (): string =>
  `# Completion of bpe for bash: source it, or put it into ~/.local/share/bash-completion/completions/bpe
_bpe() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} command=\${COMP_WORDS[1]} words= i
  COMPREPLY=()
  if [[ $cur == "=" ]]; then
    cur=
  elif [[ $prev == "=" ]]; then
    prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [[ $COMP_CWORD -eq 1 ]]; then
    _bpe_words "${firstNames} help version --help --version"
    return
  fi
  for ((i = 2; i < COMP_CWORD; i++)); do
    [[ \${COMP_WORDS[i]} == "--" ]] && return
  done
  case $command in
${groups.map(({ name, words }) => bashGroup(name, words, "command", 2)).join("\n")}
  esac
  case $command in
    help)
      _bpe_help
      ;;
${commands.map(bashCase).join("\n")}
  esac
}

_bpe_help() {
  if [[ $COMP_CWORD -eq 2 ]]; then
    _bpe_words "${firstNames}"
    return
  fi
  local asked=\${COMP_WORDS[2]} last=3
  case $asked in
${groups.map(({ name, words }) => bashGroup(name, words, "asked", 3)).join("\n")}
  esac
  [[ $COMP_CWORD -gt $last ]] && return
  case $asked in
${commands.map((command) => `    "${command.name}") _bpe_words "${topicWords(command)}" ;;`).join("\n")}
  esac
}

# Offers the given words that begin with what is typed, and no files.
_bpe_words() {
  compopt +o default 2>/dev/null
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

# Like _bpe_words, for a comma-separated list: leaves out words that are already in it.
_bpe_list() {
  local before= word rest=
  [[ $cur == *,* ]] && before=\${cur%,*},
  for word in $1; do
    [[ ,$before == *,$word,* ]] || rest+=" $before$word"
  done
  _bpe_words "$rest"
}

_bpe_directories() {
  compopt -o filenames +o default 2>/dev/null
  local IFS=$'\\n'
  COMPREPLY=($(compgen -d -- "$cur"))
}

complete -o default -F _bpe bpe
`;

/**
 * The case for a group, in the script for bash. It offers the second words of the group's commands. If the second word
 * is typed, it sets `variable` to both words.
 */
const bashGroup = (name: string, words: string, variable: string, at: number) => `    ${name})
      [[ $COMP_CWORD -eq ${at} ]] && _bpe_words "${words}" && return
      ${variable}="${name} \${COMP_WORDS[${at}]}" last=4
      ;;`;

function bashCase(command: CommandSpec): string {
  const { name, files, options } = command;
  const names = options.map((option) => `--${option.name}`).join(" ");
  const { words, path } = operandOf(command);
  const takesFiles = files !== "" && path === "file";
  return `    "${name}")
      case $prev in
        --help | -h) [[ $cur != -* ]] && _bpe_words "${topicWords(command)}" && return ;;
${valueCases(options).join("\n")}
      esac
      if [[ $cur == -* ]]; then
        _bpe_words "${names}"
${takesFiles ? "" : `      else\n        _bpe_words "${words.join(" ")}"\n`}      fi
      ;;`;
}

/** Returns the cases for the values of options. Options with the same completion share a case. */
function valueCases(options: readonly optionTables.Option[]): string[] {
  const valued = options.filter(({ kind }) => kind.value !== undefined);
  return [...Map.groupBy(valued, (option) => bashOffer(completionOf(option)))].map(
    ([offered, alike]) => `        ${alike.map(spellings).join(" | ")}) ${offered} return ;;`,
  );
}

const spellings = ({ name, short }: optionTables.Option) =>
  short === undefined ? `--${name}` : `--${name} | -${short}`;

/**
 * Returns the shell command that offers a value's completions, with a semicolon; "" if bash is to complete file names
 * itself.
 */
function bashOffer({ words, isList, path }: Completed): string {
  if (path === "directory") return "_bpe_directories;";
  if (path === "file" && words.length === 0) return "";
  const list = words.join(" ");
  if (isList) return `_bpe_list "${list}";`;
  // A word or a file: bash completes the file if no word matches.
  return path === "file" ? `COMPREPLY=($(compgen -W "${list}" -- "$cur"));` : `_bpe_words "${list}";`;
}

/** The function for zsh's completion system. */
const zshCompletion = (): string => `#compdef bpe
# Completion of bpe for zsh: put it into a directory of fpath as _bpe.

_bpe() {
  local curcontext="$curcontext" state line
  typeset -A opt_args
  _arguments -C -A '-*' \\
    '(- *)'{-h,--help}'[show help]' \\
    '(- *)'{-v,--version}'[show versions]' \\
    '1: :_bpe_commands' \\
    '*:: :->arguments'
  [[ $state == arguments ]] || return
  curcontext="\${curcontext%:*:*}:bpe-$line[1]:"
  local command=$line[1]
  case $command in
${groups.map(({ name, words }) => `    ${name})\n      (( CURRENT == 2 )) && compadd ${words} && return\n      command="${name} $words[2]"\n      shift words\n      (( CURRENT-- ))\n      ;;`).join("\n")}
  esac
  case $command in
    help)
      _arguments '1: :_bpe_commands' '2: :{_bpe_topics $words[2]}' '3: :{_bpe_topics "$words[2] $words[3]"}'
      ;;
${commands.map(zshCase).join("\n")}
  esac
}

_bpe_commands() {
  local -a commands=(
${firstPhrases.map(([name, phrase]) => `    ${zshQuoted(`${name}:${phrase}`)}`).join("\n")}
    'help:the options of a command, or a topic of them'
    'version:the versions of bpe and Bun, and the commit'
  )
  _describe command commands
}

_bpe_topics() {
  case $1 in
${groups.map(({ name, words }) => `    ${name}) compadd ${words} ;;`).join("\n")}
${commands.map((command) => `    "${command.name}") compadd ${topicWords(command)} ;;`).join("\n")}
  esac
}

if [[ $funcstack[1] == _bpe ]]; then
  _bpe "$@"
else
  compdef _bpe bpe
fi
`;

function zshCase(command: CommandSpec): string {
  const { name, files, options } = command;
  const specs = options.map((option) => zshOption(option, command));
  if (files !== "") specs.push(`'*:${files.replace(/[<>.]/g, "")}:${zshAction(operandOf(command))}'`);
  return `    "${name}")
      _arguments -s -S \\
        ${specs.join(" \\\n        ")}
      ;;`;
}

/** Returns zsh's specification of an option: `'(-n --vocab-size)'{-n+,--vocab-size=}'[vocabulary size]:N: '` */
function zshOption(option: optionTables.Option, command: CommandSpec): string {
  const { name, short, description } = option;
  const { repeatable, value } = option.kind;
  if (name === "help")
    return `'(-h --help)'{-h,--help}'[${zshBracketed(messages.spell(description))}]:topic:(${topicWords(command)})'`;
  const [mark, suffix] = value === undefined ? ["", ""] : ["+", "="];
  const long = `--${name}${suffix}`;
  const names = short === undefined ? long : `{-${short}${mark},${long}}`;
  const others = short === undefined ? `--${name}` : `-${short} --${name}`;
  const excluded = repeatable ? "'*'" : `'(${others})'`;
  const taken =
    value === undefined ? "" : `:${value.replaceAll(":", "\\:")}:${zshAction(completionOf(option))}`;
  return `${excluded}${names}'[${zshBracketed(messages.spell(description))}]${taken}'`;
}

function zshAction({ words, isList, path }: Completed): string {
  const list = words.join(" ");
  if (path === "directory") return "_files -/";
  if (words.length === 0) return path === "file" ? "_files" : " ";
  if (isList) return `{_values -s , word ${list}}`;
  return path === "file" ? `{_alternative "words\\:word\\:(${list})" "files\\:file\\:_files"}` : `(${list})`;
}

/** Escapes text that is between the brackets of a specification, inside quotes. */
const zshBracketed = (text: string) => text.replace(/[[\]:\\]/g, "\\$&").replaceAll("'", "'\\''");

const zshQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Returns fish's `complete` commands for `bpe` itself, for each of its commands, and for their options. */
function fishCompletion(): string {
  const alone = `"not __fish_seen_subcommand_from ${firstNames} help version"`;
  return `# Completion of bpe for fish: put it into ~/.config/fish/completions/bpe.fish
complete -c bpe -f
complete -c bpe -n ${alone} -s h -l help -d 'show help'
complete -c bpe -n ${alone} -s v -l version -d 'show versions'
complete -c bpe -n ${alone} -a help -d 'the options of a command, or a topic of them'
complete -c bpe -n ${alone} -a version -d 'the versions of bpe and Bun, and the commit'
complete -c bpe -n "__fish_seen_subcommand_from help; and not __fish_seen_subcommand_from ${firstNames}" -a '${firstNames}'
${firstPhrases.map(([name, phrase]) => `complete -c bpe -n ${alone} -a ${name} -d ${fishQuoted(phrase)}`).join("\n")}
${groups.map(fishGroup).join("\n")}
${commands.map(fishLines).join("\n")}
`;
}

const fishGroup = ({ name, words }: (typeof groups)[number]) =>
  `complete -c bpe -n "__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${words}" -a '${words}'`;

function fishLines(command: CommandSpec): string {
  const { name, files, options } = command;
  const topics = topicWords(command);
  const seen = name
    .split(" ")
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join("; and ");
  // Some second words of a group, such as `encode` in `ids encode`, are also commands of their own.
  const others = name.includes(" ") ? "" : ` ${Object.keys(commandGroups).join(" ")}`;
  const begin = `complete -c bpe -n "${seen}; and not __fish_seen_subcommand_from help${others}"`;
  const notOther = others && `; and not __fish_seen_subcommand_from${others}`;
  return [
    `\n# bpe ${name}`,
    `complete -c bpe -n "__fish_seen_subcommand_from help; and ${seen}${notOther}" -a '${topics}'`,
    `${begin.replace("; and not", "; and contains -- (commandline -opc)[-1] -h --help; and not")} -a '${topics}'`,
    ...(files === "" ? [] : [`${begin}${valueFlags(operandOf(command), false)}`]),
    ...options.map((option) => `${begin}${optionFlags(option)}`),
  ].join("\n");
}

function optionFlags(option: optionTables.Option): string {
  const { name, short, description } = option;
  const names = `${short === undefined ? "" : ` -s ${short}`} -l ${name}`;
  return `${names} -d ${fishQuoted(messages.spell(description))}${option.kind.value === undefined ? "" : valueFlags(completionOf(option), true)}`;
}

/** fish's flags for a value. -x: the value is not a file; -r -F: it is a file; -a: these words are suggested. */
function valueFlags({ words, isList, path }: Completed, isOption: boolean): string {
  const list = words.join(" ");
  const takes = path === "file" ? `${isOption ? " -r" : ""} -F` : isOption ? " -x" : "";
  if (path === "directory") return `${takes} -a '(__fish_complete_directories)'`;
  if (words.length === 0) return takes;
  return `${takes} -a '${isList ? `(__fish_complete_list , "string split \\" \\" ${list}")` : list}'`;
}

const fishQuoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
