import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, environment, scratch } from "../binary.ts";

const home = scratch();

test("the page goes to a file or to standard output, as one file that loads nothing else", () => {
  const { code, stderr } = bpe(["playground", "-o", "page.html"], { cwd: home });
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/^wrote a page of [\d.]+ kB: open it in a browser\n$/),
  ]);
  const page = readFileSync(join(home, "page.html"));
  expect(page.length).toBeLessThan(900_000);
  const { stdout } = Bun.spawnSync([binary, "playground", "-q"], { env: environment });
  expect(stdout.equals(page)).toBe(true);
  const text = page.toString();
  expect(
    text.match(
      /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[^']+' 'wasm-unsafe-eval';/,
    ),
  ).not.toBeNull();
  const shell = text.replace(/<script>.*<\/script>/s, "").replace(/<style>.*<\/style>/s, "");
  expect(shell.match(/(src|href)="(?!#|data:)[^"]*"/g)).toBeNull();
});
