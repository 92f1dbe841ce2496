import type { CompletedCommand, CompletedOption, CompletedValue } from "./completed-commands.ts";

/** A function for zsh's completion system. */
export const zshCompletion = (commands: readonly CompletedCommand[]): string => `#compdef bpe
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
  case $line[1] in
    help)
      _arguments '1: :_bpe_commands' '2: :{_bpe_topics $words[2]}'
      ;;
${commands.map(commandCase).join("\n")}
  esac
}

_bpe_commands() {
  local -a commands=(
${commands.map(({ name, description }) => `    ${quoted(`${name}:${description}`)}`).join("\n")}
    'help:the options of a command, or a topic of them'
    'version:the versions of bpe and Bun, and the commit'
  )
  _describe command commands
}

_bpe_topics() {
  case $1 in
${commands.map(({ name, topics }) => `    ${name}) compadd ${topics.join(" ")} ;;`).join("\n")}
  esac
}

if [[ $funcstack[1] == _bpe ]]; then
  _bpe "$@"
else
  compdef _bpe bpe
fi
`;

function commandCase({ name, options, operand, topics }: CompletedCommand): string {
  const specs = [...options.map((option) => optionSpec(option, topics)), ...operandSpec(operand)];
  return `    ${name})
      _arguments -s -S \\
        ${specs.join(" \\\n        ")}
      ;;`;
}

/** `'(-n --vocab-size)'{-n+,--vocab-size=}'[all tokens]:N:'` */
function optionSpec(
  { name, short, description, repeatable, value }: CompletedOption,
  topics: readonly string[],
): string {
  if (name === "help")
    return `'(-h --help)'{-h,--help}'[${bracketed(description)}]:topic:(${topics.join(" ")})'`;
  const [before, behind] = value === null ? ["", ""] : ["+", "="];
  const long = `--${name}${behind}`;
  const names = short === undefined ? long : `{-${short}${before},${long}}`;
  const others = short === undefined ? `--${name}` : `-${short} --${name}`;
  const excluded = repeatable ? "'*'" : `'(${others})'`;
  return `${excluded}${names}'[${bracketed(description)}]${value === null ? "" : `:${value.name}:${action(value)}`}'`;
}

const operandSpec = (operand: CompletedValue | null) =>
  operand === null ? [] : [`'*:${operand.name.replace(/[<>.]/g, "")}:${action(operand)}'`];

function action({ words, isList, path }: CompletedValue): string {
  const list = words.join(" ");
  if (path === "directory") return "_files -/";
  if (words.length === 0) return path === "file" ? "_files" : " ";
  if (isList) return `{_values -s , word ${list}}`;
  return path === "file" ? `{_alternative "words\\:word\\:(${list})" "files\\:file\\:_files"}` : `(${list})`;
}

/** Text between the brackets of a specification, within quotes. */
const bracketed = (text: string) => text.replace(/[[\]:\\]/g, "\\$&").replaceAll("'", "'\\''");

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
