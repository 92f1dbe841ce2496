import { type Option, type Topic, topics } from "#options";
import { describeAliases, type NamedPattern } from "#pattern";
import { nearest, usageError } from "#runtime";
import {
  type CommandSpec,
  type Example,
  type Styles,
  stylesFor,
  terminalColumns,
  usageLine,
} from "#terminal";
import { unknownOption } from "./arguments.ts";
import { commandGroups, commands, commandsOf, firstWords } from "./command-table.ts";

// Help, wrapped to the terminal: of the program, of a command on one screen, of a topic at length, and of one option.

/** Lines longer than this are hard to read, however wide the terminal is. */
const columnsMax = 120;

/** A page that is called a screen has no more lines, of 80 columns. */
const screenLines = 24;

/** As wide as the terminal. */
const ownPage = (): Page => ({ columns: Math.min(columnsMax, terminalColumns(1)), styles: stylesFor(1) });

/** The help of the program; of a group of commands; of a command; or, at length, of a topic of it, of `all`, or of an option. */
export function helpText(command?: CommandSpec | string, about?: string): string {
  const page = ownPage();
  if (command === undefined) return programHelp(page);
  if (typeof command === "string") return groupHelp(command, page);
  if (about === undefined) return commandHelp(command, page);
  const option = about in topics || about === "all" ? undefined : optionNamed(command, about);
  return option === undefined ? topicHelp(command, about, page) : optionHelp(command, option, page);
}

/** How wide a page may be, and how its headings stand out. */
type Page = { readonly columns: number; readonly styles: Styles };

export function programHelp(page: Page): string {
  const { styles } = page;
  const rows = rowsOf(commands.filter(({ name }) => firstWords.includes(name)));
  const groups = Object.entries(commandGroups).map(([name, text]) => ({ label: `${name} <command>`, text }));
  const others = [
    { label: "help [command] [topic]", text: "more about a command; help docs: the manual" },
    { label: "--version", text: "show the versions of bpe and Bun, and the commit" },
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

/** What commands a group has. */
export function groupHelp(group: string, page: Page): string {
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

/** What people need of a command: its usual options, and as much of what it does, and as many examples, as a screen has room for. */
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
  const phrase = sentences(description);
  const pages = [
    ...examples.map((_, i) => pageOf(details ?? phrase, examples.length - i)),
    pageOf(phrase, 1),
  ];
  return joinLines(pages.find(({ length }) => length <= screenLines) ?? pages.at(-1)!);
}

const row = (option: Option): Row => ({
  label: label(option),
  text: `${option.description}${option.default === undefined ? "" : ` (default: ${option.default})`}`,
});

/** What the command takes beside its options. */
const filesRow = ({ files, filesDescription }: CommandSpec): Row[] =>
  filesDescription === undefined ? [] : [{ label: files, text: filesDescription }];

/** Of all topics alike, so that the phrases stand below each other; a label that is longer pushes its own aside. */
const labelColumns = ({ options }: CommandSpec): number =>
  Math.min(
    labelColumnsMax,
    Math.max(...options.filter(({ rare }) => !rare).map((option) => label(option).length)),
  );

const labelColumnsMax = 24;

/** Everything about the options of a topic. */
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
        `${topics[topic].title}:`,
        wrap(`${topics[topic].title}: ${topics[topic].about}`, page),
        styles,
      ),
      ...(topic === "input" ? filesRow(command) : []).flatMap(({ label, text }) =>
        entry({ label, text: sentences(text, command.filesDetails) }, page),
      ),
      ...command.options.filter((option) => option.topic === topic).flatMap((one) => optionEntry(one, page)),
    ]),
    "",
    ...exampleSection(name === "all" ? command.examples : topicExamples(command, chosen[0]!), page),
  ]);
}

/** Everything about one option. */
export function optionHelp(command: CommandSpec, option: Option, page: Page): string {
  const examples = examplesWith(command, [option]);
  return joinLines([
    ...usage(command, page),
    ...optionEntry(option, page),
    ...(examples.length === 0 ? [] : ["", ...exampleSection(examples, page)]),
  ]);
}

/** The option that a word behind `help` names, with its dashes or without. */
export const optionNamed = ({ options }: CommandSpec, typed: string): Option | undefined =>
  options.find(({ name, short }) => [name, `--${name}`, `-${short}`].includes(typed));

const entry = ({ label, text }: Row, page: Page) => [
  "",
  `  ${page.styles.cyan(label)}`,
  ...wrap(text, page, 6),
];

const optionEntry = (option: Option, page: Page) =>
  entry({ label: label(option).trim(), text: described(option) }, page);

function unknownTopic(command: CommandSpec, typed: string, own: readonly Topic[]) {
  if (typed.startsWith("-")) return unknownOption(command, typed);
  const near = nearest(typed, [...own, "all", ...command.options.map(({ name }) => name)]);
  const list = `bpe help ${command.name} has: ${[...own, "all"].join(", ")}, and each option`;
  return usageError(`unknown topic "${typed}"`, near === undefined ? list : `did you mean ${near}? ${list}`);
}

/** Examples with an option of the topic; of the input the simplest one, which has files, is among them. */
export function topicExamples(command: CommandSpec, topic: Topic): readonly Example[] {
  const own = command.options.filter((option) => option.topic === topic);
  const found = examplesWith(command, own);
  return found.length === 0 && topic === "input" ? command.examples.slice(0, 1) : found;
}

/** The examples of a command that have one of the options; without any the simplest one with a sample of an option put in. */
function examplesWith({ name, examples }: CommandSpec, options: readonly Option[]): readonly Example[] {
  const found = examples.filter(({ command }) =>
    options.some((option) => new RegExp(` (--${option.name}|-${option.short})[ =]`).test(`${command} `)),
  );
  const sampled = options.find(({ sample }) => sample !== undefined);
  if (found.length > 0 || sampled === undefined) return found;
  const typed = `${sampled.short === undefined ? `--${sampled.name}` : `-${sampled.short}`} ${sampled.sample}`;
  const command = examples[0]!.command.replace(`bpe ${name}`, `bpe ${name} ${typed.trim()}`);
  return [{ what: sentences(sampled.description).slice(0, -1), command }];
}

/** The topics of a command's options, in the order of help. */
export const topicsOf = ({ options }: CommandSpec): Topic[] =>
  (Object.keys(topics) as Topic[]).filter((topic) => options.some((option) => option.topic === topic));

/** `-n, --vocab-size N`; without a short name indented, so that long names are below each other. */
const label = ({ short, name, kind }: Option) =>
  `${short === undefined ? "    " : `-${short}, `}--${name}${kind.value === undefined ? "" : ` ${kind.value}`}`;

/** A phrase and the sentences behind it, as sentences. */
export const sentences = (phrase: string, details = ""): string =>
  `${phrase[0]!.toUpperCase()}${phrase.slice(1)}. ${details}`.trim();

/** All sentences about an option. */
export function described(option: Option): string {
  const { description, details, kind, required } = option;
  const { words = [], value, repeatable } = kind;
  const which = words.length === 1 ? "The value is" : value === "LIST" ? "Any of" : "One of";
  return [
    sentences(description, details),
    words.length > 0 && `${which} ${words.join(", ")}.`,
    repeatable && "May be given several times.",
    required && "Required.",
    option.default && `Default: ${option.default}.`,
  ]
    .filter((sentence) => sentence)
    .join(" ");
}

const usage = (command: CommandSpec, page: Page): string[] =>
  withBold("Usage:", wrap(`Usage: ${usageLine(command)}`, page, 7, 0), page.styles);

/** Lines whose first words stand out. */
const withBold = (words: string, [first = "", ...rest]: readonly string[], styles: Styles): string[] => [
  first.replace(words, styles.bold(words)),
  ...rest,
];

const exampleSection = (examples: readonly Example[], page: Page): string[] => [
  page.styles.bold(examples.length === 1 ? "Example" : "Examples"),
  ...exampleLines(examples, page),
];

/** Examples, the commands below what they do, as they can be pasted. */
const exampleLines = (examples: readonly Example[], page: Page): string[] =>
  examples.flatMap(({ what, command }) => [
    ...wrap(`${what}:`, page, 2),
    ...wrapCommand(command, page.columns),
  ]);

/** A command in lines of at most `columns`, which a shell joins again. An option stays beside its value if there is room. */
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
  // What is quoted stays in one piece.
  for (const [part] of command.matchAll(/(?:-{1,2}[a-z][^ ]* (?![-|&>]))?(?:'[^']*'|[^ '])+/g)) {
    if (indent + part.length + " \\".length <= columns) put(part);
    else for (const [word] of part.matchAll(/(?:'[^']*'|[^ '])+/g)) put(word);
  }
  return [...lines, line];
}

type Row = { readonly label: string; readonly text: string };

/** Labels on the left, what they mean on the right; below each other where the page is narrow. */
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

/** The text in lines of at most the page's width, indented; the first line as `firstIndent` says. */
function wrap(text: string, { columns }: { columns: number }, indent = 0, firstIndent = indent): string[] {
  const width = Math.max(1, columns - indent);
  const lines = Bun.wrapAnsi(text, width, { hard: true }).split("\n");
  return lines.map((line, i) => `${" ".repeat(i === 0 ? firstIndent : indent)}${line.trim()}`);
}

const joinLines = (lines: readonly string[]) => `${lines.join("\n")}\n`;

/** `--pattern help`: every name and where it is from; of the names that are asked for, the regular expressions, too. */
export function describePatterns(
  patterns: Readonly<Record<string, NamedPattern>>,
  names: readonly string[],
  page: Page = ownPage(),
): string {
  const rows = Object.entries(patterns).map(([label, pattern]) => {
    const also = describeAliases(pattern);
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
