import type { CompletedCommand, CompletedOption, CompletedValue } from "./completed-commands.ts";

/**
 * A function for bash 3.2 and later, without the package bash-completion; before version 4, directories get no slash. `=`
 * ends a word on its command line, so `--compat=x` comes as three words. Where nothing is offered bash completes file
 * names itself, unless `+o default` says that none can stand there.
 */
export const bashCompletion = (commands: readonly CompletedCommand[]): string =>
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
    _bpe_words "${[...commands.map(({ name }) => name), "help", "version", "--help", "--version"].join(" ")}"
    return
  fi
  for ((i = 2; i < COMP_CWORD; i++)); do
    [[ \${COMP_WORDS[i]} == "--" ]] && return
  done
  case $command in
    help)
      _bpe_help
      ;;
${commands.map(commandCase).join("\n")}
  esac
}

_bpe_help() {
  if [[ $COMP_CWORD -eq 2 ]]; then
    _bpe_words "${commands.map(({ name }) => name).join(" ")}"
    return
  fi
  case \${COMP_WORDS[2]} in
${commands.map(({ name, topics }) => `    ${name}) [[ $COMP_CWORD -eq 3 ]] && _bpe_words "${topics.join(" ")}" ;;`).join("\n")}
  esac
}

# Offers those of some words that begin with what is typed, and no files.
_bpe_words() {
  compopt +o default 2>/dev/null
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

# The same for words with commas between, each of them once.
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

function commandCase({ name, options, operand, topics }: CompletedCommand): string {
  const names = options.map((option) => `--${option.name}`).join(" ");
  const words = operand === null ? "" : operand.words.join(" ");
  const takesFiles = operand?.path === "file";
  return `    ${name})
      case $prev in
        --help | -h) [[ $cur != -* ]] && _bpe_words "${topics.join(" ")}" && return ;;
${valueCases(options).join("\n")}
      esac
      if [[ $cur == -* ]]; then
        _bpe_words "${names}"
${takesFiles ? "" : `      else\n        _bpe_words "${words}"\n`}      fi
      ;;`;
}

/** What may stand behind the options: a case for all of which that is the same. */
function valueCases(options: readonly CompletedOption[]): string[] {
  const valued = options.filter((option) => option.value !== null);
  return [...Map.groupBy(valued, ({ value }) => offer(value!))].map(
    ([offered, alike]) => `        ${alike.map(spellings).join(" | ")}) ${offered} return ;;`,
  );
}

const spellings = ({ name, short }: CompletedOption) =>
  short === undefined ? `--${name}` : `--${name} | -${short}`;

/** Commands of the shell, each with a semicolon; none leaves it to bash, which completes file names. */
function offer({ words, isList, path }: CompletedValue): string {
  if (path === "directory") return "_bpe_directories;";
  if (path === "file" && words.length === 0) return "";
  const list = words.join(" ");
  if (isList) return `_bpe_list "${list}";`;
  // A word or a file: bash completes the file if no word fits.
  return path === "file" ? `COMPREPLY=($(compgen -W "${list}" -- "$cur"));` : `_bpe_words "${list}";`;
}
