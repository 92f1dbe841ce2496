// Queries about a page in Chromium, for tests.
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";

export type Opened = { page: Page; problems: string[]; requests: string[] };

/**
 * Opens a page, and collects its messages, errors and requests. Waits until an element matches the selector `ready`, if
 * one is given.
 */
export async function openPage(
  browser: Browser,
  path: string,
  ready: string | null,
  options: Parameters<Browser["newPage"]>[0] = {},
  hash = "",
): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, offline: true, ...options });
  const problems: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => {
    problems.push("a dialog");
    void dialog.dismiss();
  });
  page.on("requestfinished", (request) => requests.push(request.url()));
  await page.goto(`${pathToFileURL(path)}${hash}`);
  if (ready !== null) await page.waitForSelector(ready, { state: "attached" });
  return { page, problems, requests };
}

export const widthOf = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth);

/** Opens all collapsed sections. */
export const unfold = (page: Page) =>
  page.evaluate(async () => {
    for (let left = document.querySelectorAll("details:not([open])"); left.length > 0; ) {
      for (const details of left) (details as HTMLDetailsElement).open = true;
      // An opened section is filled a moment later, and may then contain other sections.
      await new Promise((done) => setTimeout(done, 50));
      left = document.querySelectorAll("details:not([open])");
    }
  });

/** Counts the pixels of a picture for each colour, written as "r,g,b". */
export async function coloursOf(browser: Browser, png: Buffer): Promise<Map<string, number>> {
  const page = await browser.newPage();
  const counts = await page.evaluate(
    async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d")!;
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, image.height);
      const found: Record<string, number> = {};
      for (let i = 0; i < data.length; i += 4) {
        const colour = `${data[i]},${data[i + 1]},${data[i + 2]}`;
        found[colour] = (found[colour] ?? 0) + 1;
      }
      return found;
    },
    `data:image/png;base64,${png.toString("base64")}`,
  );
  await page.close();
  return new Map(Object.entries(counts));
}

/** Returns overlapping labels of pictures. */
export const overlaps = (page: Page) =>
  page.evaluate(() => {
    const found: string[] = [];
    for (const plot of document.querySelectorAll(".plot, .dots > div, .panels figure")) {
      const words = [...plot.querySelectorAll("text, .y-title, .x-title, span")].filter(
        (word) => word.textContent !== "",
      );
      const boxes = words.map((word) => {
        const range = document.createRange();
        range.selectNodeContents(word);
        return { text: word.textContent!, ...range.getBoundingClientRect().toJSON() };
      });
      for (const [i, a] of boxes.entries())
        for (const b of boxes.slice(i + 1))
          if (a.left < b.right && b.left < a.right && a.top < b.bottom - 3 && b.top < a.bottom - 3)
            found.push(`${a.text} over ${b.text}`);
    }
    return found;
  });

/** Returns visible texts, except options of menus, with size, colour, and contrast to the background. */
export const seenTexts = (page: Page) =>
  page.evaluate(() => {
    const rgba = (colour: string) => {
      const [r, g, b, a = 1] = colour.match(/[\d.]+/g)!.map(Number);
      // Components of mixed colours are between 0 and 1.
      const unit = colour.startsWith("color(srgb") ? 255 : 1;
      return [r! * unit, g! * unit, b! * unit, a] as const;
    };
    const over = (top: readonly number[], below: readonly number[]) =>
      [0, 1, 2].map((i) => top[i]! * top[3]! + below[i]! * (1 - top[3]!));
    const backgroundOf = (element: Element | null): number[] => {
      if (element === null) return [255, 255, 255];
      const colour = rgba(getComputedStyle(element).backgroundColor);
      return colour[3] === 1 ? colour.slice(0, 3) : over(colour, backgroundOf(element.parentElement));
    };
    const light = (colour: readonly number[]) => {
      const [r, g, b] = colour.map((part) => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
    };
    const found: { text: string; size: number; contrast: number; fill: string; background: string }[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement!;
      const text = node.textContent!.trim();
      if (text === "" || !element.checkVisibility() || element.closest("script, title, .unseen, option"))
        continue;
      const style = getComputedStyle(element);
      const isDrawn = element instanceof SVGElement;
      const background = backgroundOf(element);
      const fill = over(rgba(isDrawn ? style.fill : style.color), background);
      const [a, b] = [light(fill), light(background)].sort((a, b) => b - a);
      // Text in a picture is scaled with the picture.
      const scale = isDrawn ? Math.abs((element as unknown as SVGGraphicsElement).getScreenCTM()!.a) : 1;
      found.push({
        text: text.slice(0, 40),
        size: Number.parseFloat(style.fontSize) * scale,
        contrast: (a! + 0.05) / (b! + 0.05),
        fill: fill.map(Math.round).join(),
        background: background.join(),
      });
    }
    return found;
  });
