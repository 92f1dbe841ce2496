import { expect, test } from "bun:test";
import { manPage, roff } from "../../scripts/release/man-page.ts";
import { shellFiles } from "../../scripts/release/shell-files.ts";
import { commands } from "../../src/main/all-commands.ts";
import * as messages from "../../src/runtime/message.ts";

const page = manPage({ version: "1.2.3", seconds: 1_700_000_000 });

/** Returns the page as `man` shows it, and groff's warnings. */
function rendered(text: string): { shown: string; warnings: string } {
  const groff = ["groff", "-man", "-Tutf8", "-ww", "-P-c", "-P-b", "-P-u", "-rLL=100n"];
  const { stdout, stderr } = Bun.spawnSync(groff, { stdin: Buffer.from(text) });
  return { shown: stdout.toString(), warnings: stderr.toString() };
}

test("the manual page states the version and the day of the release", () => {
  expect(page).toStartWith('.TH BPE 1 "2023-11-14" "bpe 1.2.3" "User Commands"\n');
});

test("text appears verbatim, whatever its characters", () => {
  expect(roff(".a")).toBe("\\&.a");
  expect(roff("'a'")).toBe("\\(aqa\\(aq");
  expect(roff("--x \\n")).toBe("\\-\\-x \\en");
  for (const line of page.split("\n"))
    expect(line).not.toMatch(/^'|^\.(?!TH|SH|SS|TP|PP|EX|EE|B |br|nh|ad|nr)/);
});

test.skipIf(Bun.which("groff") === null)(
  "groff shows it without a warning, with all that the table has",
  () => {
    const { shown, warnings } = rendered(page);
    expect(warnings).toBe("");
    const flat = shown.replaceAll(/\s+/g, " ");
    for (const { name, options, examples } of commands) {
      expect(flat).toContain(`BPE ${name.toUpperCase()}`);
      for (const option of options) {
        const short = option.short === undefined ? "" : `-${option.short}, `;
        expect(flat).toContain(
          `${short}--${option.name}${option.kind.value === undefined ? "" : ` ${option.kind.value}`}`,
        );
        if (option.details !== undefined) expect(flat).toContain(messages.spell(option.details));
      }
      // Quotes and dashes must be ASCII, so that readers can paste examples into a shell.
      for (const { command } of examples) expect(shown).toContain(command);
    }
  },
);

test("an archive gets the page and the completions under the names that systems expect", () => {
  const files = shellFiles({ version: "1.2.3", seconds: 1_700_000_000 });
  expect(files.map(({ path, installedPath }) => [path, installedPath])).toEqual([
    ["bpe.1", "share/man/man1/bpe.1"],
    ["completions/bpe.bash", "share/bash-completion/completions/bpe"],
    ["completions/_bpe", "share/zsh/site-functions/_bpe"],
    ["completions/bpe.fish", "share/fish/vendor_completions.d/bpe.fish"],
  ]);
  expect(files[0]!.text).toBe(page);
});
