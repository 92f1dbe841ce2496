// The page of a report in a real Chromium: `npm run test:report`.
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { bpe, put, scratch } from "../binary.ts";
import { coloursOf, openPage, overlaps, seenTexts, widthOf } from "../pages/page-probes.ts";
import { launchChromium } from "./chromium.ts";
import { hostileTexts } from "./hostile-texts.ts";

const directory = scratch();
const browser = await launchChromium();
afterAll(() => browser.close());

const story = "The low tower was lower than the newest tower. There they thought of the other weather.\n";
const text = put(directory, "story.txt", story.repeat(60));
const tokenizers = ["280", "320", "400"].map((size) => {
  const path = join(directory, `of${size}`);
  expect(bpe(["train", text, "-n", size, "-o", path, "-q"]).code).toBe(0);
  return path;
});

const open = (path: string, options: Parameters<typeof browser.newPage>[0] = {}) =>
  openPage(browser, path, options.javaScriptEnabled === false ? null : ".tree .node", options);

function reportOf(name: string, ...args: string[]): string {
  const path = join(directory, `${name}.html`);
  expect(bpe([...args, "--report", path, "-q"]).code).toBe(0);
  return path;
}

const trained = reportOf(
  "trained",
  "train",
  text,
  "-n",
  "400",
  "-s",
  "<|end|>",
  "-o",
  join(directory, "trained"),
);
for (const [name, path] of [["a training", trained]] as const) {
  for (const width of [1280, 768, 390, 320]) {
    for (const colorScheme of ["light", "dark"] as const) {
      test(`${name}, ${width} pixels, ${colorScheme}: nothing is wider than the screen, and nothing goes wrong`, async () => {
        const { page, problems, requests } = await open(path, {
          viewport: { width, height: 800 },
          colorScheme,
        });
        expect(await widthOf(page)).toBe(width);
        expect(problems).toEqual([]);
        expect(requests).toEqual([String(pathToFileURL(path))]);
        const colours = await coloursOf(browser, await page.screenshot({ fullPage: true }));
        const paper = colorScheme === "light" ? "255,255,255" : "20,23,28";
        const [most] = [...colours].reduce((a, b) => (a[1] > b[1] ? a : b));
        expect(most).toBe(paper);
        await page.close();
      });
    }
  }
}

test("the pictures can be seen: lines, bars, cells and tokens have their colours", async () => {
  const seen = async (page: Page, place: string, colour: string) =>
    (await coloursOf(browser, await page.locator(place).first().screenshot())).get(colour) ?? 0;
  const { page } = await open(trained);
  expect(await seen(page, "#compression figure", "37,99,201")).toBeGreaterThan(300);
  expect(await seen(page, "#frequency .bars", "37,99,201")).toBeGreaterThan(1000);
  expect(await seen(page, "#merges .merges", "37,99,201")).toBeGreaterThan(1000);
  expect(await seen(page, "#lengths figure", "37,99,201")).toBeGreaterThan(2000);
  for (const token of ["207,224,251", "251,226,196", "205,236,214", "233,216,244"]) {
    expect(await seen(page, "#samples .text", token)).toBeGreaterThan(1000);
  }
  await page.close();
});

test("special tokens that are scripts are found, drawn and not run", async () => {
  const specials = hostileTexts.slice(0, 4).flatMap((special) => ["-s", special]);
  const output = join(directory, "</title><script>globalThis.harmed=1<");
  const path = reportOf("specials", "train", text, "-n", "300", ...specials, "-o", output.replace("</", "<"));
  const { page, problems } = await open(path);
  for (const special of hostileTexts.slice(0, 4)) {
    await page.fill("#tree-query", special);
    await page.waitForFunction(
      (wanted) => document.querySelector("#tree-view .t")?.textContent === wanted,
      special.replaceAll(" ", "␣"),
    );
  }
  expect(await page.evaluate(() => "harmed" in globalThis)).toBe(false);
  expect(problems).toEqual([]);
  await page.close();
});

test("the policy stops what would get into the page unescaped", async () => {
  const harm =
    "<script>globalThis.harmed=1</script><img src='x' onerror='globalThis.harmed=1'><p style='color:red' id=p>";
  const page = readFileSync(trained, "utf8").replace("</main>", `${harm}</main>`);
  const opened = await open(put(directory, "harmed.html", page));
  expect(await opened.page.evaluate(() => "harmed" in globalThis)).toBe(false);
  expect(await opened.page.evaluate(() => document.getElementById("p")!.style.color)).toBe("");
  expect(
    opened.problems.filter((problem) => problem.includes("Content Security Policy")).length,
  ).toBeGreaterThan(2);
  expect(opened.requests).toHaveLength(1);
  await opened.page.close();
});

test("the tree of each token has its halves down to bytes, with the counts of the ledger", async () => {
  const ledger = readFileSync(join(directory, "trained/tokens.tsv"), "utf8")
    .split("\n")
    .slice(1, -1)
    .map((line) => line.split("\t"));
  const treeOf = (id: number): unknown => {
    const [left, right] = ledger[id]!.slice(5);
    return left === "" ? id : [id, treeOf(Number(left)), treeOf(Number(right))];
  };
  const { page } = await open(trained);
  for (let id = 65; id < ledger.length; id += 7) {
    await page.fill("#tree-query", `#${id}`);
    await page.waitForFunction(
      (wanted) => document.querySelector("#tree-view p")?.textContent?.includes(` id ${wanted},`),
      id,
    );
    const drawn = await page.evaluate(() => {
      const idOf = (node: Element) =>
        Number(/id (\d+)/.exec((node.firstElementChild as HTMLElement).dataset.tip!)![1]);
      const read = (node: Element): unknown => {
        const below = [...(node.querySelector(":scope > .halves")?.children ?? [])];
        return below.length === 0 ? idOf(node) : [idOf(node), ...below.map(read)];
      };
      return read(document.querySelector(".tree > .node")!);
    });
    expect(drawn).toEqual(treeOf(id));
    const [, , bytes, created, end, left] = ledger[id]!;
    if (left === "") continue;
    const facts = await page.locator("#tree-view p").textContent();
    expect(facts).toContain(`${bytes} bytes`);
    expect(facts!.replaceAll(",", "")).toContain(`${created} occurrences created ${end} at the end`);
  }
  await page.close();
});

test("a search finds the token itself first, then with a space, then what begins with it", async () => {
  const { page } = await open(trained);
  await page.fill("#tree-query", "the");
  await page.waitForSelector("#tree-found button");
  const found = (await page.locator("#tree-found button .t").allTextContents()).map((token) =>
    token.replaceAll("␣", " "),
  );
  const classOf = (token: string) =>
    token === "the" ? 0 : token === " the" ? 1 : token.startsWith("the") ? 2 : token.includes("the") ? 3 : 4;
  expect(found.map(classOf)).toEqual(found.map(classOf).sort());
  expect(found).toContain(" the");
  expect(Math.max(...found.map(classOf))).toBeLessThan(4);
  await page.locator("#tree-found button").last().click();
  expect((await page.locator("#tree-view .t").textContent())!.replaceAll("␣", " ")).toBe(found.at(-1)!);
  await page.close();
});

test("what a mark or a token says is beside it at once: under the pointer, at a touch and by the arrow keys", async () => {
  const { page } = await open(trained, { hasTouch: true, reducedMotion: "reduce" });
  const tip = page.locator(".tip");
  const token = page.locator("#samples .text i").nth(3);
  await token.hover();
  const [id, bytes] = await Promise.all(["data-id", "data-n"].map((name) => token.getAttribute(name)));
  expect(await tip.textContent()).toBe(`id ${id}, ${bytes} bytes`);
  // Near a dot is enough.
  const dots = page.locator("#compression .dot");
  await dots.nth(5).scrollIntoViewIfNeeded();
  const said = await dots.evaluateAll((all) => all.map((dot) => (dot as SVGElement).dataset.tip!));
  const box = (await dots.nth(5).boundingBox())!;
  await page.mouse.move(box.x + 3, box.y + 20);
  expect(await tip.textContent()).toBe(said[5]!);
  await page.keyboard.press("Escape");
  expect(await tip.count()).toBe(0);
  await page.locator("#compression .chart").focus();
  for (const shown of [said[0]!, said[1]!]) {
    await page.keyboard.press("ArrowRight");
    expect(await tip.textContent()).toBe(shown);
  }
  await page.keyboard.press("ArrowLeft");
  expect(await tip.textContent()).toBe(said[0]!);
  await page.keyboard.press("Escape");
  expect(await tip.count()).toBe(0);
  const bar = page.locator("#lengths rect").first();
  await bar.scrollIntoViewIfNeeded();
  await bar.tap();
  expect(await tip.textContent()).toBe((await bar.getAttribute("data-tip"))!);
  // At the edges it stays on the screen.
  await page.setViewportSize({ width: 320, height: 600 });
  for (const place of [dots.first(), dots.last()]) {
    await place.scrollIntoViewIfNeeded();
    await place.hover();
    const { x, width } = (await tip.boundingBox())!;
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(320);
  }
  expect(await page.locator("title, [title]").count()).toBe(1);
  await page.close();
});

test("all merges are in a table, page by page, in their order or sorted, and each token leads to its tree", async () => {
  const { page } = await open(trained);
  const ledger = readFileSync(join(directory, "trained/tokens.tsv"), "utf8")
    .split("\n")
    .slice(1, -1)
    .map((line) => line.split("\t"))
    .filter(([, , , , , left]) => left !== "");
  let tokensLeft = story.length * 60;
  const merges = ledger.map(([id, , , created], rank) => {
    tokensLeft -= Number(created);
    return { rank: rank + 1, id: Number(id), count: Number(created), left: tokensLeft };
  });
  const table = page.locator(".merges");
  const rows = () =>
    table.locator("tbody tr").evaluateAll((all) =>
      all.map((row) => {
        const [rank, , token, count, left] = [...row.children].map((cell) =>
          cell.textContent!.replace(/,/g, ""),
        );
        const id = Number(/#token-(\d+)$/.exec(row.children[2]!.querySelector("a")!.hash)![1]);
        return { rank: Number(rank), id, count: Number(count), left: Number(left), token: token! };
      }),
    );
  const bare = async () => (await rows()).map(({ token, ...row }) => row);
  await page.waitForSelector(".pages:not([hidden])");
  expect(await bare()).toEqual(merges.slice(0, 20));
  const turn = (name: string) => page.locator(`.pages [aria-label="${name}"]`).click();
  await turn("merges behind");
  expect(await bare()).toEqual(merges.slice(20, 40));
  await turn("last merges");
  expect(await bare()).toEqual(merges.slice(-20));
  await turn("first merges");
  await page.fill(".pages input", "5");
  expect(await bare()).toEqual(merges.slice(4, 24));
  // By count, with the keyboard: the fewest first, then the most.
  await table.locator("thead button").nth(3).focus();
  await page.keyboard.press("Enter");
  const counts = merges.map(({ count }) => count).sort((a, b) => a - b);
  expect((await rows()).map(({ count }) => count)).toEqual(counts.slice(0, 20));
  await page.keyboard.press("Enter");
  expect((await rows()).map(({ count }) => count)).toEqual(counts.toReversed().slice(0, 20));
  const [{ id, token }] = (await rows()).slice(-1) as unknown as [{ id: number; token: string }];
  await table.locator("tbody tr").last().locator("td a").last().click();
  await page.waitForFunction(
    (wanted) => document.querySelector("#tree-view p")?.textContent?.includes(` id ${wanted},`),
    id,
  );
  expect(await page.locator("#tree-view .t").textContent()).toBe(token);
  // The link can be kept.
  await page.reload();
  await page.waitForFunction(
    (wanted) => document.querySelector("#tree-view p")?.textContent?.includes(` id ${wanted},`),
    id,
  );
  await page.close();
});

test("no words of a picture lie over others, and no table is wider than its box, with few merges, many sizes and eight tokenizers", async () => {
  const toy = put(
    directory,
    "toy.txt",
    "low low low low low lower lower widest widest widest newest newest newest newest newest newest\n",
  );
  const pages = [
    ...["258", "266"].map((size) =>
      reportOf(`toy${size}`, "train", toy, "-n", size, "-o", join(directory, `toy${size}`)),
    ),
    reportOf("sizes", "train", text, "-n", "400,300,310,320,350,390", "-o", join(directory, "sizes")),
    trained,
  ];
  for (const path of pages) {
    for (const width of [390, 1280]) {
      const { page, problems } = await open(path, { viewport: { width, height: 800 } });
      await page.evaluate(() => {
        for (const details of document.querySelectorAll("details")) details.open = true;
      });
      expect([path, await overlaps(page)]).toEqual([path, []]);
      const wide = await page
        .locator(".scroll")
        .evaluateAll((boxes) =>
          boxes.flatMap((box) =>
            box.scrollWidth > box.clientWidth ? [box.getAttribute("aria-label")!] : [],
          ),
        );
      if (width === 1280) expect([path, wide]).toEqual([path, []]);
      expect(await widthOf(page)).toBe(width);
      expect(problems).toEqual([]);
      await page.close();
    }
  }
});

test("a plain table is sorted by its heads with the keyboard, numbers first from the largest", async () => {
  const { page } = await open(trained);
  const table = page.locator("#intermediate .sortable");
  const column = async (i: number) =>
    (await table.locator(`tbody tr > :nth-child(${i})`).allTextContents()).map((text) =>
      Number(text.replaceAll(",", "")),
    );
  const ids = await column(2);
  expect(ids.length).toBeGreaterThan(2);
  await table.locator("thead button").nth(1).focus();
  await page.keyboard.press("Enter");
  expect(await column(2)).toEqual(ids.toSorted((a, b) => b - a));
  await page.keyboard.press("Enter");
  expect(await column(2)).toEqual(ids.toSorted((a, b) => a - b));
  expect(await table.locator("thead th").nth(1).getAttribute("aria-sort")).toBe("ascending");
  await page.close();
});

test("the page of an inspected tokenizer fits any screen, and nothing goes wrong", async () => {
  const path = reportOf("inspected", "inspect", tokenizers[2]!, "--text", text);
  const { page, problems } = await open(path);
  for (const width of [320, 390, 768, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await widthOf(page)).toBe(width);
  }
  expect(problems).toEqual([]);
  await page.close();
});

for (const [name, path] of [["a training", trained]] as const) {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [390, 1280]) {
      test(`${name}, ${width} pixels, ${colorScheme}: no text has less than 12 pixels, or less contrast than AA asks for`, async () => {
        const { page } = await open(path, { viewport: { width, height: 800 }, colorScheme });
        await page.evaluate(() => {
          for (const details of document.querySelectorAll("details")) details.open = true;
        });
        const texts = await seenTexts(page);
        expect(texts.length).toBeGreaterThan(100);
        expect(texts.filter(({ size }) => size < 12)).toEqual([]);
        expect(texts.filter(({ contrast }) => contrast < 4.5)).toEqual([]);
        await page.close();
      });
    }
  }
}

test("the index leads to every section", async () => {
  for (const path of [trained]) {
    const { page } = await open(path);
    const links = await page
      .locator("nav a")
      .evaluateAll((all) => all.map((one) => one.getAttribute("href")));
    const sections = await page.locator("section").evaluateAll((all) => all.map(({ id }) => `#${id}`));
    expect(links).toEqual(sections);
    await page.close();
  }
});

test("it prints on white paper, with dark screens, too", async () => {
  const { page } = await open(trained, { colorScheme: "dark" });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(paper).toBe("rgb(255, 255, 255)");
  expect((await page.pdf()).length).toBeGreaterThan(10_000);
  await page.close();
});
