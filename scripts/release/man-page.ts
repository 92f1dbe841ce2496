// Writes the manual page bpe(1) from the tables that help uses.

import { commands } from "../../src/main/all-commands.ts";
import { type CommandSpec, usageLine } from "../../src/main/command-spec.ts";
import { describeOption, makeSentences, topicsOf } from "../../src/main/help.ts";
import { type Option, topics } from "../../src/options/option.ts";
import * as sharedOptions from "../../src/options/shared-options.ts";

export type ManPageOptions = {
  readonly version: string;
  /** The date of the page, in seconds since 1970. */
  readonly seconds: number;
};

/** The page in roff, with the macros of man(7). */
export function manPage({ version, seconds }: ManPageOptions): string {
  const day = new Date(seconds * 1000).toISOString().slice(0, 10);
  return lines(
    `.TH BPE 1 "${day}" "bpe ${roff(version)}" "User Commands"`,
    // No hyphenation, and no spaces to fill a line.
    ".nr HY 0",
    ".nh",
    ".ad l",
    ".SH NAME",
    roff("bpe - learn byte-level BPE tokenizers from text, and encode with any of them"),
    ".SH SYNOPSIS",
    ...commands.flatMap((command) => [synopsis(command), ".br"]).slice(0, -1),
    ".SH DESCRIPTION",
    roff(
      "bpe trains byte-level BPE tokenizers, and encodes and decodes with tokenizers that it or other programs trained. Data goes to standard output, everything else to standard error.",
    ),
    ".PP",
    roff(
      "A number (N) may end in k, which is 1,024 times, or m, which is 1,024 times 1,024. A size (SIZE) is in bytes: 300MB, 1.5GB, 2GiB; KB, MB and GB are powers of 1,000, KiB, MiB and GiB powers of 1,024.",
    ),
    ".PP",
    roff(
      "A file is a path, a directory (the files below it), a glob in quotes, or - for standard input. Each may be compressed by gzip or zstd.",
    ),
    ...commands.flatMap(commandSection),
    ".SH OPTIONS OF EVERY COMMAND",
    ...Object.values(sharedOptions.common).flatMap(optionEntry),
    ...ending(),
  );
}

const ending = () => [
  ".SH EXIT STATUS",
  ...[
    ["0", "Done."],
    ["1", "Something outside the command line is wrong: a file is missing or damaged, or the disk is full."],
    ["2", "Something on the command line is wrong."],
    ["129, 130, 143", "A signal ended the run: the terminal closed, an interrupt, or a request to end."],
  ].flatMap(([code, meaning]) => [".TP", `.B ${code}`, roff(meaning!)]),
  ".SH ENVIRONMENT",
  ...[
    ["TMPDIR", "The directory for words that do not fit into memory, without --cache."],
    ["NO_COLOR", "If it is set, output has no colours."],
    ["TERM", "If it is dumb, output has no colours and no progress bar."],
  ].flatMap(([name, meaning]) => [".TP", `.B ${roff(name!)}`, roff(meaning!)]),
];

function synopsis(command: CommandSpec): string {
  const named = `bpe ${command.name}`;
  const rest = usageLine(command)
    .slice(named.length + 1)
    .split(" ");
  return `.B ${roff(named)}\n${rest.map((part) => argument(part)).join(" ")}`;
}

/** Options as typed are bold, placeholders are in italics. */
const argument = (part: string): string =>
  part.startsWith("-") ? bold(part) : `\\fI${roff(part.replaceAll(/[<>]/g, ""))}\\fR`;

const bold = (text: string) => `\\fB${roff(text)}\\fR`;

function commandSection(command: CommandSpec): string[] {
  const { name, description, details, examples, options } = command;
  const own = topicsOf(command).filter((topic) => topic !== "general");
  return [
    `.SH ${roff(`bpe ${name}`).toUpperCase()}`,
    synopsis(command),
    ".PP",
    roff(details ?? makeSentences(description)),
    ...own.flatMap((topic) => [
      `.SS ${roff(topics[topic].title)}`,
      ...options.filter((option) => option.topic === topic).flatMap(optionEntry),
    ]),
    `.SS ${examples.length === 1 ? "Example" : "Examples"}`,
    ...examples.flatMap(({ what, command }, i) => [
      ...(i === 0 ? [] : [".PP"]),
      ...[roff(`${what}:`), ".PP", ".EX", roff(`  ${command}`), ".EE"],
    ]),
  ];
}

function optionEntry(option: Option): string[] {
  const { name, short, kind } = option;
  const { value, repeatable } = kind;
  const names = [...(short === undefined ? [] : [`-${short}`]), `--${name}`].map(bold).join(", ");
  const taken = value === undefined ? "" : ` \\fI${roff(value)}\\fR`;
  return [".TP", `${names}${taken}${repeatable ? " ..." : ""}`, roff(describeOption(option))];
}

/** Escapes text for roff: dashes and quotes are shown as they are, and the text is not taken for a request. */
export const roff = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replaceAll("^", "\\(ha")
    .replaceAll("~", "\\(ti")
    .replace(/^\./, "\\&.");

const lines = (...all: string[]) => all.map((line) => `${line}\n`).join("");
