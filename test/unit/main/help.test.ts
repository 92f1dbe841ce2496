import { describe, expect, test } from "bun:test";
import { commands } from "../../../src/main/all-commands.ts";
import type { CommandSpec } from "../../../src/main/command-spec.ts";
import { commandHelp, programHelp, topicHelp, topicsOf } from "../../../src/main/help.ts";
import * as messages from "../../../src/runtime/message.ts";
import { colourStyles, plainStyles } from "../../../src/terminal/styling.ts";

const page = (columns: number, styles = plainStyles) => ({ columns, styles });
const pagesOf = (command: CommandSpec, columns: number) => [
  commandHelp(command, page(columns)),
  ...[...topicsOf(command), "all"].map((topic) => topicHelp(command, topic, page(columns))),
];
const widest = (text: string) => Math.max(...text.split("\n").map((line) => Bun.stringWidth(line)));

describe("every page", () => {
  for (const columns of [60, 80, 120]) {
    test(`fits ${columns} columns`, () => {
      expect(widest(programHelp(page(columns)))).toBeLessThanOrEqual(columns);
      for (const command of commands) {
        for (const text of pagesOf(command, columns)) expect(widest(text)).toBeLessThanOrEqual(columns);
      }
    });
  }

  test("fits 40 columns, but for words of examples that are wider", () => {
    const narrow = (text: string) => text.replaceAll(/^ +\S+( \\)?$/gm, "");
    for (const text of [programHelp(page(40)), ...commands.flatMap((command) => pagesOf(command, 40))]) {
      expect(widest(narrow(text))).toBeLessThanOrEqual(40);
    }
  });

  test("has no trailing space, and ends with a line end", () => {
    for (const text of [programHelp(page(80)), ...commands.flatMap((command) => pagesOf(command, 80))]) {
      expect(text).not.toMatch(/ \n|\n\n$|[^\n]$/);
    }
  });

  test("has the same text with and without colours", () => {
    for (const command of commands) {
      const shown = commandHelp(command, page(80, colourStyles));
      expect(shown).toContain("\x1b[1m");
      expect(Bun.stripANSI(shown)).toBe(commandHelp(command, page(80)));
      expect(Bun.stripANSI(topicHelp(command, "all", page(80, colourStyles)))).toBe(
        topicHelp(command, "all", page(80)),
      );
    }
  });
});

describe("the page of a command", () => {
  // If a new option makes the page too long, mark it or another one as `rare`.
  test("is one screen of 80 columns and 24 rows, and so is that of the program", () => {
    for (const text of [programHelp(page(80)), ...commands.map((command) => commandHelp(command, page(80)))])
      expect(text.split("\n").length - 1).toBeLessThanOrEqual(24);
  });

  test("has the usual options with their phrase, an example, and all that fits of the rest", () => {
    for (const command of commands) {
      const text = commandHelp(command, page(120));
      const joined = text.split("\nExample")[0]!.replaceAll(/\s+/g, " ");
      for (const { name, rare, kind, description } of command.options) {
        const named = `--${name}${kind.value === undefined ? "" : ` ${kind.value}`} ${messages.spell(description)}`;
        expect([named, joined.includes(named)]).toEqual([named, !rare]);
      }
      expect(text).toContain(`\n  ${command.examples[0]!.what}:\n`);
    }
    const decode = commands.find(({ name }) => name === "decode")!;
    expect(topicHelp(commands[0]!, "all", page(1000))).toContain(commands[0]!.details!);
    for (const { what } of decode.examples) expect(commandHelp(decode, page(80))).toContain(`  ${what}:\n`);
    expect(commandHelp(decode, page(80))).toContain(decode.details!.slice(0, 40));
  });
});

describe("the table", () => {
  test("has short phrases that repeat no other field", () => {
    for (const { options } of commands) {
      for (const { description, default: standard } of options) {
        expect(messages.spell(description)).toMatch(/^.{3,70}$/);
        expect(messages.spell(description)).not.toMatch(/[.]$|\(required|\(default/);
        expect(messages.spell(standard ?? "")).not.toMatch(/[.]$/);
      }
    }
  });

  test("gives each option and each short name once", () => {
    for (const { options } of commands) {
      const names = options.flatMap(({ name, short }) =>
        short === undefined ? [name] : [name, `-${short}`],
      );
      expect(new Set(names).size).toBe(names.length);
    }
  });
});
