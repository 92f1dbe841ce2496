// `npm run suite pages` tests the pages that `--report` writes in a real Chromium.
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { bpe, put, scratch } from "../binary.ts";
import { launchChromium } from "./chromium.ts";
import { hostileTexts } from "./hostile-texts.ts";
import { coloursOf, openPage, overlaps, seenTexts, unfold, widthOf } from "./page-probes.ts";

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
/** The text is short enough to be one passage. */
const hostileLine = put(directory, "line.txt", `${hostileTexts[0]} there ${hostileTexts[5]}\n`);
const tokenizers = ["280", "320", "400"].map((size) => {
  const path = join(directory, `of${size}`);
  expect(bpe(["train", text, "-n", size, "-o", path, "-q"]).code).toBe(0);
  return path;
});

/** Opens a page, and waits until its script has drawn it, unless scripts are disabled. */
const open = (path: string, options: Parameters<typeof browser.newPage>[0] = {}) =>
  openPage(browser, path, options.javaScriptEnabled === false ? null : "#more", options);

function reportOf(name: string, ...args: string[]): string {
  const path = join(directory, `${name}.html`);
  expect(bpe([...args, "--report", path, "-q"]).code).toBe(0);
  return path;
}

const texts = ["--text", text, `hostile=${hostileText}`, hostileLine, "--binary", "text"];
const compared = reportOf("compared", "eval", ...tokenizers, ...texts);
const eight = reportOf(
  "eight",
  "eval",
  ...Array.from({ length: 8 }, (_, i) => `number${i}=${tokenizers[i % 3]}`),
  ...["--text", text, hostileLine, "--model", "d=64,layers=2", "--term", "tower", "--numbers"],
);
const trained = reportOf(
  "trained",
  ...["train", text, "-n", "400", "-s", "<|end|>", "--ledger", "-o", join(directory, "trained")],
);
const sizes = reportOf(
  "sizes",
  ...["train", text, put(directory, "other.txt", story), "-n", "400,300,310,320,350,390"],
  ...["-o", join(directory, "sizes")],
);
const toyText =
  "low low low low low lower lower widest widest widest newest newest newest newest newest newest\n";
const toy = reportOf(
  "toy",
  ...["train", put(directory, "toy.txt", toyText), "-n", "258", "-o", join(directory, "toy")],
);
const inspected = reportOf("inspected", "inspect", tokenizers[2]!, "--text", hostileLine);
const differing = reportOf(
  "differing",
  ...["diff", `<i>one=${tokenizers[0]}`, tokenizers[2]!, "--text", text, hostileLine],
);
const alone = reportOf("alone", "eval", tokenizers[2]!, "--text", text, hostileLine);

const pages = [
  ["a comparison", compared],
  ["eight tokenizers", eight],
  ["one tokenizer", alone],
  ["a training", trained],
  ["several sizes", sizes],
  ["a toy", toy],
  ["an inspection", inspected],
  ["two tokenizers", differing],
] as const;

for (const [name, path] of pages) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`${name}, ${colorScheme}: no element is wider than the screen at any width, and there are no errors`, async () => {
      const { page, problems, requests } = await open(path, { colorScheme });
      for (const width of [1600, 1280, 768, 390, 320]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await widthOf(page)).toBe(width);
        const colours = await coloursOf(browser, await page.screenshot());
        const [most] = [...colours].reduce((a, b) => (a[1] > b[1] ? a : b));
        expect(most).toBe(colorScheme === "light" ? "255,255,255" : "15,19,24");
      }
      await unfold(page);
      for (const width of [1280, 390, 320]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await widthOf(page)).toBe(width);
      }
      expect(problems).toEqual([]);
      expect(requests).toEqual([String(pathToFileURL(path))]);
      await page.close();
    });
  }
}

for (const [name, path] of pages) {
  for (const [width, colorScheme] of [
    [390, "light"],
    [1280, "dark"],
  ] as const) {
    test(`${name}, ${width} pixels, ${colorScheme}: no text is small, pale, or overlaps another one`, async () => {
      const { page } = await open(path, { viewport: { width, height: 800 }, colorScheme });
      await unfold(page);
      const seen = await seenTexts(page);
      expect(seen.length).toBeGreaterThan(40);
      expect(seen.filter(({ size }) => size < 12)).toEqual([]);
      expect(seen.filter(({ contrast }) => contrast < 4.5)).toEqual([]);
      expect(await overlaps(page)).toEqual([]);
      await page.close();
    });
  }
}

test("the finding comes first, in the colours of the picture, and it is a sentence", async () => {
  const { page } = await open(compared);
  const finding = await page.locator("h1").innerText();
  expect(finding).toMatch(
    /^of280 \(280 tokens\) needs more tokens than of320 \(\d+\) on story \(.*%\) and line \(.*%\), equally many on 1 text\.$/,
  );
  const colour = (place: string, property: "color" | "fill") =>
    page
      .locator(place)
      .first()
      .evaluate((element, property) => getComputedStyle(element)[property], property);
  expect(await colour("h1 .c0", "color")).toBe(await colour("#picture .dot.c0", "fill"));
  expect(await page.locator(".caution").allInnerTexts()).toEqual([
    expect.stringContaining("below 50 kB a single paragraph may decide the number."),
    "story is among the inputs that of280, of320 and of400 learned from: its number is too good.",
  ]);
  expect((await page.locator("h1").boundingBox())!.y).toBeLessThan(120);
  expect((await page.locator("#picture").boundingBox())!.y).toBeLessThan(700);
  await page.close();
});

test("the pictures can be seen: dots and tokens have their colours", async () => {
  const { page } = await open(compared);
  const seen = async (place: string, colour: string) =>
    (await coloursOf(browser, await page.locator(place).first().screenshot())).get(colour) ?? 0;
  expect(await seen("#picture .dots", "122,60,192")).toBeGreaterThan(100);
  expect(await seen("#picture .dots", "0,120,138")).toBeGreaterThan(100);
  expect(await seen("#differences .text", "226,212,241")).toBeGreaterThan(500);
  expect(await seen("#differences .text", "199,225,229")).toBeGreaterThan(500);
  await page.close();
});

test("untrusted text does not run, and is shown verbatim", async () => {
  const { page, problems } = await open(compared);
  await unfold(page);
  expect(await page.evaluate(() => "harmed" in globalThis)).toBe(false);
  expect(await page.locator("script").count()).toBe(2);
  expect(await page.locator("#differences img, #differences svg, #differences a").count()).toBe(0);
  // Reads the passages as the first tokenizer cuts them: without the tokens of the second.
  const shown = await page.locator("#differences .text").evaluateAll((texts) =>
    texts.map((text) => {
      const copy = text.cloneNode(true) as HTMLElement;
      for (const below of copy.querySelectorAll(".x > :last-child")) below.remove();
      return copy.textContent!;
    }),
  );
  expect(shown.some((text) => text.includes("</script><script>globalThis.harmed=1</script>"))).toBe(true);
  expect(shown.some((text) => text.includes("\\xe2\\x80\\xae"))).toBe(true);
  expect(problems).toEqual([]);
  await page.close();
});

test("names that are markup are shown verbatim", async () => {
  // A NAME on the command line may contain neither = nor /.
  const nameOf = (text: string) => text.replaceAll("=", "-").replaceAll("/", "|");
  const names = hostileTexts.slice(0, 3).map((name, i) => `${nameOf(name)}=${tokenizers[i]}`);
  const path = reportOf("names", "eval", ...names, "--text", `${hostileTexts[3]}=${text}`, hostileLine);
  const { page, problems } = await open(path);
  await unfold(page);
  expect(await page.evaluate(() => "harmed" in globalThis)).toBe(false);
  expect(await page.locator("main img, main script").count()).toBe(0);
  expect(await page.locator("h1").innerText()).toContain("<|script><script>globalThis.harmed-1<|script>");
  expect(problems).toEqual([]);
  await page.close();
});

test("the policy stops unescaped markup that gets into the page", async () => {
  const harm =
    "<script>globalThis.harmed=1</script><img src='x' onerror='globalThis.harmed=1'><p style='color:red' id=p>";
  const page = readFileSync(compared, "utf8").replace("</main>", `${harm}</main>`);
  const opened = await open(put(directory, "harmed.html", page));
  expect(await opened.page.evaluate(() => "harmed" in globalThis)).toBe(false);
  expect(await opened.page.evaluate(() => document.getElementById("p")!.style.color)).toBe("");
  const refused = opened.problems.filter((problem) => problem.includes("Content Security Policy"));
  expect(refused.length).toBeGreaterThan(2);
  expect(opened.requests).toHaveLength(1);
  await opened.page.close();
});

test("a reader of three tokenizers can choose two, and sees where they differ", async () => {
  const { page } = await open(compared);
  const passages = () =>
    page.locator("#differences .passage").evaluateAll((all) => all.map((one) => one.textContent));
  const choose = async (above: string, below: string) => {
    const selects = page.locator("#differences .choosers select");
    await selects.nth(0).selectOption(above);
    await selects.nth(1).selectOption(below);
    await unfold(page);
  };
  await unfold(page);
  const first = await passages();
  await choose("of400", "of320");
  expect(await passages()).not.toEqual(first);
  // Each name has the colour of its tokenizer in the picture.
  const keys = page.locator(".pair-names .key");
  expect(await keys.evaluateAll((all) => all.map((key) => key.className))).toEqual(["key c2", "key c1"]);
  await choose("of400", "of280");
  // Tokens that are stacked cover the same bytes.
  const sides = await page
    .locator("#differences .x")
    .evaluateAll((all) =>
      all.map((both) =>
        [":scope > :first-child", ":scope > :last-child"].map((side) =>
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
  await choose("of280", "of400");
  expect(await passages()).toEqual(first);
  await page.close();
});

test("the reader chooses the measure of the table, and sorts it by its headers, also with the keyboard", async () => {
  const { page } = await open(compared);
  const table = page.locator("#measures table");
  const column = async (i: number) =>
    (await table.locator(`tbody tr > :nth-child(${i + 1})`).allInnerTexts()).map((cell) =>
      Number.parseFloat(cell.replaceAll(",", "")),
    );
  const sorts = () =>
    table.locator("thead th").evaluateAll((heads) => heads.map((head) => head.getAttribute("aria-sort")));
  const { evaluation } = JSON.parse(/id="data">(.*?)<\/script>/s.exec(readFileSync(compared, "utf8"))![1]!);
  type Measured = { texts: { tokens: number; bytesPerToken: number }[] };
  const tokens = evaluation.tokenizers.map(({ texts }: Measured) => texts[0]!.tokens);
  expect(await column(1)).toEqual(
    evaluation.tokenizers.map(({ texts }: Measured) => Number(texts[0]!.bytesPerToken.toFixed(3))),
  );
  await page.locator("#measures select").selectOption({ label: "tokens" });
  expect(await column(1)).toEqual(tokens);
  // Fewer tokens are better, so the first press sorts ascending; the second reverses the order.
  await table.locator("thead button").nth(1).focus();
  await page.keyboard.press("Enter");
  expect(await column(1)).toEqual(tokens.toSorted((a: number, b: number) => a - b));
  expect(await sorts()).toEqual([null, "ascending", null, null]);
  await page.keyboard.press("Space");
  expect(await column(1)).toEqual(tokens.toSorted((a: number, b: number) => b - a));
  expect((await sorts())[1]).toBe("descending");
  await table.locator("thead button").first().click();
  const heads = await table.locator("tbody th").allInnerTexts();
  expect(heads.map((head) => head.trim().split("\n"))).toEqual([
    ["of280", "of 280 tokens"],
    ["of320", "of 296 tokens"],
    ["of400", "of 296 tokens"],
  ]);
  // The share of the vocabulary that a text uses does not rank tokenizers, so no cell is bold.
  await page.locator("#measures select").selectOption({ label: "vocabulary used" });
  expect(await table.locator("b").count()).toBe(0);
  await page.close();
});

test("a mark or token has a tooltip at once, on hover and by the arrow keys", async () => {
  const { page } = await open(compared, { reducedMotion: "reduce" });
  const tip = page.locator(".tip");
  const token = page.locator("#differences .text i").nth(3);
  await token.hover();
  const [id, bytes] = await Promise.all(["data-id", "data-n"].map((name) => token.getAttribute(name)));
  expect(await tip.textContent()).toBe(`id ${id}, ${bytes} bytes`);
  await page.keyboard.press("Escape");
  expect(await tip.count()).toBe(0);
  await page.locator("#picture .dots").focus();
  const said = await page
    .locator("#picture .dot")
    .evaluateAll((all) => all.map((dot) => (dot as SVGElement).dataset.tip!));
  for (const shown of said.slice(0, 2)) {
    await page.keyboard.press("ArrowRight");
    expect(await tip.textContent()).toBe(shown);
  }
  expect(await page.locator("title, [title]").count()).toBe(1);
  await page.close();
  const other = (await open(trained, { hasTouch: true, reducedMotion: "reduce" })).page;
  const dots = other.locator("#curve .dot");
  const sizesSaid = await dots.evaluateAll((all) => all.map((dot) => (dot as SVGElement).dataset.tip!));
  // The tooltip also appears near a dot.
  const box = (await dots.nth(5).boundingBox())!;
  await other.mouse.move(box.x + 3, box.y + 20);
  expect(await other.locator(".tip").textContent()).toBe(sizesSaid[5]!);
  // At the edges the tooltip stays inside the viewport.
  await other.setViewportSize({ width: 320, height: 600 });
  for (const place of [dots.first(), dots.last()]) {
    await place.scrollIntoViewIfNeeded();
    await place.hover();
    const { x, width } = (await other.locator(".tip").boundingBox())!;
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(320);
  }
  await other.close();
});

/**
 * Tabs through a page. Checks that every control is reachable and visibly focused, and returns the number of controls.
 */
async function tabThrough(page: Page): Promise<number> {
  const wanted = await page.evaluate(() => {
    const all = document.querySelectorAll<HTMLElement>(
      "a, button, input, select, summary, .scroll, [tabindex='0']",
    );
    const seen = [...all].filter((element) => element.checkVisibility());
    for (const [i, element] of seen.entries()) element.dataset.stop = String(i);
    return seen.length;
  });
  const reached = new Set<string>();
  for (let i = 0; i < wanted + 5; i++) {
    await page.keyboard.press("Tab");
    const [stop, isMarked] = await page.evaluate(() => {
      const focused = document.activeElement as HTMLElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(focused);
      return [
        focused.dataset.stop ?? "",
        outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 1,
      ] as const;
    });
    if (stop === "") continue;
    expect(isMarked).toBe(true);
    reached.add(stop);
  }
  expect(reached.size).toBe(wanted);
  return wanted;
}

test("the keyboard reaches all controls, and the focused one is marked", async () => {
  for (const [, path] of pages) {
    const { page } = await open(path);
    await unfold(page);
    expect(await tabThrough(page)).toBeGreaterThan(15);
    await page.close();
  }
});

test("without its script a page has the finding, its caveats, the main table and how to read it", async () => {
  for (const [, path] of pages) {
    const { page, problems } = await open(path, { javaScriptEnabled: false });
    expect(await page.locator("h1").innerText()).toMatch(/\.$/);
    expect(await page.locator("noscript table tbody tr").first().isVisible()).toBe(true);
    expect(await page.locator("noscript p").innerText()).toContain("needs JavaScript");
    expect(await page.locator("select, button, thead button").count()).toBe(0);
    expect(await widthOf(page)).toBe(1280);
    expect(problems).toEqual([]);
    await page.close();
  }
});

test("pages print on white paper even if the screen is dark", async () => {
  const { page } = await open(compared, { colorScheme: "dark" });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
    "rgb(255, 255, 255)",
  );
  expect((await page.pdf()).length).toBeGreaterThan(10_000);
  await page.close();
});

test("the finding of a training is first, the curve is visible, and oddities are named", async () => {
  const { page } = await open(trained);
  expect(await page.locator("h1").innerText()).toMatch(/^2\d\d tokens average \d\.\d\d bytes/);
  const seen = await coloursOf(browser, await page.locator("#curve figure").screenshot());
  expect(seen.get("122,60,192") ?? 0).toBeGreaterThan(200);
  expect(await page.locator("#curve figcaption").innerText()).toBe("tokens in the vocabulary");
  expect(await page.locator("#look li").allInnerTexts()).toContainEqual(
    expect.stringMatching(/tokens are intermediate\. .*\d+.%/s),
  );
  expect(await page.locator("#samples .text i").count()).toBeGreaterThan(30);
  await page.close();
});

/** The rows of tokens.tsv without its header, split into fields. */
const tokensTsvRows = (output: string) =>
  readFileSync(join(directory, output, "tokens.tsv"), "utf8")
    .split("\n")
    .slice(1, -1)
    .map((line) => line.split("\t"));

const waitForToken = (page: Page, id: number) =>
  page.waitForFunction(
    (id) =>
      document.querySelector("#tree .facts-line")?.textContent?.includes(` id ${id.toLocaleString("en")},`),
    id,
  );

test("the tree of each token has its halves down to bytes, with the counts of tokens.tsv", async () => {
  const rows = tokensTsvRows("trained");
  const treeOf = (id: number): unknown => {
    const [left, right] = rows[id]!.slice(5);
    return left === "" ? id : [id, treeOf(Number(left)), treeOf(Number(right))];
  };
  const { page } = await open(trained);
  for (let id = 65; id < rows.length; id += 7) {
    await page.fill("#tree input", `#${id}`);
    await waitForToken(page, id);
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
    const [, , bytes, created, end, left] = rows[id]!;
    if (left === "") continue;
    const facts = (await page.locator("#tree .facts-line").textContent())!.replaceAll(",", "");
    const times = (count: string) => (count === "1" ? "once" : `${count} times`);
    expect(facts).toContain(`${bytes} bytes merge`);
    expect(facts).toContain(
      created === end
        ? ` ${times(created!)} in the training text id`
        : `${times(created!)} in the training text when it was made ${times(end!)} at the end`,
    );
  }
  await page.close();
});

test("pressing a part of a tree shows its own tree, and the keys continue there", async () => {
  const { page } = await open(trained);
  await page.fill("#tree input", " the");
  const half = page.locator("#tree .halves button").first();
  const name = /id (\d+)/.exec((await half.getAttribute("aria-label"))!)![1]!;
  await half.focus();
  await page.keyboard.press("Enter");
  await waitForToken(page, Number(name));
  expect(await page.evaluate(() => document.activeElement!.id)).toBe("tree-view");
  await page.close();
});

test("a search finds the token itself first, then with a space, then tokens that begin with it", async () => {
  const { page } = await open(trained);
  await page.fill("#tree input", "the");
  await page.waitForSelector("#tree .found button");
  const found = (await page.locator("#tree .found button .t").allTextContents()).map((token) =>
    token.replaceAll("␣", " "),
  );
  const classOf = (token: string) =>
    token === "the" ? 0 : token === " the" ? 1 : token.startsWith("the") ? 2 : token.includes("the") ? 3 : 4;
  expect(found.map(classOf)).toEqual(found.map(classOf).sort());
  expect(found).toContain(" the");
  expect(Math.max(...found.map(classOf))).toBeLessThan(4);
  await page.locator("#tree .found button").last().click();
  expect((await page.locator("#tree .facts-line > .t").textContent())!.replaceAll("␣", " ")).toBe(
    found.at(-1)!,
  );
  await page.fill("#tree input", "<img src=x onerror=globalThis.harmed=1>");
  expect(await page.locator("#tree .found").innerText()).toBe("no such token here");
  await page.close();
});

test("all tokens are in a table, page by page, in the order of merges or sorted, and each leads to its tree", async () => {
  const { page } = await open(trained);
  await page.locator("#more summary").first().click();
  let tokensLeft = story.length * 60;
  const merges = tokensTsvRows("trained")
    .filter(([, , , , , left]) => left !== "")
    .map(([id, , bytes, created, end], rank) => {
      tokensLeft -= Number(created);
      return [rank + 1, Number(bytes), Number(id), Number(created), Number(end), tokensLeft];
    });
  const table = page.locator("#more .table").first();
  const rows = () =>
    table
      .locator("tbody tr")
      .evaluateAll((all) =>
        all.map((row) =>
          [0, 3, 4, 5, 6, 8].map((i) => Number(row.children[i]!.textContent!.replace(/,/g, ""))),
        ),
      );
  // The table is drawn in an event that follows the click.
  await table.locator("tbody tr").first().waitFor();
  expect(await rows()).toEqual(merges.slice(0, 20));
  const turn = (name: string) => table.locator(`[aria-label="${name}"]`).click();
  await turn("next rows");
  expect(await rows()).toEqual(merges.slice(20, 40));
  expect(await table.locator(".pages span").innerText()).toMatch(/^21 to 40 of \d+$/);
  await turn("rows before");
  expect(await rows()).toEqual(merges.slice(0, 20));
  // Sorting by count at creation begins with the highest count. Tokens that no merge creates have such a count as well.
  const head = table.locator("thead button").nth(4);
  expect(await head.innerText()).toBe("when made");
  await head.focus();
  await page.keyboard.press("Enter");
  const made = tokensTsvRows("trained").map(([, , , created]) => Number(created));
  const counts = async () => (await rows()).map(([, , , created]) => created);
  expect(await counts()).toEqual(made.toSorted((a, b) => b - a).slice(0, 20));
  await table.locator("thead button").nth(2).click();
  const lengths = tokensTsvRows("trained").map(([, , bytes]) => Number(bytes));
  expect((await rows()).map(([, bytes]) => bytes)).toEqual(lengths.toSorted((a, b) => b - a).slice(0, 20));
  const link = table.locator("tbody tr a.token").first();
  const id = Number((await link.getAttribute("href"))!.slice("#token-".length));
  await link.click();
  await waitForToken(page, id);
  // The address of the page is a permanent link to the token.
  await page.reload();
  await waitForToken(page, id);
  await page.close();
});

test("special tokens that are scripts are found, drawn and not run", async () => {
  const specials = hostileTexts.slice(0, 4).flatMap((special) => ["-s", special]);
  const output = join(directory, "<script>globalThis.harmed=1<");
  const path = reportOf("specials", "train", text, "-n", "300", ...specials, "-o", output);
  const { page, problems } = await open(path);
  for (const special of hostileTexts.slice(0, 4)) {
    await page.fill("#tree input", special);
    await page.waitForFunction(
      (wanted) => document.querySelector("#tree .facts-line > .t")?.textContent === wanted,
      special.replaceAll(" ", "␣"),
    );
  }
  await unfold(page);
  expect(await page.evaluate(() => "harmed" in globalThis)).toBe(false);
  expect(problems).toEqual([]);
  await page.close();
});

test("the counted text, and bytes that are not characters, are shown", async () => {
  const { page } = await open(inspected);
  await page.locator("#more summary").first().click();
  expect(await page.locator("#more thead").first().innerText()).toContain("in line.txt");
  expect(await page.evaluate(() => "harmed" in globalThis)).toBe(false);
  const shown = (await page.locator("#samples .text").first().innerText()).replaceAll("␣", " ");
  expect(shown).toContain("</script><script>globalThis.harmed=1</script>");
  await page.close();
});
