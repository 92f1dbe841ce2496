import { describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { optionsPagePath, pagesOfCommands, pagesOfOptions } from "../../scripts/options-page.ts";
import { commands } from "../../src/main/all-commands.ts";
import type { Message } from "../../src/runtime/message.ts";
import * as messages from "../../src/runtime/message.ts";
import { put, scratch } from "../binary.ts";
import { expectPage } from "./expect-page.ts";
import { isShown, play, playedPages, root, scriptsOf } from "./play.ts";

const home = scratch();

describe("every example prints the output on the page:", () => {
  for (const path of playedPages()) {
    test(path, () => expectPage(path, mkdtempSync(join(home, "page-"))), 120_000);
  }
});

test("all pages are tested", () => {
  expect(playedPages()).toContain("docs/nightly.md");
  expect(playedPages("python")).toContain("docs/your-model.md");
});

describe("docs/options.md", () => {
  const plain = (text: Message) => messages.spell(text).replaceAll(/[`\\]/g, "").replaceAll(/\s+/g, " ");
  const page = readFileSync(optionsPagePath, "utf8");
  /** The page's paragraphs, and the items of its lists: commands, options, and options that exclude each other. */
  const items = page.split(/\n(?=- |\n)/).map((item) => plain(item.trim().replace(/^- /, "")));
  const itemsOf = (start: RegExp) => items.filter((item) => start.test(item));

  test("has every command with all that the table says of it, or links to the page that has it", () => {
    for (const { name, details, description, filesDescription } of commands) {
      const entries = itemsOf(new RegExp(`^bpe ${name} `));
      expect([name, entries.length]).toEqual([name, 1]);
      const given = pagesOfCommands[name];
      const said = given === undefined ? (details ?? description) : description;
      expect(entries[0]!.toLowerCase()).toContain(plain(said).toLowerCase());
      if (given !== undefined)
        expect(readFileSync(join(root, "docs", given), "utf8")).toContain(`bpe ${name} `);
      if (commands.filter((other) => other.filesDescription === filesDescription).length > 1) continue;
      expect(entries[0]!.toLowerCase()).toContain(plain(filesDescription ?? "").toLowerCase());
    }
  });

  test("has every option with all that the table says of it, or links to the page that has it", () => {
    for (const { name, options } of commands) {
      for (const option of options) {
        const [entry = "", ...more] = itemsOf(new RegExp(`^(-\\w, )?--${option.name} `));
        expect([option.name, more]).toEqual([option.name, []]);
        const given = pagesOfOptions[option.name];
        const details =
          given === undefined ? messages.spell(option.details ?? "").split(/(?<=[.]) (?=[A-Z])/) : [];
        for (const text of [...details, option.default, option.needs?.other, ...(option.kind.words ?? [])]) {
          expect(entry).toContain(plain(text ?? ""));
        }
        expect(entry.toLowerCase()).toContain(plain(option.description).toLowerCase());
        // A list of commands in parentheses is followed by what the option means for them.
        expect(entry).not.toMatch(/\([\w, ]+\) ?($|\[|-|\()/);
        if ((option.kind.least ?? 0) > 1) expect(entry).toContain(option.kind.least!.toLocaleString("en"));
        if (option.required) expect(entry).toContain("required");
        const groups = ["all", "readers", "users", "writers"].filter((group) =>
          membersOf(group).includes(name),
        );
        expect(entry).toMatch(new RegExp(`\\(([^)]*, )?(${[name, ...groups].join("|")})[,)]`));
        if (given !== undefined) {
          const typed = new RegExp(`--${option.name}\\b|-${option.short ?? "-nothing"}\\b`);
          expect([option.name, readFileSync(join(root, "docs", given), "utf8").search(typed)]).not.toEqual([
            option.name,
            -1,
          ]);
        }
      }
    }
  });

  test("says once which options exclude each other, and why", () => {
    for (const { options } of commands) {
      for (const { name, excludes = [] } of options) {
        for (const { other, why, unless } of excludes) {
          if (!options.some((option) => option.name === other.split(" ")[0])) continue;
          const [entry = "", ...more] = itemsOf(new RegExp(`^Not with --${other}:`));
          expect([other, more]).toEqual([other, []]);
          for (const text of [`--${name}`, why, unless]) expect(entry).toContain(plain(text ?? ""));
        }
      }
    }
  });

  /** Returns the commands of a group: all commands, or a group that the top of the page lists. */
  function membersOf(group: string): string[] {
    if (group === "all") return commands.map(({ name }) => name);
    const [, list] = new RegExp(`\\*${group}\\* [^;]*?are ([\\w,\\s]+)[;.]`, "i").exec(page)!;
    return list!.split(/,\s+/).map((name) => name.replaceAll(/\s+/g, " "));
  }
});

describe("a page", () => {
  const page =
    "a\n```sh run\necho 1\n\necho 2\n```\n\n```output\n1\n2\n```\n```sh\nfalse\n```\n````python run\n```\n````\n";

  test("has scripts where blocks are marked, each with the following output", () => {
    expect(scriptsOf(page)).toMatchObject([
      { language: "sh", line: 3, text: "echo 1\n\necho 2\n", output: { line: 9, text: "1\n2\n" } },
      { language: "python", line: 16, text: "```\n", output: undefined },
    ]);
  });

  test("is run in order, in one directory, and errors are noticed", () => {
    const scripts = ["echo x > y", "cat y; echo e >&2; cat LICENSE | wc -l", "false | true", "false\ntrue"];
    const played = play(
      scripts.map((script) => `\`\`\`sh run\n${script}\n\`\`\`\n`).join(""),
      mkdtempSync(join(home, "page-")),
    );
    expect(played.map(({ code }) => code)).toEqual([0, 0, 1, 1]);
    expect(played[1]!.printed).toMatch(/^x\ne\n\d+\n$/);
  });

  test("that fails, or prints something else, is an error with its line", () => {
    const expectScript = (script: string, output: string) => {
      const file = put(home, "page.md", `\`\`\`sh run\n${script}\n\`\`\`\n\`\`\`output\n${output}\n\`\`\`\n`);
      expectPage(relative(root, file), mkdtempSync(join(home, "page-")));
    };
    expectScript("echo 1", "1");
    expect(() => expectScript("echo 1", "2")).toThrow("page.md:2");
    expect(() => expectScript("echo 1; false", "1")).toThrow("page.md:2");
  });

  test("is compared except for times, rates, memory, process ids and matches of …", () => {
    const same = (text: string, printed: string) => isShown({ info: "output", text }, printed);
    expect(same("time 12 ms (899 MB/s)\n", "time    3,000 ms (1.2 kB/s)\n")).toBe(true);
    expect(same("at 2026-11-20T02:00:00.123Z\n", "at 2027-01-01T00:00:00Z\n")).toBe(true);
    expect(same("memory 62.7 MB at its peak\n", "memory 1.1 GB at its peak\n")).toBe(true);
    expect(same("a\n…\nz\n", "a\nb\nc\nz\n")).toBe(true);
    expect(same("a\n…\nz\n", "a\nz\n")).toBe(true);
    expect(same("a … z\n", "a b z\n")).toBe(true);
    expect(same("corpus 11.4 kB\n", "corpus 11.5 kB\n")).toBe(false);
    expect(same("a\n", "a\nb\n")).toBe(false);
    expect(same("a\nb\n", "a\n")).toBe(false);
    expect(same("a.c\n", "abc\n")).toBe(false);
    expect(same("a\n…\nz\n", "a\nb\nc\n")).toBe(false);
    expect(same("743 merges\n", "744 merges\n")).toBe(false);
  });

  test("may show the result for another corpus: then numbers are ignored, with their units", () => {
    const same = (text: string, printed: string) => isShown({ info: "output numbers aside", text }, printed);
    expect(same("corpus 100.6 MB in 1 file\n", "corpus 11.4 kB in 20 files\n")).toBe(true);
    expect(same("3.864 bytes, 11.1 % of 31,743\n", "4 bytes, 2 % of 7\n")).toBe(true);
    expect(same("corpus 100.6 MB\n", "text 100.6 MB\n")).toBe(false);
    expect(same("4 tokens\n", "4 tokens\nwritten\n")).toBe(false);
  });
});
