// docs/options.md: every command and every option of the command table, each described once.

import { join } from "node:path";
import { list, paragraph } from "../bench/markdown.ts";
import { commands } from "../src/main/all-commands.ts";
import { type CommandSpec, usageLine } from "../src/main/command-spec.ts";
import { makeSentences } from "../src/main/help.ts";
import { type Option, type Topic, topics } from "../src/options/option.ts";
import * as messages from "../src/runtime/message.ts";

export const optionsPagePath = join(import.meta.dir, "..", "docs", "options.md");

/** For these options, docs/options.md names a page and leaves out the details of the help. */
export const pagesOfOptions: Readonly<Record<string, string>> = {
  ...of("inputs.md", "text-field", "include", "binary", "weight"),
  ...of("train.md", "vocab-size", "special-token", "special-tokens", "memory-limit", "workers"),
  ...of("formats.md", "compat", "pad-to", "ledger", "format", "keep", "wait", "output"),
  ...of("nightly.md", "cache", "cache-limit", "if-changed", "log-file", "progress"),
  ...of("clean-and-fair.md", "whole-characters", "seed-token", "seed-tokens", "normalize"),
  ...of("clean-and-fair.md", "language", "language-dev", "language-ratio", "language-window"),
  ...of("superwords.md", "superwords-from"),
  ...of("extend.md", "extend", "rename"),
  ...of("your-model.md", "like", "chat-template", "add-bos", "model-card", "bos", "eos", "pad", "pieces"),
  ...of("evaluate.md", "text", "numbers", "report", "measure", "model", "words", "term", "terms"),
  ...of("doctor.md", "input", "files-only"),
  ...of("encode.md", "tokenizer", "ids-format", "shard-size", "document-end", "keep-field"),
  ...of("many-machines.md", "counts", "save-counts", "ranges", "min-count"),
};

/** The pages that explain commands. */
export const pagesOfCommands: Readonly<Record<string, string>> = {
  ...of("train.md", "train"),
  ...of("many-machines.md", "count", "plan", "ids join"),
  ...of("encode.md", "encode", "tokens", "decode", "ids check", "image", "explain"),
  ...of("evaluate.md", "eval", "diff"),
  ...of("extend.md", "prune", "truncate", "ids truncate", "ids train"),
  ...of("learn.md", "playground"),
  ...of("doctor.md", "doctor", "verify"),
  ...of("your-model.md", "convert"),
};

function of(page: string, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, page]));
}

const having = (option: string) =>
  commands.filter(({ options }) => options.some(({ name }) => name === option)).map(({ name }) => name);

/** Groups of commands that have many options in common. */
const groups = {
  readers: having("text-field"),
  users: "encode,tokens,decode,inspect,explain,eval,diff,prune,truncate,image".split(","),
  writers: having("output"),
};

const head = [
  "# Every option of every command",
  "`bpe help COMMAND` lists the usual options, `bpe help COMMAND TOPIC` all options of a topic:",
  "```sh run\nbpe help train nightly | grep -A 2 -e '--keep N'\n```",
  "```output\n      --keep N\n      Keep the last N results that were replaced. They stay next to the output,\n      as DIR.<UTC start of their run>.\n```",
  `Each option is followed by the commands that accept it. *Readers* are ${groups.readers.join(", ")}; *users* (of a tokenizer) are ${groups.users.join(", ")}; *writers* are ${groups.writers.join(", ")}. [inputs.md](inputs.md) says what a file can be, [train.md](train.md) how to write numbers and sizes.`,
];
const tail = ["## Limits", "The page is made from the table by which the command line is read."];

/** Converts a plain text of the table, which may contain names of options, to Markdown. */
const asMarkdown = (text: string) =>
  text
    .replace(/[\\*<[\]`]|(?<!\w)_|_(?!\w)/g, "\\$&")
    .replace(
      /(?<![\w`<'-])--?[a-z][a-z-]*(?![\w-])( (help|none|huggingface|config\.json|\+8k|[a-z]+=\d+)(?!\w))?/g,
      "`$&`",
    )
    .replace(/(?<=^| )-(?=[ .,]|$)/g, "`-`");

const option = (name: string) => `\`--${name}\``;

type Taken = { readonly command: string; readonly option: Option };

/** For each option, by its name: the commands that accept it. */
const taken = Map.groupBy(
  commands.flatMap((command) => command.options.map((option): Taken => ({ command: command.name, option }))),
  ({ option }) => option.name,
);

type Said = { readonly label: string; readonly remarks: string; readonly sentences: readonly string[] };

/** Returns how an option is typed, remarks such as "required", and the sentences that describe it. */
function described({ name, short, kind, needs, ...option }: Option): Said {
  const { value, words = [], least } = kind;
  const details = pagesOfOptions[name] === undefined ? option.details : undefined;
  const bytes = value === "SIZE" ? " bytes" : "";
  const which = words.length === 1 ? "The value is" : value === "LIST" ? "Any of" : "One of";
  const typed = [short && `-${short}`, `--${name}`].filter(Boolean).join(", ");
  return {
    label: `\`${typed}${value === undefined ? "" : ` ${value}`}\``,
    remarks: `${option.required ? ", required" : ""}${kind.repeatable ? ", repeatable" : ""}`,
    sentences: [
      ...makeSentences(option.description, details).split(/(?<=\.) (?=[A-Z])/),
      words.length > 0 && `${which} ${words.join(", ")}.`,
      // A minimum of 1 excludes only 0, which nobody would give.
      least && least > 1 && `At least ${least.toLocaleString("en")}${bytes}.`,
      needs && `Needs --${needs.other}.`,
      option.default && `Default: ${messages.spell(option.default)}.`,
    ].filter((sentence) => typeof sentence === "string"),
  };
}

function optionEntry(name: string): readonly ["-", string] {
  const variants = Map.groupBy(taken.get(name)!, ({ option }) => JSON.stringify(described(option)));
  const before: Said[] = [];
  const parts = [...variants].map(([key, those]) => {
    const variant: Said = JSON.parse(key);
    // Sentences that the entry already has are not repeated, unless there are no others.
    const fresh = variant.sentences.filter((one) => !before.some((said) => said.sentences.includes(one)));
    const shown = fresh.length > 0 ? fresh : variant.sentences.slice(0, 1);
    const label = before.at(-1)?.label === variant.label ? "" : `${variant.label} `;
    before.push(variant);
    return `${label}(${takers(those)}${variant.remarks}) ${shown.map(asMarkdown).join(" ")}`;
  });
  const page = pagesOfOptions[name];
  return ["-", parts.join(" ") + (page === undefined ? "" : ` [${page}](${page})`)];
}

function takers(those: readonly Taken[]): string {
  const names = those.map(({ command }) => command);
  if (names.length === commands.length) return "all";
  const [group, members] =
    Object.entries(groups).find(([, all]) => all.every((one) => names.includes(one))) ?? [];
  return [...names.filter((name) => !members?.includes(name)), ...(group === undefined ? [] : [group])].join(
    ", ",
  );
}

/** Lists the options by topic. If commands put an option under two topics, it is in the first of them. */
function topicSections(): string[] {
  const topicOf = (name: string) => {
    const own = taken.get(name)!.map(({ option }) => option.topic);
    return (Object.keys(topics) as Topic[]).find((topic) => own.includes(topic));
  };
  return Object.entries(topics).flatMap(([topic, { title }]) => {
    const names = [...taken.keys()].filter((name) => topicOf(name) === topic);
    return [`## ${title}`, list(names.map(optionEntry))];
  });
}

/** Lists pairs of incompatible options, grouped by one option of the pair, and by the reason. */
function exclusions(): string {
  const all = commands.flatMap(({ options }) =>
    options
      .flatMap(({ name, excludes = [] }) => excludes.map((one) => ({ name, ...one })))
      // A command that lacks the other option cannot get both.
      .filter(({ other }) => options.some(({ name }) => name === other.split(" ")[0])),
  );
  return list(
    [...Map.groupBy(all, ({ other }) => other)].map(([other, those]) => {
      const byReason = Map.groupBy(those, ({ why, unless }) =>
        [why, unless && `but for ${unless}`].filter(Boolean).join("; "),
      );
      const parts = [...byReason].map(([reason, these]) => {
        const names = [...new Set(these.map(({ name }) => option(name)))].join(", ");
        return names + (reason === "" ? "" : ` (${asMarkdown(reason)})`);
      });
      return ["-", `Not with ${option(other)}: ${parts.join("; ")}.`];
    }),
  );
}

function commandEntry(command: CommandSpec): readonly ["-", string] {
  const { name, details, description, files, filesDescription } = command;
  const page = pagesOfCommands[name];
  const isShared = commands.filter((other) => other.filesDescription === filesDescription).length > 1;
  const said = page === undefined ? (details ?? makeSentences(description)) : makeSentences(description);
  const taken =
    isShared || filesDescription === undefined ? "" : ` \`${files}\`: ${makeSentences(filesDescription)}`;
  const more = page === undefined ? "" : ` [${page}](${page})`;
  const usage = usageLine(command).replace(/(?<!playground) \[options\]$/, "");
  return ["-", `\`${usage}\`: ${asMarkdown(said)}${taken}${more}`];
}

export function optionsPage(): string {
  const isFence = (part: string) => part.startsWith("```");
  return `${[
    ...head.map((part) => (isFence(part) ? part : paragraph(part))),
    "## Commands",
    list(commands.map(commandEntry)),
    ...topicSections(),
    "## What does not go together",
    exclusions(),
    ...tail.map((part) => paragraph(part)),
  ].join("\n\n")}\n`;
}
