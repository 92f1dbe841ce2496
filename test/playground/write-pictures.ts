// Takes the screenshots of docs/learn.md: `npm run suite pictures`.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launchChromium } from "../pages/chromium.ts";

const root = join(import.meta.dir, "../..");
/**
 * This file is type-checked without the types of browsers, so this declares the members of `HTMLElement` that it uses.
 */
type Styled = { readonly style: { display: string; height: string } };

const browser = await launchChromium();
try {
  const viewport = { width: 640, height: 900 };
  const page = await browser.newPage({ viewport, colorScheme: "light", deviceScaleFactor: 1.5 });
  await page.goto(String(pathToFileURL(join(root, "dist/playground/playground.html"))));
  await page.waitForSelector("#tree-view .node");
  await page.locator("#watch-slider").fill("60");
  const hidden = "#watch > h2, #watch > p:first-of-type, #watch .columns, #watch-token, #tree-view .columns";
  await page.$$eval(hidden, (elements) => {
    for (const element of elements) (element as unknown as Styled).style.display = "none";
  });
  await page.$eval("#watch-text", (element) => {
    (element as unknown as Styled).style.height = "163px";
  });
  await page.evaluate("document.activeElement.blur()");
  await page.waitForTimeout(500);
  for (const [place, name] of [
    ["#watch", "learn-watch.png"],
    ["#tree-view", "learn-token.png"],
  ] as const)
    await page.locator(place).screenshot({ path: join(root, "docs", name) });
} finally {
  await browser.close();
}
