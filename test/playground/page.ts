// Tests the playground in Chromium: `npm run suite pages`.

import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { bpe, put, scratch } from "../binary.ts";
import { launchChromium } from "../pages/chromium.ts";
import { hostileTexts } from "../pages/hostile-texts.ts";
import { openPage, seenTexts, widthOf } from "../pages/page-probes.ts";
import { randomNumbers } from "../random.ts";

const directory = scratch();
const browser = await launchChromium();
afterAll(() => browser.close());
const path = join(directory, "playground.html");
expect(bpe(["playground", "-o", path, "-q"]).code).toBe(0);

const other = join(directory, "other");
const otherText = put(directory, "o.txt", "the low tower");
expect(bpe(["train", otherText, "-n", "260", "-o", other, "-q", "-w", "1"]).code).toBe(0);

/** Opens the page offline, and waits until it has trained. */
const open = (options: Parameters<typeof browser.newPage>[0] = {}, hash = "") =>
  openPage(browser, path, "#tree-view .node", options, hash);

/** Trains on the text or the file in the form, and waits for the result. */
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

test("the page trains without a network, prints nothing on the console, and requests nothing", async () => {
  const { page, problems, requests } = await open();
  expect(await page.textContent("#train-status")).toMatch(/^Learned \d+ merges from [\d.]+ kB/);
  expect(problems).toEqual([]);
  expect(new Set(requests.map((url) => url.slice(0, 5)))).toEqual(new Set(["file:", "blob:"]));
  await page.close();
});

test("the files of the page are those of bpe train, by three rules and five patterns", async () => {
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

/** Checks that the tokens which absorbed the shown token took exactly the occurrences that it has lost by the end. */
async function checkAbsorbers(page: Page): Promise<void> {
  const numbers = (text: string) => (text.match(/[\d,]+/g) ?? []).map((n) => Number(n.replaceAll(",", "")));
  const facts = (await page.textContent("#tree-view .facts-line"))!;
  const [made, left] = numbers(/made it in ([\d,]+ places. At the end [\d,]+)/.exec(facts)![1]!);
  const taken = await page.locator("#tree-view .columns > :last-child .quiet").allTextContents();
  expect(taken.length).toBeGreaterThan(0);
  expect(taken.map((text) => numbers(text)[0]!).reduce((sum, count) => sum + count, 0)).toBe(made! - left!);
}

test("every part works by click", async () => {
  const { page, problems } = await open();
  const tokens = async () =>
    Number((await page.textContent("#watch-count"))!.match(/: ([\d,]+) tokens/)![1]!.replace(",", ""));
  const first = await tokens();
  await page.focus("#watch-slider");
  await page.keyboard.press("ArrowRight");
  expect(await page.textContent("#watch-count")).toContain("After 1 of ");
  expect(await tokens()).toBeLessThan(first);
  await page.keyboard.press("End");
  expect(await page.innerText("#watch-done")).toBe("All merges are made.");
  expect(await page.isVisible("#watch-next")).toBe(false);
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
  await page.fill("#tree input", " the");
  await page.waitForFunction(() => document.querySelector("#tree-view .t")?.textContent === "␣the");
  expect(await page.locator("#tree-view .node").count()).toBe(7);
  await checkAbsorbers(page);
  await page.click("#tree-view .facts-line button");
  expect(await page.textContent("#watch-next")).toContain("→ ␣the");
  await page.focus("#rules-go");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#rules-view table");
  expect(await page.textContent("#rules-view")).toContain("merges are the same");
  await page.setInputFiles("#compare-file", join(other, "tokenizer.tiktoken"));
  await page.waitForSelector("#compare-view .caution");
  expect(await page.textContent("#compare-view")).toContain("choose the pattern that it was trained with");
  await page.selectOption("#compare-pattern", "gpt2");
  await page.waitForSelector("#compare-view .passage");
  const forms = page.locator("#exercise-list form");
  for (let i = 0; i < (await forms.count()); i++) {
    const form = forms.nth(i);
    await form.locator("input").fill("no answer");
    await form.getByText("Check").click();
    await form.locator("output.wrong").waitFor();
    await form.getByText("Show the answer").click();
    const shown = form.locator("output", { hasText: "The answer is" });
    await form.locator("input").fill((await shown.textContent())!.replace("The answer is ", ""));
    await form.getByText("Check").click();
    await form.locator("output.right", { hasText: "Right." }).waitFor();
  }
  expect(await page.textContent("#exercise-score")).toMatch(/^(\d+) of \1 solved$/);
  // The text is drawn on a canvas, so tokens are clicked by position.
  await page.locator("#watch-slider").fill("0");
  await page.click("#watch-text p", { position: { x: 4, y: 12 } });
  await page.waitForFunction(() => document.querySelector("#tree-view .t")?.textContent === "U");
  expect(problems).toEqual([]);
  await page.close();
}, 60_000);

/** The files of `npm run suite real`, which may be missing. */
const published = join(import.meta.dir, "../../dist/real/files");
test.if(existsSync(published))(
  "GPT-4o's own files are compared: known ranks bring their pattern",
  async () => {
    const { page, problems } = await open();
    for (const [file, kind] of [
      ["o200k-ranks/o200k_base.tiktoken", "(rank file of o200k_base"],
      ["gpt-4o/tokenizer.json", "(tokenizer.json)"],
    ] as const) {
      await page.setInputFiles("#compare-file", join(published, file));
      await page.locator(".pair-names", { hasText: kind }).waitFor();
      expect(await page.textContent("#compare-view")).toContain("4,080 tokens above, 2,568 below");
    }
    expect(problems).toEqual([]);
    await page.close();
  },
  60_000,
);

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
    for (const query of ["<", "script", '"']) await page.fill("#tree input", query);
  }
  await page.click("#rules-go");
  await page.waitForSelector("#rules-view table");
  const file = put(directory, "<img src=x onerror=globalThis.harmed=1>.json", "{}");
  await page.setInputFiles("#compare-file", file);
  await page.waitForSelector("#compare-view .caution");
  await page.fill("#exercise-text", hostileTexts.join(" "));
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => (globalThis as { harmed?: number }).harmed)).toBeUndefined();
  expect(problems).toEqual([]);
  await page.close();
}, 30_000);

test("a training can be cancelled at once, and the previous vocabulary stays; mistakes are reported", async () => {
  const { page, problems } = await open();
  const before = await page.getAttribute("#watch-slider", "max");
  await page.fill("#train-size", "30000");
  await page.setInputFiles("#train-files", put(directory, "large.txt", story.repeat(2000)));
  // Both clicks are in one task, so that the training cannot finish between them.
  await page.evaluate(() => {
    for (const name of ["go", "cancel"]) document.getElementById(`train-${name}`)!.click();
  });
  expect(await page.isVisible("#train-cancel")).toBe(false);
  expect(await page.textContent("#train-status")).toBe("Cancelled. The previous vocabulary is still shown.");
  expect(await page.getAttribute("#watch-slider", "max")).toBe(before);
  // The cancelled training does not replace the vocabulary later.
  await page.waitForTimeout(300);
  expect(await page.getAttribute("#watch-slider", "max")).toBe(before);
  await page.selectOption("#train-pattern", "");
  await page.fill("#train-regex", "(");
  await page.click("#train-go");
  await page.waitForSelector("#train-status .wrong");
  expect(await page.getAttribute("#watch-slider", "max")).toBe(before);
  expect(problems).toEqual([]);
  await page.close();
});

/** Returns the id and text of the focused element, whether its focus is visible, and whether it is the page itself. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement;
    const isSeen = element.getClientRects().length > 0 && element.matches(":focus-visible");
    const isPage = element === document.body;
    return { id: element.id, name: element.textContent!.trim(), isSeen, isPage };
  });

/** Presses `key` until the element with this id or text has the focus. The focus must be visible. */
async function tabTo(page: Page, place: string, key = "Tab"): Promise<void> {
  for (let tabs = 0; tabs < 200; tabs++) {
    await page.keyboard.press(key);
    const { id, name, isSeen, isPage } = await focused(page);
    // After the last element the page itself gets the focus.
    if (isPage) continue;
    expect([id, name, isSeen]).toEqual([id, name, true]);
    if (id === place || name === place) return;
  }
  throw new Error(`no tab goes to ${place}`);
}

test("every part works by keyboard, and the focus is never lost", async () => {
  const { page, problems } = await open({ viewport: { width: 390, height: 800 } });
  const press = (...keys: string[]) =>
    keys.reduce((done, key) => done.then(() => page.keyboard.press(key)), Promise.resolve());
  const merges = () =>
    page.locator("#watch-slider").evaluate((slider) => (slider as HTMLInputElement).valueAsNumber);
  await tabTo(page, "Exercises");
  await press("Enter");
  expect(new URL(page.url()).hash).toBe("#exercises");
  await page.goto(`${pathToFileURL(path)}#`);
  await page.evaluate(() => document.body.focus());
  await tabTo(page, "▶");
  await press("Enter", "Space");
  expect(await merges()).toBe(2);
  await tabTo(page, "◀", "Shift+Tab");
  await press("Enter");
  expect(await merges()).toBe(1);
  await tabTo(page, "Play");
  await press("Enter");
  await page.waitForFunction(
    () => (document.getElementById("watch-slider") as HTMLInputElement).valueAsNumber > 2,
  );
  await press("Enter");
  expect((await focused(page)).name).toBe("Play");
  await tabTo(page, "watch-slider");
  await press("End", "ArrowLeft", "ArrowLeft");
  const last = Number(await page.getAttribute("#watch-slider", "max"));
  expect(await merges()).toBe(last - 2);
  await press("Home");
  // Moves between tokens in the text, then opens the tree of one.
  await tabTo(page, "watch-text");
  await press("ArrowRight", "ArrowRight", "ArrowLeft");
  expect(await page.textContent("#watch-token")).toMatch(/^U : id \d+, a byte/);
  for (let i = 0; i < 700; i++) await press("ArrowRight");
  expect(await page.locator("#watch-text").evaluate((place) => place.scrollTop)).toBeGreaterThan(0);
  await press("Enter");
  await page.waitForFunction(() => document.activeElement!.id === "tree-view");
  expect(`${await page.textContent("#watch-token")}`).toStartWith(
    `${await page.textContent("#tree-view .t")} : id`,
  );
  await tabTo(page, "tree-query", "Shift+Tab");
  await page.keyboard.type(" the");
  await page.locator("#tree .found button").first().waitFor();
  await press("Tab", "Enter");
  await page.waitForFunction(() => document.querySelector("#tree-view .t")?.textContent === "␣the");
  await tabTo(page, "See it happen");
  await press("Enter");
  await page.waitForFunction(() => document.activeElement!.id === "watch-slider");
  expect(await page.textContent("#next-made")).toBe("␣the");
  await tabTo(page, "␣the");
  await press("Enter");
  await page.waitForFunction(() => document.activeElement!.id === "tree-view");
  // Opens a half of the shown token.
  await page.locator("#tree-view .halves button").first().focus();
  await press("Enter");
  await page.waitForFunction(() => document.activeElement!.id === "tree-view");
  await tabTo(page, "train-size");
  await page.keyboard.type("300");
  await tabTo(page, "Train");
  await press("Enter");
  await page.waitForFunction(
    () =>
      /^Learned/.test(document.getElementById("train-status")!.textContent!) &&
      (document.getElementById("watch-slider") as HTMLInputElement).max !== "744",
  );
  expect((await focused(page)).name).toBe("Train");
  await tabTo(page, "rules-go");
  await press("Enter");
  await page.locator("#rules-view table").first().waitFor();
  expect((await focused(page)).id).toBe("rules-go");
  // A table wider than the screen can be scrolled with the keyboard.
  await press("Tab");
  expect(await page.evaluate(() => document.activeElement!.getAttribute("aria-label"))).toBe(
    "What each trainer takes",
  );
  await tabTo(page, "compare-file");
  await page.locator("#exercise-list form").first().waitFor();
  await tabTo(page, "exercise-text");
  await press("Tab");
  await page.keyboard.type("none");
  await press("Enter");
  await page.locator("#exercise-list output.wrong").first().waitFor();
  await tabTo(page, "Show the answer");
  await press("Enter");
  await page.locator("#exercise-list output", { hasText: "The answer is" }).waitFor();
  const [made] = await Promise.all([
    page.waitForEvent("download"),
    (async () => {
      await tabTo(page, (await page.textContent("[data-file='vocab.json']"))!);
      await press("Enter");
    })(),
  ]);
  expect(made.suggestedFilename()).toBe("vocab.json");
  await tabTo(page, "take-link-copy");
  expect(problems).toEqual([]);
  await page.close();
}, 60_000);

test("with reduced motion, Play makes one merge a second, and the page does not scroll by itself", async () => {
  for (const reducedMotion of ["reduce", "no-preference"] as const) {
    const { page } = await open({ reducedMotion });
    const isCalm = reducedMotion === "reduce";
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior)).toBe(
      isCalm ? "auto" : "smooth",
    );
    const merges = () =>
      page.locator("#watch-slider").evaluate((slider) => (slider as HTMLInputElement).valueAsNumber);
    await page.locator("#watch-slider").fill("300");
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(1_000);
    await page.click("#watch-play");
    await page.clock.runFor(990);
    expect((await merges()) > 300).toBe(!isCalm);
    if (isCalm) {
      await page.clock.runFor(2_010);
      expect(await merges()).toBe(303);
    }
    await page.close();
  }
});

test("text has AA contrast against its background, light and dark, in every part", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const { page } = await open({ colorScheme });
    await page.fill("#train-size", "100");
    await page.fill("#tree input", "e");
    await page.click("#rules-go");
    await page.locator("#rules-view table").first().waitFor();
    await page.setInputFiles("#compare-file", put(directory, "no.json", "{}"));
    await page.locator("#compare-view .caution").waitFor();
    const low = await lowContrasts(page);
    await page.selectOption("#compare-pattern", "gpt2");
    await page.setInputFiles("#compare-file", join(other, "tokenizer.tiktoken"));
    await page.locator("#compare-view table").first().waitFor();
    const form = page.locator("#exercise-list form").first();
    for (const button of ["Check", "Show the answer"]) await form.getByText(button).click();
    await form.locator("output", { hasText: "The answer is" }).waitFor();
    await page.selectOption("#train-pattern", "");
    await page.fill("#train-regex", "(");
    await page.fill("#train-size", "300");
    await page.click("#train-go");
    await page.locator("#train-status .wrong").waitFor();
    for (const details of await page.locator("details").all())
      await details.evaluate((element) => element.setAttribute("open", ""));
    low.texts.push(...(await lowContrasts(page)).texts);
    expect([colorScheme, low.texts]).toEqual([colorScheme, []]);
    expect(low.seen).toBeGreaterThan(100);
    // The canvas shows tokens in at least four colours.
    expect(low.canvasColours).toBeGreaterThanOrEqual(4);
    await page.close();
  }
});

/**
 * Returns the texts, fields and token colours with too little contrast, the number of texts examined, and the number of
 * token colours on the canvas.
 */
async function lowContrasts(page: Page) {
  const seen = await seenTexts(page);
  const { pale, canvasColours } = await page.evaluate(fieldsAndCanvas);
  const low = seen.filter(({ contrast, size }) => contrast < (size >= 24 ? 3 : 4.5));
  return { texts: [...low.map(({ text }) => text), ...pale], seen: seen.length, canvasColours };
}

/**
 * Runs in the page. Finds form fields and token colours whose text has a contrast below 4.5, and counts the token
 * colours.
 */
function fieldsAndCanvas() {
  const light = (colour: string) =>
    (colour.match(/[\d.]+/g) ?? [])
      .slice(0, 3)
      .map((value) => Number(value) / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
      .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i]!, 0);
  const contrast = (a: string, b: string) => {
    const [high, low] = [light(a), light(b)].sort((x, y) => y - x) as [number, number];
    return (high + 0.05) / (low + 0.05);
  };
  const pale: string[] = [];
  for (const field of document.querySelectorAll<HTMLElement>("input:not([type=file]), textarea, select")) {
    const { backgroundColor, color } = getComputedStyle(field);
    for (const text of [color, getComputedStyle(field, "::placeholder").color])
      if (field.checkVisibility() && contrast(text, backgroundColor) < 4.5) pale.push(field.id);
  }
  const canvas = document.querySelector<HTMLCanvasElement>("#watch-text canvas")!;
  const pixels = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height).data;
  const counts = new Map<string, number>();
  for (let i = 0; i < pixels.length; i += 4) {
    const colour = pixels.slice(i, i + 4).join(" ");
    if (pixels[i + 3] === 255) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const letters = getComputedStyle(document.querySelector("#watch-text p")!).color;
  const fills = [...counts].filter(([, count]) => count > 3000).map(([fill]) => fill);
  return {
    pale: [...pale, ...fills.filter((fill) => contrast(letters, fill) < 4.5)],
    canvasColours: fills.length,
  };
}

test("a step over many merges changes a few elements, measures nothing, and paints only visible tokens", async () => {
  const { page } = await open();
  const letters = randomNumbers(20261126);
  const word = () => Array.from({ length: 3 + letters(8) }, () => "etaoinshrdlu"[letters(12)]).join("");
  const corpus = Array.from({ length: 60_000 }, word).join(" ");
  await page.setInputFiles("#train-files", put(directory, "words.txt", corpus));
  await page.fill("#train-size", "32256");
  await train(page);
  await page.locator("#watch").scrollIntoViewIfNeeded();
  expect(await page.getAttribute("#watch-slider", "max")).toBe("32000");
  const steps = Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? letters(32_000) : i));
  const { changes, fills, reads, elements } = await page.evaluate(countWork, [0, ...steps]);
  expect(Math.max(...changes)).toBeLessThanOrEqual(24);
  expect(Math.max(...reads)).toBe(0);
  // Only the visible lines are painted: 500 pixels high, with fewer than 180 characters in a line.
  expect(Math.max(...fills)).toBeLessThan(8_000);
  expect(Math.max(...fills)).toBeGreaterThan(1_000);
  expect(new Set(elements).size).toBe(1);
  await page.close();
}, 30_000);

/**
 * Runs in the page. For each step, counts changes of the document, painted rectangles, measurements of the layout, and
 * elements in the text.
 */
async function countWork(steps: number[]) {
  const count = { fills: 0, reads: 0 };
  const counting = (prototype: object, name: string, kind: keyof typeof count) => {
    const own = (prototype as Record<string, (...given: unknown[]) => unknown>)[name]!;
    Object.assign(prototype, {
      [name](this: unknown, ...given: unknown[]) {
        count[kind]++;
        return own.apply(this, given);
      },
    });
  };
  counting(CanvasRenderingContext2D.prototype, "fillRect", "fills");
  for (const prototype of [Element.prototype, Range.prototype])
    for (const name of ["getBoundingClientRect", "getClientRects"]) counting(prototype, name, "reads");
  const slider = document.getElementById("watch-slider") as HTMLInputElement;
  const observer = new MutationObserver(() => {});
  observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  const work = {
    changes: [] as number[],
    fills: [] as number[],
    reads: [] as number[],
    elements: [] as number[],
  };
  for (const step of steps) {
    Object.assign(count, { fills: 0, reads: 0 });
    observer.takeRecords();
    slider.value = String(step);
    slider.dispatchEvent(new Event("input"));
    work.changes.push(
      observer
        .takeRecords()
        .reduce((sum, { addedNodes, removedNodes }) => sum + 1 + addedNodes.length + removedNodes.length, 0),
    );
    work.fills.push(count.fills);
    work.reads.push(count.reads);
    work.elements.push(document.querySelectorAll("#watch-text *").length);
  }
  return work;
}

test("from 320 pixels on, no page is wider than its screen, light and dark", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const { page } = await open({ colorScheme });
    await page.click("#rules-go");
    await page.waitForSelector("#rules-view table");
    for (const width of [320, 390, 768, 1280, 1600]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await widthOf(page)).toBe(width);
    }
    await page.close();
  }
});
