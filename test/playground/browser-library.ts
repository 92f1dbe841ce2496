// Compares the browser library in Chromium with the library in this process: `npm run suite pages`.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Page } from "playwright-core";
import { compileLibrary } from "../../scripts/npm/compile.ts";
import { TextTokenizer } from "../../src/library/text-tokenizer.ts";
import { UserError } from "../../src/runtime/errors.ts";
import { scratch } from "../binary.ts";
import { commonTexts } from "../oracles/real/texts.ts";
import { realTokenizers } from "../oracles/real/tokenizers.ts";
import { launchChromium } from "../pages/chromium.ts";
import { randomNumbers } from "../random.ts";
import { randomFile, told as toldBy } from "../unit/formats/random-files.ts";
import { randomText } from "../unit/pattern/random-patterns.ts";

const directory = scratch();
const browser = await launchChromium();
afterAll(() => browser.close());
let page: Page;
/** This function is defined in the page. */
declare const told: (file: string | object, texts: readonly string[]) => unknown;

beforeAll(async () => {
  await compileLibrary("browser", directory, "");
  page = await browser.newPage();
  const library = readFileSync(join(directory, "browser/browser.js"), "utf8");
  const made = `globalThis.told = (file, texts) => (${toldBy})(${exportedAs(library, "Tokenizer")}, file, texts);`;
  await page.addScriptTag({ type: "module", content: `${library}\n${made}` });
});

/** Returns the local name of an export of the script. */
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

/** Returns the first random file that loads and has one token for "a". */
function plainFile(): string {
  for (let seed = 0; ; seed++) {
    const file = JSON.stringify(randomFile(randomNumbers(seed)));
    try {
      if (TextTokenizer.from(file).encode("a").length === 1) return file;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
    }
  }
}

/** Returns the value that `script` gives its own variable `said`. */
async function said(script: string, headers: Record<string, string> = {}): Promise<string> {
  const library = readFileSync(join(directory, "browser/browser.js"), "utf8");
  const body = `<!doctype html><meta charset=utf-8><script type=module src=page.js></script>`;
  const files: Record<string, [type: string, body: string]> = {
    "/": ["text/html", body],
    "/browser.js": ["text/javascript", library],
    "/tokenizer.json": ["application/json", plainFile()],
    "/page.js": [
      "text/javascript",
      `import { Tokenizer, trainTokenizer, UserError } from "./browser.js";
       const json = await (await fetch("tokenizer.json")).text();
       ${script}
       document.title = JSON.stringify(said);`,
    ],
  };
  const site = await browser.newPage();
  try {
    await site.route("http://bpe.test/**", (route) => {
      const found = files[new URL(route.request().url()).pathname];
      if (found === undefined) return route.fulfill({ status: 404 });
      return route.fulfill({ contentType: found[0], body: found[1], headers });
    });
    await site.goto("http://bpe.test/");
    // `waitForFunction` needs eval, which the page's policy may forbid.
    const deadline = Date.now() + 50_000;
    while ((await site.title()) === "" && Date.now() < deadline) await site.waitForTimeout(50);
    return JSON.parse(await site.title());
  } finally {
    await site.close();
  }
}

const tried = `const tried = async (work) => {
  try { return String(await work()); }
  catch (error) { return (error instanceof UserError) + " " + error.message + " | " + error.hint; }
};`;

test("where a policy forbids WebAssembly, encoding and training fail with what to allow", async () => {
  const script = `${tried} const said = [
    await tried(() => Tokenizer.from(json).encode("a").length),
    await tried(() => trainTokenizer({ texts: ["low lower"], vocabSize: 258 }).then(({ size }) => size)),
  ];`;
  const policy = (source: string) => ({ "Content-Security-Policy": `script-src 'self' ${source}` });
  expect(await said(script, policy("'wasm-unsafe-eval'"))).toEqual(["1", "258"] as never);
  for (const one of await said(script, policy("")))
    expect(one).toMatch(/^true WebAssembly is not allowed here: .* \| .*'wasm-unsafe-eval'/);
}, 60_000);

test("a page can have a hundred tokenizers, each encoding both ways; one more is an error with the reason", async () => {
  const script = `${tried} const all = []; let last = "1";
  while (all.length < 200 && last === "1") {
    const tokenizer = Tokenizer.from(json);
    last = await tried(() => tokenizer.encode("a").length && tokenizer.encode("a", { specialTokensAsText: true }).length);
    all.push(tokenizer);
  }
  const said = [String(all.length), last];`;
  const [count, last] = await said(script);
  expect(Number(count)).toBeGreaterThan(100);
  expect(last).toMatch(
    /^1$|^true the JavaScript engine cannot allocate another WebAssembly memory: .* \| .*one tokenizer for many texts/,
  );
}, 60_000);

test("bytes, options and signals of a frame are accepted", async () => {
  const script = `${tried} const frame = document.createElement("iframe");
  document.body.append(frame);
  const there = frame.contentWindow;
  const tokenizer = Tokenizer.from(json);
  const options = there.Object.assign(new there.Object(), { specialTokensAsText: true });
  const texts = there.Array.of("low lower");
  const training = new there.Object();
  const stop = new there.AbortController();
  Object.assign(training, { texts, files: new there.Blob(["low"]), vocabSize: 258, signal: stop.signal });
  const said = [
    await tried(() => tokenizer.encode(new there.Uint8Array([97]), options).length),
    await tried(() => tokenizer.decode(new there.Uint32Array(tokenizer.encode("a"))).length),
    await tried(() => trainTokenizer(training).then(({ size }) => size)),
    await tried(() => { stop.abort("enough"); return trainTokenizer(training).catch(String); }),
  ];`;
  expect(await said(script)).toEqual(["1", "1", "258", "enough"] as never);
}, 60_000);

/** The files of `npm run suite real`, which may be missing. */
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
