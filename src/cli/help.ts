import { usageError } from "../errors.ts";
import { type OptionSpec, type Topic, topics } from "../options/option.ts";
import type { NamedPattern } from "../pattern/pattern.ts";
import { nearest } from "../runtime/hints.ts";
import {
  type CommandSpec,
  commandGroups,
  commands,
  commandsOf,
  firstWords,
  usageLine,
} from "./command-table.ts";
import { type Styles, stylesFor, terminalColumns } from "./output.ts";

// Help, wrapped to the terminal: of the program, of a command on one screen, and of a topic at length.

/** Lines longer than this are hard to read, however wide the terminal is. */
const columnsMax = 120;

/** The help of the program; of a group of commands; of a command; or, at length, of one topic of it, or of `all`. */
export function helpText(command?: CommandSpec | string, topic?: string): string {
  const page = { columns: Math.min(columnsMax, terminalColumns(1)), styles: stylesFor(1) };
  if (command === undefined) return programHelp(page);
  if (typeof command === "string") return groupHelp(command, page);
  return topic === undefined ? commandHelp(command, page) : topicHelp(command, topic, page);
}

/** How wide a page may be, and how its headings stand out. */
type Page = { readonly columns: number; readonly styles: Styles };

export function programHelp(page: Page): string {
  const { styles } = page;
  const rows = rowsOf(commands.filter(({ name }) => firstWords.includes(name)));
  const groups = Object.entries(commandGroups).map(([name, text]) => ({ label: `${name} <command>`, text }));
  return joinLines([
    ...wrap("bpe learns byte-level BPE tokenizers from text, and encodes with any of them.", page),
    "",
    `${styles.bold("Usage:")} bpe <command> [options]`,
    "",
    styles.bold("Commands"),
    ...table(
      [
        ...rows,
        ...groups,
        { label: "help [command] [topic]", text: "help on a command or topic; help docs: the manual" },
      ],
      page,
    ),
    "",
    styles.bold("Options"),
    ...table(
      [
        { label: "-h, --help", text: "show this help" },
        { label: "-v, --version", text: "show the versions of bpe and Bun, and the commit" },
      ],
      page,
    ),
    "",
    styles.bold("Example"),
    ...exampleLines(commands[0]!, page, 1),
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
    ...own.flatMap((command) => exampleLines(command, page)),
  ]);
}

/** All topics of a command on one screen: the options that are seldom needed are only named. */
export function commandHelp(command: CommandSpec, page: Page): string {
  const { styles } = page;
  const names = [...topicsOf(command), "all"].join(", ");
  return joinLines([
    ...usage(command, page),
    "",
    ...wrap(command.details ?? command.description, page),
    "",
    ...topicsOf(command).flatMap((topic) => topicLines(command, topic, page)),
    "",
    ...wrap(`bpe help ${command.name} TOPIC: ${names}`, page),
    "",
    styles.bold(examplesTitle(command)),
    ...exampleLines(command, page),
  ]);
}

function topicLines(command: CommandSpec, topic: Topic, page: Page): string[] {
  const options = command.options.filter((option) => option.topic === topic);
  const shown = options.filter((option) => !option.rare);
  const rare = options.filter((option) => option.rare).map(({ name }) => `--${name}`);
  return [
    page.styles.bold(topics[topic].title),
    ...table(
      [...(topic === "input" ? filesRow(command) : []), ...shown.map(row)],
      page,
      labelColumns(command),
    ),
    ...(rare.length === 0 ? [] : wrap(`${shown.length === 0 ? "" : "also "}${rare.join(", ")}`, page, 6)),
  ];
}

const row = (option: OptionSpec): Row => ({
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
  const entry = ({ label, text }: Row) => ["", `  ${styles.cyan(label)}`, ...wrap(text, page, 6)];
  return joinLines([
    ...usage(command, page),
    ...chosen.flatMap((topic) => [
      "",
      ...withBold(
        `${topics[topic].title}:`,
        wrap(`${topics[topic].title}: ${topics[topic].about}`, page),
        styles,
      ),
      ...(topic === "input" ? filesRow(command) : [])
        .map(({ label, text }) => ({ label, text: sentences(text, command.filesDetails) }))
        .flatMap(entry),
      ...command.options
        .filter((option) => option.topic === topic)
        .map((option) => ({ label: label(option).trim(), text: described(option) }))
        .flatMap(entry),
    ]),
    "",
    styles.bold(examplesTitle(command)),
    ...exampleLines(command, page),
  ]);
}

function unknownTopic(command: CommandSpec, typed: string, own: readonly Topic[]) {
  const known = [...own, "all"];
  const near = nearest(typed, known);
  const list = `bpe help ${command.name} has: ${known.join(", ")}`;
  return usageError(`unknown topic "${typed}"`, near === undefined ? list : `did you mean ${near}? ${list}`);
}

/** The topics of a command's options, in the order of help. */
export const topicsOf = ({ options }: CommandSpec): Topic[] =>
  (Object.keys(topics) as Topic[]).filter((topic) => options.some((option) => option.topic === topic));

/** `-n, --vocab-size N`; without a short name indented, so that long names are below each other. */
const label = ({ short, name, value }: OptionSpec) =>
  `${short === undefined ? "    " : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;

/** A phrase and the sentences behind it, as sentences. */
export const sentences = (phrase: string, details = ""): string =>
  `${phrase[0]!.toUpperCase()}${phrase.slice(1)}. ${details}`.trim();

/** All sentences about an option. */
export function described(option: OptionSpec): string {
  const { description, details, words = [], value, repeatable, required } = option;
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

const examplesTitle = ({ examples }: CommandSpec) => (examples.length === 1 ? "Example" : "Examples");

/** The examples of a command, the commands below what they do, as they can be pasted. */
function exampleLines({ examples }: CommandSpec, page: Page, count = examples.length): string[] {
  return examples
    .slice(0, count)
    .flatMap(({ what, command }) => [...wrap(`${what}:`, page, 2), ...wrapCommand(command, page.columns)]);
}

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

/** `--pattern help`: every name with its source and its regular expressions, in the order in which they cut. */
export function describePatterns(patterns: Readonly<Record<string, NamedPattern>>): string {
  const described = Object.entries(patterns).map(([name, pattern]) => {
    const below = [alsoCalled(pattern), ...pattern.sources].filter((line) => line !== undefined);
    return [`${name.padEnd(13)} ${pattern.origin}`, ...below.map((line) => `    ${line}`)].join("\n");
  });
  return `${described.join("\n")}\n\nAnything that is not a name is taken as a regular expression.\n`;
}

/** The other names of a pattern; undefined if there are none. */
export function alsoCalled({ aliases = [] }: Partial<NamedPattern>): string | undefined {
  return aliases.length === 0 ? undefined : `also called ${aliases.join(", ")}`;
}
