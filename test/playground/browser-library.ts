// The library for browsers in a real Chromium, beside the same library here: `npm run test:report`.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Page } from "playwright-core";
import { compileLibrary } from "../../scripts/npm/compile.ts";
import { TextTokenizer } from "../../src/pipeline/text-tokenizer.ts";
import { scratch } from "../binary.ts";
import { randomFile, told as toldBy } from "../formats/random-files.ts";
import { randomText } from "../pattern/random-patterns.ts";
import { randomNumbers } from "../random.ts";
import { commonTexts } from "../real/texts.ts";
import { realTokenizers } from "../real/tokenizers.ts";
import { launchChromium } from "../report/chromium.ts";

const directory = scratch();
const browser = await launchChromium();
afterAll(() => browser.close());
let page: Page;
/** In the page. */
declare const told: (file: string | object, texts: readonly string[]) => unknown;

beforeAll(async () => {
  await compileLibrary("browser", directory, "");
  page = await browser.newPage();
  const library = readFileSync(join(directory, "browser/browser.js"), "utf8");
  const made = `globalThis.told = (file, texts) => (${toldBy})(${exportedAs(library, "Tokenizer")}, file, texts);`;
  await page.addScriptTag({ type: "module", content: `${library}\n${made}` });
});

/** What the script itself calls an export. */
const exportedAs = (script: string, name: string) => new RegExp(`(\\w+) as ${name}\\b`).exec(script)![1]!;

test("150 random files are loaded and give the same ids, chunks and texts as here, or the same refusal", async () => {
  const random = randomNumbers(20261126);
  const cases = Array.from({ length: 150 }, () => ({
    file: randomFile(random),
    texts: Array.from({ length: 4 }, () => randomText(random, 20)),
  }));
  const theirs = await page.evaluate((all) => all.map(({ file, texts }) => told(file, texts)), cases);
  const ours = cases.map(({ file, texts }) => toldBy(TextTokenizer, file, texts));
  expect(theirs).toEqual(JSON.parse(JSON.stringify(ours)));
  const refusals = ours.filter((one) => typeof one === "string");
  expect(refusals.filter((reason) => reason.includes("bug"))).toEqual([]);
  expect(refusals.length).toBeLessThan(75);
}, 120_000);

/** Those of `npm run test:real`, if they are here. */
const home = join(import.meta.dir, "../../dist/real/files");
test.if(existsSync(home))(
  "published files are loaded as here: GPT-4o's, and all others",
  async () => {
    const texts = commonTexts(12).slice(0, 150);
    let loaded = 0;
    for (const { name, file } of realTokenizers.filter(({ file }) => file.endsWith(".json"))) {
      const json = readFileSync(join(home, name, basename(file)), "utf8");
      const theirs = await page.evaluate(([file, some]) => told(file, some), [json, texts] as const);
      const ours = toldBy(TextTokenizer, json, texts);
      expect([name, theirs]).toEqual([name, JSON.parse(JSON.stringify(ours))]);
      if (typeof ours !== "string") loaded++;
    }
    expect(loaded).toBeGreaterThan(12);
  },
  600_000,
);
