import { optionTables } from "#options";
import { namedPatterns } from "#pattern";
import { type Message, messages, nearest, usageError } from "#runtime";
import { styling } from "#terminal";
import { commands, commandsOf, firstWords } from "./all-commands.ts";
import { type CommandSpec, usageLine } from "./command-spec.ts";
import { commandGroups } from "./command-table.ts";
import { unknownOption } from "./mistakes.ts";

// The pages of help, wrapped to the terminal.

/** The maximum width of a page. Longer lines are hard to read on any terminal. */
const columnsMax = 120;

/** The number of lines that the page of a command should not exceed. */
const screenLines = 24;

/** Returns the page to write to: as wide as the terminal, but at most `columnsMax`. */
const ownPage = (): Page => ({
  columns: Math.min(columnsMax, styling.terminalColumns(1)),
  styles: styling.stylesFor(1),
});

/**
 * Returns the help of the program, or of `command`: a group's name or a command. With `about`, returns the full help of
 * a topic of that command, of all topics (`all`), or of an option.
 */
export function helpText(command?: CommandSpec | string, about?: string): string {
  const page = ownPage();
  if (command === undefined) return programHelp(page);
  if (typeof command === "string") return groupHelp(command, page);
  if (about === undefined) return commandHelp(command, page);
  const option = about in optionTables.topics || about === "all" ? undefined : findOption(command, about);
  return option === undefined ? topicHelp(command, about, page) : optionHelp(command, option, page);
}

/** The width of a page, and the styles of its text. */
type Page = { readonly columns: number; readonly styles: styling.Styles };

export function programHelp(page: Page): string {
  const { styles } = page;
  const rows = rowsOf(commands.filter(({ name }) => firstWords.includes(name)));
  const groups = Object.entries(commandGroups).map(([name, text]) => ({ label: `${name} <command>`, text }));
  const others = [
    { label: "help [command] [topic]", text: "more about it; help docs: the manual; --version" },
  ];
  return joinLines([
    ...wrap("bpe learns byte-level BPE tokenizers from text, and encodes with any of them.", page),
    `${styles.bold("Usage:")} bpe <command> [options]`,
    "",
    ...table([...rows, ...groups, ...others], page),
    ...wrapCommand(commands[0]!.examples[0]!.command, page.columns),
  ]);
}

const rowsOf = (commands: readonly CommandSpec[]): Row[] =>
  commands.map(({ name, files, description }) => ({ label: `${name} ${files}`, text: description }));

/** Lists the commands of a group. */
function groupHelp(group: string, page: Page): string {
  const own = commandsOf(group);
  return joinLines([
    `${page.styles.bold("Usage:")} bpe ${group} <command> [options]`,
    "",
    page.styles.bold("Commands"),
    ...table(rowsOf(own), page),
    "",
    page.styles.bold("Examples"),
    ...own.flatMap(({ examples }) => exampleLines(examples, page)),
  ]);
}

/**
 * Shows the options of a command that are not rare, its details (if it has none, its short description), and as many
 * examples as fit a screen. If not even one fits, shows the short description and one example.
 */
export function commandHelp(command: CommandSpec, page: Page): string {
  const { description, details, examples } = command;
  const shown = topicsOf(command).flatMap((topic) =>
    command.options.filter((option) => option.topic === topic && !option.rare),
  );
  const pageOf = (about: string, count: number) => [
    ...usage(command, page),
    "",
    ...wrap(about, page),
    "",
    ...table([...filesRow(command), ...shown.map(row)], page, labelColumns(command)),
    "",
    ...wrap(
      `bpe help ${command.name} TOPIC: ${[...topicsOf(command), "all"].join(", ")}, or an option`,
      page,
    ),
    "",
    ...exampleSection(examples.slice(0, count), page),
  ];
  const phrase = makeSentences(description);
  const pages = [
    ...examples.map((_, i) => pageOf(details ?? phrase, examples.length - i)),
    pageOf(phrase, 1),
  ];
  return joinLines(pages.find(({ length }) => length <= screenLines) ?? pages.at(-1)!);
}

const row = (option: optionTables.Option): Row => ({
  label: label(option),
  text: `${messages.spell(option.description)}${option.default === undefined ? "" : ` (default: ${messages.spell(option.default)})`}`,
});

const filesRow = ({ files, filesDescription }: CommandSpec): Row[] =>
  filesDescription === undefined ? [] : [{ label: files, text: filesDescription }];

/**
 * The width of the column of labels in `commandHelp`. A longer label pushes its own description to the right, or to the
 * next line.
 */
const labelColumns = ({ options }: CommandSpec): number =>
  Math.min(
    labelColumnsMax,
    Math.max(...options.filter(({ rare }) => !rare).map((option) => label(option).length)),
  );

const labelColumnsMax = 24;

/** Shows everything about the options of a topic, or of all topics (`all`). */
export function topicHelp(command: CommandSpec, name: string, page: Page): string {
  const { styles } = page;
  const own = topicsOf(command);
  const chosen = name === "all" ? own : own.filter((topic) => topic === name);
  if (chosen.length === 0) throw unknownTopic(command, name, own);
  const about = name === "all" && command.details !== undefined ? ["", ...wrap(command.details, page)] : [];
  return joinLines([
    ...usage(command, page),
    ...about,
    ...chosen.flatMap((topic) => [
      "",
      ...withBold(
        `${optionTables.topics[topic].title}:`,
        wrap(`${optionTables.topics[topic].title}: ${optionTables.topics[topic].about}`, page),
        styles,
      ),
      ...(topic === "input" ? filesRow(command) : []).flatMap(({ label, text }) =>
        entry({ label, text: makeSentences(text, command.filesDetails) }, page),
      ),
      ...command.options.filter((option) => option.topic === topic).flatMap((one) => optionEntry(one, page)),
    ]),
    "",
    ...exampleSection(name === "all" ? command.examples : topicExamples(command, chosen[0]!), page),
  ]);
}

/** Shows everything about one option. */
export function optionHelp(command: CommandSpec, option: optionTables.Option, page: Page): string {
  const examples = examplesWith(command, [option]);
  return joinLines([
    ...usage(command, page),
    ...optionEntry(option, page),
    ...(examples.length === 0 ? [] : ["", ...exampleSection(examples, page)]),
  ]);
}

/** Returns the option with this name. A long name may be typed without its dashes. */
const findOption = ({ options }: CommandSpec, typed: string): optionTables.Option | undefined =>
  options.find(
    ({ name, short }) =>
      typed === name || typed === `--${name}` || (short !== undefined && typed === `-${short}`),
  );

const entry = ({ label, text }: Row, page: Page) => [
  "",
  `  ${page.styles.cyan(label)}`,
  ...wrap(text, page, 6),
];

const optionEntry = (option: optionTables.Option, page: Page) =>
  entry({ label: label(option).trim(), text: describeOption(option) }, page);

function unknownTopic(command: CommandSpec, typed: string, own: readonly optionTables.Topic[]) {
  if (typed.startsWith("-")) return unknownOption(command, typed);
  const near = nearest(typed, [...own, "all", ...command.options.map(({ name }) => name)]);
  const list = `bpe help ${command.name} has: ${[...own, "all"].join(", ")}, and each option`;
  return usageError(`unknown topic "${typed}"`, near === undefined ? list : `did you mean ${near}? ${list}`);
}

/**
 * Returns the examples with an option of the topic. If there are none and the topic is "input", returns the simplest
 * example, because it has the command's input.
 */
export function topicExamples(command: CommandSpec, topic: optionTables.Topic): CommandSpec["examples"] {
  const own = command.options.filter((option) => option.topic === topic);
  const found = examplesWith(command, own);
  return found.length === 0 && topic === "input" ? command.examples.slice(0, 1) : found;
}

/**
 * Returns the examples of a command that have one of the options. If there are none, returns the simplest example with
 * one of the options inserted: the first that has a `sample`. If no option has a `sample`, returns no example.
 */
function examplesWith(
  { name, examples }: CommandSpec,
  options: readonly optionTables.Option[],
): CommandSpec["examples"] {
  const found = examples.filter(({ command }) =>
    options.some((option) => new RegExp(` (--${option.name}|-${option.short})[ =]`).test(`${command} `)),
  );
  const sampled = options.find(({ sample }) => sample !== undefined);
  if (found.length > 0 || sampled === undefined) return found;
  const typed = `${sampled.short === undefined ? `--${sampled.name}` : `-${sampled.short}`} ${sampled.sample}`;
  const command = examples[0]!.command.replace(`bpe ${name}`, `bpe ${name} ${typed.trim()}`);
  return [{ what: makeSentences(sampled.description).slice(0, -1), command }];
}

/** Returns the topics of a command's options, in the order of `topics` (options/option.ts). */
export const topicsOf = ({ options }: CommandSpec): optionTables.Topic[] =>
  (Object.keys(optionTables.topics) as optionTables.Topic[]).filter((topic) =>
    options.some((option) => option.topic === topic),
  );

/** The label of an option: `-n, --vocab-size N`. Without a short name it is indented, to align long names. */
const label = ({ short, name, kind }: optionTables.Option) =>
  `${short === undefined ? "    " : `-${short}, `}--${name}${kind.value === undefined ? "" : ` ${kind.value}`}`;

/** Makes sentences from a phrase and its details. */
export function makeSentences(
  description: Message,
  details: Message = "",
  spelling?: messages.Spelling,
): string {
  const first = messages.spell(description, spelling);
  return `${first[0]!.toUpperCase()}${first.slice(1)}. ${messages.spell(details, spelling)}`.trim();
}

/** Returns all sentences about an option. */
export function describeOption(option: optionTables.Option): string {
  const { description, details, kind, required } = option;
  const { words = [], value, repeatable } = kind;
  const which = words.length === 1 ? "The value is" : value === "LIST" ? "Any of" : "One of";
  return [
    makeSentences(description, details),
    words.length > 0 && `${which} ${words.join(", ")}.`,
    repeatable && "May be given several times.",
    required && "Required.",
    option.default && `Default: ${messages.spell(option.default)}.`,
  ]
    .filter((sentence) => sentence)
    .join(" ");
}

const usage = (command: CommandSpec, page: Page): string[] =>
  withBold("Usage:", wrap(`Usage: ${usageLine(command)}`, page, 7, 0), page.styles);

/** Makes `words` bold where they begin the first line. */
const withBold = (
  words: string,
  [first = "", ...rest]: readonly string[],
  styles: styling.Styles,
): string[] => [first.replace(words, styles.bold(words)), ...rest];

const exampleSection = (examples: CommandSpec["examples"], page: Page): string[] => [
  page.styles.bold(examples.length === 1 ? "Example" : "Examples"),
  ...exampleLines(examples, page),
];

/** Formats examples: what each does, and below that the command, ready to paste. */
const exampleLines = (examples: CommandSpec["examples"], page: Page): string[] =>
  examples.flatMap(({ what, command }) => [
    ...wrap(`${what}:`, page, 2),
    ...wrapCommand(command, page.columns),
  ]);

/**
 * Splits a command into lines of at most `columns` columns, which a shell joins again. A longer word has a line of its
 * own.
 */
export function wrapCommand(command: string, columns: number): string[] {
  const indent = 6;
  const lines: string[] = [];
  let line = " ".repeat(indent - 3);
  const put = (part: string) => {
    if (line.trim() !== "" && line.length + 1 + part.length + " \\".length > columns) {
      lines.push(`${line} \\`);
      line = " ".repeat(indent - 1);
    }
    line += ` ${part}`;
  };
  // Text in single quotes is not split.
  for (const [part] of command.matchAll(/(?:-{1,2}[a-z][^ ']* (?![-|&>]))?(?:'[^']*'|[^ '])+/g)) {
    if (indent + part.length + " \\".length <= columns) put(part);
    else for (const [word] of part.matchAll(/(?:'[^']*'|[^ '])+/g)) put(word);
  }
  return [...lines, line];
}

type Row = { readonly label: string; readonly text: string };

/** Formats labels on the left and descriptions on the right. The description of a long label is below it. */
function table(rows: readonly Row[], { columns, styles }: Page, labelColumns = widest(rows)): string[] {
  const indent = 2;
  return rows.flatMap(({ label, text }) => {
    const start = indent + Math.max(labelColumns, label.length) + 2;
    const shown = `${" ".repeat(indent)}${styles.cyan(label)}`;
    if (start > columns / 2) return [shown, ...wrap(text, { columns }, 6)];
    const [first = "", ...rest] = wrap(text, { columns: columns - start });
    const gap = " ".repeat(start - indent - label.length);
    return [`${shown}${gap}${first}`, ...rest.map((line) => " ".repeat(start) + line)];
  });
}

const widest = (rows: readonly Row[]) => Math.max(...rows.map(({ label }) => label.length));

/** Wraps a text to the page's width, indented by `indent`, the first line by `firstIndent`. */
function wrap(text: string, { columns }: { columns: number }, indent = 0, firstIndent = indent): string[] {
  const width = Math.max(1, columns - indent);
  const lines = Bun.wrapAnsi(text, width, { hard: true }).split("\n");
  return lines.map((line, i) => `${" ".repeat(i === 0 ? firstIndent : indent)}${line.trim()}`);
}

const joinLines = (lines: readonly string[]) => `${lines.join("\n")}\n`;

/**
 * Returns the output of `--pattern help`. Without `names`, it has all patterns and their origins. With `names`, it has
 * only these patterns, and also their regular expressions.
 */
export function describePatterns(
  patterns: Readonly<Record<string, namedPatterns.NamedPattern>>,
  names: readonly string[],
  page: Page = ownPage(),
): string {
  const rows = Object.entries(patterns).map(([label, pattern]) => {
    const also = namedPatterns.describeAliases(pattern);
    return { label, text: `${pattern.origin}${also === undefined ? "" : ` (${also})`}`, ...pattern };
  });
  if (names.length === 0) return joinLines([...table(rows, page), "", ...wrap(aboutPatterns, page)]);
  const asked = names.map((name) => rows.find(({ label }) => label === name)!);
  return joinLines(
    asked.flatMap((row) => [...table([row], page), ...row.sources.map((line) => `    ${line}`)]),
  );
}

const aboutPatterns =
  "-p help NAME shows the expressions. Anything that is not a name is one. bpe help docs/size-and-pattern.md compares them on English, many languages and code.";
