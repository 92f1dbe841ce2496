// The page of a report in a real Chromium: `npm run test:report`.
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { bpe, put, scratch } from "../binary.ts";
import { launchChromium } from "./chromium.ts";
import { hostileTexts } from "./hostile-texts.ts";

const directory = scratch();
const browser = await launchChromium();
afterAll(() => browser.close());

const story = "The low tower was lower than the newest tower. There they thought of the other weather.\n";
const text = put(directory, "story.txt", story.repeat(60));
const hostileText = put(
  directory,
  "hostile.txt",
  `${hostileTexts.join("\n")}\n${"<script>x</script> ".repeat(8)}`,
);
/** Short enough to be one passage. */
const hostileLine = put(directory, "line.txt", `${hostileTexts[0]} there ${hostileTexts[5]}\n`);
const tokenizers = ["280", "320", "400"].map((size) => {
  const path = join(directory, `of${size}`);
  expect(bpe(["train", text, "-n", size, "-o", path, "-q"]).code).toBe(0);
  return path;
});

type Opened = { page: Page; problems: string[]; requests: string[] };

/** Opens a page and waits until its script has drawn the tree. What goes wrong in it is kept. */
async function open(path: string, options: Parameters<typeof browser.newPage>[0] = {}): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  const problems: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => {
    problems.push("a dialog");
    void dialog.dismiss();
  });
  page.on("requestfinished", (request) => requests.push(request.url()));
  await page.goto(String(pathToFileURL(path)));
  if (options.javaScriptEnabled !== false) await page.waitForSelector(".tree .node", { state: "attached" });
  return { page, problems, requests };
}

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
const compared = reportOf(
  "compared",
  "eval",
  ...tokenizers,
  "--text",
  text,
  `hostile=${hostileText}`,
  hostileLine,
  "--binary",
  "text",
);

/** The colours of a picture's pixels, as "r,g,b", with how many there are. */
async function coloursOf(png: Buffer): Promise<Map<string, number>> {
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

const widthOf = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth);

for (const [name, path] of [
  ["a training", trained],
  ["a comparison", compared],
] as const) {
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
        const colours = await coloursOf(await page.screenshot({ fullPage: true }));
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
    (await coloursOf(await page.locator(place).first().screenshot())).get(colour) ?? 0;
  const { page } = await open(trained);
  expect(await seen(page, "#compression figure", "37,99,201")).toBeGreaterThan(300);
  expect(await seen(page, "#frequency .bars", "37,99,201")).toBeGreaterThan(1000);
  expect(await seen(page, "#merges .merges", "37,99,201")).toBeGreaterThan(1000);
  expect(await seen(page, "#lengths figure", "37,99,201")).toBeGreaterThan(2000);
  for (const token of ["207,224,251", "251,226,196", "205,236,214", "233,216,244"]) {
    expect(await seen(page, "#samples .text", token)).toBeGreaterThan(1000);
  }
  await page.close();
  const other = (await open(compared)).page;
  expect(await seen(other, "#frequency figure", "37,99,201")).toBeGreaterThan(300);
  expect(await seen(other, "#measures .measures", "37,99,201")).toBeGreaterThan(500);
  expect(await seen(other, "#measures .measures", "194,94,0")).toBeGreaterThan(50);
  expect(await seen(other, "#differences .text", "207,224,251")).toBeGreaterThan(1000);
  expect(await seen(other, "#differences .text", "251,226,196")).toBeGreaterThan(1000);
  await other.close();
});

test("text of others does not run, and is shown as it is", async () => {
  const { page, problems } = await open(compared);
  expect(await page.evaluate(() => "harmed" in globalThis)).toBe(false);
  expect(await page.locator("script").count()).toBe(3);
  expect(await page.locator("#differences img, #differences svg, #differences a").count()).toBe(0);
  // The tokens of one of the two, in their order, and what both cut alike.
  const shown = await page.locator("#differences .text").evaluateAll((texts) =>
    texts.map((text) => {
      const copy = text.cloneNode(true) as HTMLElement;
      for (const below of copy.querySelectorAll(".below")) below.remove();
      return copy.textContent!;
    }),
  );
  expect(shown.some((text) => text.includes("</script><script>globalThis.harmed=1</script>"))).toBe(true);
  expect(shown.some((text) => text.includes("\\xe2\\x80\\xae"))).toBe(true);
  await page.fill("#tree-query", "<img src=x onerror=globalThis.harmed=1>");
  await page.waitForSelector("#tree-found .quiet");
  expect(await page.evaluate(() => "harmed" in globalThis)).toBe(false);
  expect(problems).toEqual([]);
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

/** Words of pictures that lie over each other. */
const overlaps = (page: Page) =>
  page.evaluate(() => {
    const found: string[] = [];
    for (const plot of document.querySelectorAll(".plot, .dots, .panels figure")) {
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
    reportOf(
      "eight",
      "eval",
      ...Array.from({ length: 8 }, (_, i) => `no${i}=${tokenizers[i % 3]}`),
      "--text",
      text,
      hostileLine,
    ),
    trained,
    compared,
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

test("a reader of three tokenizers chooses two, and sees where they differ as the page shows it without a script", async () => {
  const bare = (await open(compared, { javaScriptEnabled: false })).page;
  const { page } = await open(compared);
  const passages = (of: Page) =>
    of.locator("#differences .passage").evaluateAll((all) => all.map((one) => one.innerHTML.trim()).sort());
  const choose = async (above: string, below: string) => {
    await page.selectOption("select[data-side='0']", above);
    await page.selectOption("select[data-side='1']", below);
  };
  const first = await passages(bare);
  await choose("2", "1");
  expect(await passages(page)).not.toEqual(first);
  expect(await page.locator(".pair-names").textContent()).toMatch(/above: of400\s+below: of320/);
  await choose("2", "0");
  // The tokens of each passage are those of bpe encode: their lengths add up to the passage on both sides.
  const sides = await page
    .locator("#differences .x")
    .evaluateAll((all) =>
      all.map((both) =>
        [".above", ".below"].map((side) =>
          [...both.querySelectorAll<HTMLElement>(`${side} i`)].map(({ dataset }) => Number(dataset.n)),
        ),
      ),
    );
  expect(sides.length).toBeGreaterThan(5);
  for (const [above, below] of sides) {
    const sum = (lengths: number[]) => lengths.reduce((a, b) => a + b);
    expect(sum(above!)).toBe(sum(below!));
    expect(above!.length + below!.length).toBeGreaterThan(2);
  }
  await choose("0", "1");
  expect(await passages(page)).toEqual(first);
  // The passages that differ most for the chosen two come first.
  await choose("0", "2");
  const shares = await page.locator("#differences .passages").evaluateAll((texts) =>
    texts.map((text) =>
      [...text.querySelectorAll(".passage")].map((passage) => {
        const length = passage.querySelector(".text")!.textContent!.length;
        return passage.querySelectorAll(".x i").length / length;
      }),
    ),
  );
  for (const some of shares) expect(some.length).toBeGreaterThan(0);
  await bare.close();
  await page.close();
});

test("the table of measures is sorted by its heads, with the keyboard, too", async () => {
  const { page } = await open(compared);
  const table = page.locator(".measures").first();
  const names = () =>
    table.evaluate((table) =>
      [...(table as HTMLTableElement).tBodies].map((body) =>
        [...body.querySelectorAll("[scope=row]")].map((head) => head.textContent),
      ),
    );
  const sorts = () =>
    table.locator("thead th").evaluateAll((heads) => heads.map((head) => head.getAttribute("aria-sort")));
  const values = (column: number) =>
    table.evaluate(
      (table, column) =>
        [...(table as HTMLTableElement).tBodies].map((body) =>
          [...body.querySelectorAll<HTMLTableRowElement>("tr:not(.group)")].map((row) =>
            Number(row.cells[column]!.dataset.v),
          ),
        ),
      column,
    );
  const ascending = (lists: number[][]) => lists.map((list) => [...list].sort((a, b) => a - b));
  const descending = (lists: number[][]) => ascending(lists).map((list) => list.reverse());
  // Static: bytes per token.
  expect((await sorts()).indexOf("descending")).toBe(2);
  expect(await values(2)).toEqual(descending(await values(2)));
  // Fewer tokens are better, so they begin with the fewest; a second press turns them round.
  await table.locator("thead button").nth(1).focus();
  await page.keyboard.press("Enter");
  expect(await values(1)).toEqual(ascending(await values(1)));
  expect((await sorts()).filter((order) => order !== null)).toEqual(["ascending"]);
  await page.keyboard.press("Space");
  expect(await values(1)).toEqual(descending(await values(1)));
  expect((await sorts())[1]).toBe("descending");
  await table.locator("thead button").first().click();
  for (const group of await names()) expect(group).toEqual(["of280", "of320", "of400"]);
  await page.close();
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

test("on a telephone a table of measures has one measure, which the reader chooses", async () => {
  const { page } = await open(compared, { viewport: { width: 390, height: 800 } });
  const heads = () => page.locator(".measures").first().locator("thead th:visible").allTextContents();
  expect(await heads()).toEqual(["tokenizer", expect.stringContaining("bytes per token")]);
  await page.locator(".measure-chooser select").first().selectOption({ label: "fertility" });
  expect(await heads()).toEqual(["tokenizer", expect.stringContaining("fertility")]);
  expect(await page.locator(".measures").first().locator("th[aria-sort=ascending]").count()).toBe(1);
  await page.close();
});

/** Every text that is seen, with its size, its colour and what is behind it. */
const seenTexts = (page: Page) =>
  page.evaluate(() => {
    const rgba = (colour: string) => {
      const [r, g, b, a = 1] = colour.match(/[\d.]+/g)!.map(Number);
      return [r!, g!, b!, a] as const;
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
    const found: { text: string; size: number; contrast: number; fill: string; behind: string }[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement!;
      const text = node.textContent!.trim();
      if (text === "" || !element.checkVisibility() || element.closest("script, title, .unseen, option"))
        continue;
      const style = getComputedStyle(element);
      const isDrawn = element instanceof SVGElement;
      const behind = backgroundOf(element);
      const fill = over(rgba(isDrawn ? style.fill : style.color), behind);
      const [a, b] = [light(fill), light(behind)].sort((a, b) => b - a);
      // Letters of a picture are as large as it is stretched.
      const scale = isDrawn ? Math.abs((element as unknown as SVGGraphicsElement).getScreenCTM()!.a) : 1;
      found.push({
        text: text.slice(0, 40),
        size: Number.parseFloat(style.fontSize) * scale,
        contrast: (a! + 0.05) / (b! + 0.05),
        fill: fill.map(Math.round).join(),
        behind: behind.join(),
      });
    }
    return found;
  });

for (const [name, path] of [
  ["a training", trained],
  ["a comparison", compared],
] as const) {
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

test("the keyboard reaches all that can be used, and what has the focus is marked", async () => {
  const { page } = await open(compared);
  const wanted = await page.evaluate(() => {
    const all = document.querySelectorAll<HTMLElement>(
      "a, button, input, select, summary, .scroll, [tabindex]",
    );
    const seen = [...all].filter((element) => element.checkVisibility());
    for (const [i, element] of seen.entries()) element.dataset.stop = String(i);
    return seen.length;
  });
  const reached = new Set<string>();
  for (let i = 0; i < wanted + 5; i++) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const focused = document.activeElement as HTMLElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(focused);
      return [
        focused.dataset.stop ?? "",
        outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 1,
      ] as const;
    });
    if (stop[0] === "") continue;
    expect(stop[1]).toBe(true);
    reached.add(stop[0]);
  }
  expect(reached.size).toBe(wanted);
  expect(wanted).toBeGreaterThan(30);
  await page.close();
});

test("the index leads to every section", async () => {
  for (const path of [trained, compared]) {
    const { page } = await open(path);
    const links = await page
      .locator("nav a")
      .evaluateAll((all) => all.map((one) => one.getAttribute("href")));
    const sections = await page.locator("section").evaluateAll((all) => all.map(({ id }) => `#${id}`));
    expect(links).toEqual(sections);
    await page.close();
  }
});

test("without its script the page shows all but the tree", async () => {
  const { page } = await open(compared, { javaScriptEnabled: false });
  const places = [
    "#measures .bar",
    "#words li",
    "#frequency .line",
    "#lengths rect",
    "#differences .x",
    "#longest li",
  ];
  for (const place of places) expect(await page.locator(place).first().isVisible()).toBe(true);
  // What only a script could do is not offered.
  expect(
    await page.locator(".choosers, .measure-chooser, thead button").locator("visible=true").count(),
  ).toBe(0);
  await page.close();
});

test("it prints on white paper, with dark screens, too", async () => {
  const { page } = await open(trained, { colorScheme: "dark" });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(paper).toBe("rgb(255, 255, 255)");
  expect((await page.pdf()).length).toBeGreaterThan(10_000);
  await page.close();
});
