// `npm run docs:options` writes docs/options.md: every command and every option of the command table, each text once.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { list, paragraph, table } from "../bench/markdown.ts";
import {
  type CommandSpec,
  commands,
  type OptionSpec,
  type Topic,
  topics,
  usageLine,
} from "../src/cli/command-table.ts";
import { described, sentences } from "../src/cli/help.ts";

export const optionsPagePath = join(import.meta.dir, "..", "docs", "options.md");

const head = [
  "# Every option of every command",
  "For looking up. All that `bpe help COMMAND all` says of each command is here once for all of them, by topic:",
  "```sh run\nbpe help train nightly | head -n 5\n```",
  "```output\nUsage: bpe train <file>... -n N -o DIR [options]\n\nNightly: repeated, unattended runs\n\n      --cache DIR\n```",
  "[train.md](train.md) tells of the commands in their order, and how numbers and sizes are written. This page is made from the table by which the command line is read (`npm run docs:options`), so it has all of them.",
];
const tail = [
  "## Limits",
  "The page says what may be typed, not what is wise: [size-and-pattern.md](size-and-pattern.md), [your-model.md](your-model.md) and [nightly.md](nightly.md) do. What can be told only when inputs have been read (a pattern that cuts a seed token, a vocabulary without room) is said by the run.",
];

/** What stands beside the table is Markdown; texts of the table are plain, with names of options among them. */
const asMarkdown = (text: string) =>
  text
    .replace(/[\\*<[\]`]|(?<!\w)_|_(?!\w)/g, "\\$&")
    .replace(/(?<![\w`<'-])--?[a-z][a-z-]*(?![\w-])/g, "`$&`")
    .replace(/(?<=^| )-(?=[ .,]|$)/g, "`-`");

const option = (name: string) => `\`--${name}\``;

/** What goes with it and what does not, which help leaves to the errors. */
function together({ value, least, needs, excludes = [] }: OptionSpec): string {
  const bytes = value === "SIZE" ? " bytes" : "";
  return [
    // That a size is 1 byte at least only refuses 0.
    least && !(least === 1 && bytes) && `At least ${least.toLocaleString("en")}${bytes}.`,
    needs && `Needs ${option(needs.other)}${because(needs.hint)}.`,
    ...excludes.map(
      ({ other, why, hint, unless }) =>
        `Not with ${option(other)}${unless === undefined ? "" : ` (but for \`${unless}\`)`}${because(why, hint)}.`,
    ),
  ]
    .filter((part) => part)
    .join(" ");
}

/** Reasons and remedies; of an example, the command is code. */
function because(...parts: readonly (string | undefined)[]): string {
  const said = parts
    .filter((part) => part !== undefined)
    .map((part) => (part.startsWith("e.g. --") ? `e.g. \`${part.slice(5)}\`` : asMarkdown(part)));
  return said.length === 0 ? "" : `: ${said.join("; ")}`;
}

/** An option, the commands that take it, and what it is to them: `train` and `count` may mean two things by one name. */
function optionEntry(name: string): string {
  const byText = new Map<string, string[]>();
  for (const command of commands) {
    for (const one of command.options.filter((one) => one.name === name)) {
      const typed = [one.short && `-${one.short}`, `--${name}`].filter(Boolean).join(", ");
      const label = `\`${typed}${one.value === undefined ? "" : ` ${one.value}`}\``;
      const key = JSON.stringify([label, asMarkdown(described(one)), together(one)]);
      byText.set(key, [...(byText.get(key) ?? []), command.name]);
    }
  }
  const items = [...byText].map(([key, names]) => {
    const [label, ...texts] = JSON.parse(key) as string[];
    const takers = names.length === commands.length ? "every command" : names.join(", ");
    return ["-", `${label} (${takers}). ${texts.join(" ")}`] as const;
  });
  return `### --${name}\n\n${list(items)}`;
}

/** Options by topic; one that commands put under two topics stands in the first. */
function topicSections(): string[] {
  const seen = new Set<string>();
  return (Object.keys(topics) as Topic[]).flatMap((topic) => {
    const options = commands.flatMap((command) => command.options).filter((one) => one.topic === topic);
    const fresh = [...new Set(options.map(({ name }) => name))].filter((name) => !seen.has(name));
    for (const name of fresh) seen.add(name);
    const { title, about } = topics[topic];
    return [`## ${title}`, paragraph(sentences(about)), ...fresh.map(optionEntry)];
  });
}

function commandEntry(command: CommandSpec): string[] {
  const { name, details, description, files, filesDescription, filesDetails } = command;
  const taken = filesDescription && `\`${files}\`: ${asMarkdown(sentences(filesDescription, filesDetails))}`;
  return [
    `### bpe ${name}`,
    `\`\`\`\n${usageLine(command)}\n\`\`\``,
    paragraph(asMarkdown(details ?? sentences(description))),
    ...(taken === undefined ? [] : [paragraph(taken)]),
    paragraph(`Options: ${command.options.map((one) => `[--${one.name}](#--${one.name})`).join(", ")}.`),
  ];
}

export function optionsPage(): string {
  const summary = table(
    ["command", ""],
    commands.map(({ name, description }) => [`[bpe ${name}](#bpe-${name})`, asMarkdown(description)]),
  );
  const isFence = (part: string) => part.startsWith("```");
  return `${[
    ...head.map((part) => (isFence(part) ? part : paragraph(part))),
    "## Commands",
    summary,
    ...commands.flatMap(commandEntry),
    ...topicSections(),
    ...tail.map((part) => paragraph(part)),
  ].join("\n\n")}\n`;
}

if (import.meta.main) {
  writeFileSync(optionsPagePath, optionsPage());
  console.log(`wrote ${optionsPagePath}`);
}
