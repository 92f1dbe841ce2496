// The page to learn from in a real Chromium: `npm run test:report`.
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { bpe, put, scratch } from "../binary.ts";
import { launchChromium } from "../report/chromium.ts";
import { hostileTexts } from "../report/hostile-texts.ts";

const directory = scratch();
const browser = await launchChromium();
afterAll(() => browser.close());
const path = join(directory, "playground.html");
expect(bpe(["playground", "-o", path, "-q"]).code).toBe(0);

type Opened = { page: Page; problems: string[]; requests: string[] };

/** Opens the page without a network, and waits until it has trained. */
async function open(options: Parameters<typeof browser.newPage>[0] = {}, hash = ""): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, offline: true, ...options });
  const problems: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => {
    problems.push("a dialog");
    void dialog.dismiss();
  });
  page.on("request", (request) => requests.push(request.url().slice(0, 5)));
  await page.goto(`${pathToFileURL(path)}${hash}`);
  await page.waitForSelector("#token-view .node");
  return { page, problems, requests };
}

/** Trains on the text or the file of the form, and waits for the result. */
async function train(page: Page): Promise<void> {
  await page.evaluate(() => document.getElementById("take-files")!.replaceChildren());
  await page.click("#train-go");
  await page.waitForSelector("#take-files [data-file='tokenizer.json']");
}

async function download(page: Page, name: string): Promise<Buffer> {
  const [made] = await Promise.all([page.waitForEvent("download"), page.click(`[data-file="${name}"]`)]);
  return readFileSync(await made.path());
}

const special = "<|end|>";
const story =
  `The low tower wasn't lower, 1,234 naïve 数据 🦊 weather.\n\n  they thought${special}of it\n`.repeat(40);

test("it trains without a network, says nothing on the console, and asks for nothing", async () => {
  const { page, problems, requests } = await open();
  expect(await page.textContent("#train-status")).toMatch(/^Learned \d+ merges from [\d.]+ kB/);
  expect(problems).toEqual([]);
  expect(new Set(requests)).toEqual(new Set(["file:", "blob:"]));
  await page.close();
});

test("its files are those of bpe train, by three rules and five patterns", async () => {
  const { page } = await open();
  const corpus = put(directory, "story.txt", story);
  await page.setInputFiles("#train-files", corpus);
  await page.fill("#train-special", special);
  await page.fill("#train-size", "320");
  for (const rule of ["cs336", "huggingface", "rustbpe"]) {
    for (const pattern of ["gpt2", "cl100k", "o200k", "llama3", "qwen2"]) {
      await page.selectOption("#train-rule", rule);
      await page.selectOption("#train-pattern", pattern);
      await train(page);
      const output = join(directory, `${rule}-${pattern}`);
      const options = ["-n", "320", "-s", special, "--pattern", pattern, "--compat", rule, "-w", "1"];
      expect(bpe(["train", corpus, ...options, "-o", output, "-q"]).code).toBe(0);
      const made = await download(page, "tokenizer.json");
      expect([rule, pattern, made.equals(readFileSync(join(output, "tokenizer.json")))]).toEqual([
        rule,
        pattern,
        true,
      ]);
      expect(await page.inputValue("#take-command")).toContain(`--pattern ${pattern} --compat ${rule}`);
    }
  }
  await page.close();
}, 120_000);

test("every part works by click and by keyboard", async () => {
  const { page, problems } = await open();
  const tokens = async () =>
    Number((await page.textContent("#watch-count"))!.match(/: ([\d,]+) tokens/)![1]!.replace(",", ""));
  const first = await tokens();
  await page.focus("#watch-slider");
  await page.keyboard.press("ArrowRight");
  expect(await page.textContent("#watch-count")).toContain("After 1 of ");
  expect(await tokens()).toBeLessThan(first);
  await page.keyboard.press("End");
  expect(await page.textContent("#watch-next")).toBe("All merges are made.");
  await page.click("[data-step='-1']");
  await page.waitForSelector("#watch-pairs .bar");
  await page.click("[data-step='-1000000']");
  expect(await tokens()).toBe(first);
  await page.click("#watch-play");
  await page.waitForFunction(
    () => (document.getElementById("watch-slider") as HTMLInputElement).valueAsNumber > 1,
  );
  await page.click("#watch-play");
  await page.fill("#watch-own", "the other text");
  await page.keyboard.press("Tab");
  await page.waitForFunction(() => document.getElementById("watch-text")!.textContent === "the other text");
  await page.fill("#watch-own", "");
  await page.keyboard.press("Tab");
  await page.waitForFunction(() =>
    document.getElementById("watch-text")!.textContent!.startsWith("Universal"),
  );
  await page.fill("#token-query", " the");
  await page.waitForFunction(() => document.querySelector("#token-view .t")?.textContent === "␣the");
  expect(await page.locator("#token-view .node").count()).toBe(7);
  await page.click("[data-merge]");
  expect(await page.textContent("#watch-next")).toContain("→ ␣the");
  await page.focus("#rules-go");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#rules-view table");
  expect(await page.textContent("#rules-view")).toContain("merges are the same");
  const other = join(directory, "other");
  expect(
    bpe(["train", put(directory, "o.txt", "the low tower"), "-n", "260", "-o", other, "-q", "-w", "1"]).code,
  ).toBe(0);
  await page.setInputFiles("#compare-file", join(other, "tokenizer.tiktoken"));
  await page.waitForSelector("#compare-view .passage");
  const forms = page.locator("#exercise-list form");
  for (let i = 0; i < (await forms.count()); i++) {
    const form = forms.nth(i);
    await form.locator("input").fill("no answer");
    await page.keyboard.press("Enter");
    expect(await form.locator("output").getAttribute("class")).toBe("wrong");
    await form.getByText("Show the answer").click();
    const answer = (await form.locator("output").textContent())!.replace("The answer is ", "");
    await form.locator("input").fill(answer);
    await page.keyboard.press("Enter");
    expect(await form.locator("output").textContent()).toBe("Right.");
  }
  expect(await page.textContent("#exercise-score")).toMatch(/^(\d+) of \1 solved$/);
  expect(problems).toEqual([]);
  await page.close();
}, 60_000);

test("hostile text, tokens, names and links run nothing", async () => {
  const tokens = hostileTexts
    .map((text) => text.replaceAll(/[\s\0]/g, ""))
    .filter((token) => token.length > 4);
  const fields = new URLSearchParams({
    n: "300",
    pattern: "gpt2",
    rule: "cs336",
    text: hostileTexts.join("\n").replaceAll("\0", "").repeat(9),
  });
  for (const token of tokens) fields.append("special", token);
  const { page, problems } = await open({}, `#${fields}`);
  for (const step of [0, 20, 44]) {
    await page
      .locator("#watch-slider")
      .fill(String(step))
      .catch(() => {});
    for (const query of ["<", "script", '"']) await page.fill("#token-query", query);
  }
  await page.click("#rules-go");
  await page.waitForSelector("#rules-view table");
  const file = put(directory, "<img src=x onerror=globalThis.harmed=1>.json", "{}");
  await page.setInputFiles("#compare-file", file);
  await page.waitForSelector("#compare-view .warning");
  await page.fill("#exercise-text", hostileTexts.join(" "));
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => (globalThis as { harmed?: number }).harmed)).toBeUndefined();
  expect(problems).toEqual([]);
  await page.close();
}, 30_000);

test("a training is ended at once, and the vocabulary from before stays; what is wrong is said", async () => {
  const { page, problems } = await open();
  const before = await page.getAttribute("#watch-slider", "max");
  await page.fill("#train-size", "30000");
  await page.setInputFiles("#train-files", put(directory, "large.txt", story.repeat(2000)));
  await page.click("#train-go");
  await page.click("#train-cancel");
  expect(await page.textContent("#train-status")).toBe("Ended. The vocabulary from before is still here.");
  expect(await page.getAttribute("#watch-slider", "max")).toBe(before);
  await page.selectOption("#train-pattern", "");
  await page.fill("#train-regex", "(");
  await page.click("#train-go");
  await page.waitForSelector("#train-status .wrong");
  expect(await page.getAttribute("#watch-slider", "max")).toBe(before);
  expect(problems).toEqual([]);
  await page.close();
});

test("no page is wider than its screen, from 320 pixels on, light and dark", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const { page } = await open({ colorScheme });
    await page.click("#rules-go");
    await page.waitForSelector("#rules-view table");
    for (const width of [320, 390, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
    await page.close();
  }
});
