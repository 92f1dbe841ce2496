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
  `${hostileTexts.join("\n")}\n${"<script>x</script> ".repeat(40)}`,
);
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
  for (const width of [1280, 390]) {
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
  expect(await seen(page, "#frequency figure", "37,99,201")).toBeGreaterThan(300);
  expect(await seen(page, "#lengths figure", "37,99,201")).toBeGreaterThan(2000);
  expect(await seen(page, "#scripts figure", "37,99,201")).toBeGreaterThan(1000);
  for (const token of ["207,224,251", "251,226,196", "205,236,214", "233,216,244"]) {
    expect(await seen(page, "#samples .text", token)).toBeGreaterThan(1000);
  }
  await page.close();
  const other = (await open(compared)).page;
  expect(await seen(other, "#matrix .h7", "146,177,228")).toBeGreaterThan(500);
  expect(await seen(other, "#samples .text", "184,50,50")).toBeGreaterThan(100);
  await other.close();
});

test("text of others does not run, and is shown as it is", async () => {
  const { page, problems } = await open(compared);
  expect(await page.evaluate(() => "harmed" in globalThis)).toBe(false);
  expect(await page.locator("script").count()).toBe(2);
  expect(await page.locator("#samples img, #samples svg, #samples a").count()).toBe(0);
  const shown = await page.locator("#samples .text").last().textContent();
  expect(shown).toContain("</script><script>globalThis.harmed=1</script>");
  expect(shown).toContain("\\xe2\\x80\\xae");
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
      special,
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
        Number(/id (\d+)/.exec((node.firstElementChild as HTMLElement).title)![1]);
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
  const found = await page.locator("#tree-found button .t").allTextContents();
  const classOf = (token: string) =>
    token === "the" ? 0 : token === " the" ? 1 : token.startsWith("the") ? 2 : token.includes("the") ? 3 : 4;
  expect(found.map(classOf)).toEqual(found.map(classOf).sort());
  expect(found).toContain(" the");
  expect(Math.max(...found.map(classOf))).toBeLessThan(4);
  await page.locator("#tree-found button").last().click();
  expect(await page.locator("#tree-view .t").textContent()).toBe(found.at(-1)!);
  await page.close();
});

test("the id of a token shows under the pointer", async () => {
  const { page } = await open(trained);
  const token = page.locator("#samples .text i").nth(3);
  await token.hover();
  const tip = await token.evaluate((element) => getComputedStyle(element, "::after").content);
  const [id, bytes] = await Promise.all(["data-id", "data-n"].map((name) => token.getAttribute(name)));
  expect(tip).toBe(`"id ${id}, ${bytes} bytes"`);
  await page.close();
});

test("a reader of three tokenizers chooses two, and their differences are marked", async () => {
  const { page } = await open(compared);
  const shown = () =>
    page
      .locator("#samples .cuts")
      .first()
      .locator(".cut:visible")
      .evaluateAll((cuts) =>
        cuts.map((cut) => [
          (cut as HTMLElement).dataset.tokenizer,
          [...cut.querySelectorAll("i")].map((token) => Number((token as HTMLElement).dataset.n)),
          [...cut.querySelectorAll("i")].map((token) => token.classList.contains("d")),
        ]),
      ) as Promise<[string, number[], boolean[]][]>;
  const places = (lengths: number[]) => {
    let end = 0;
    return lengths.map((length) => `${end} ${(end += length)}`);
  };
  const check = async (left: string, right: string) => {
    const [a, b] = await shown();
    expect([a![0], b![0]]).toEqual([left, right]);
    expect(a![2]).toEqual(places(a![1]).map((place) => !places(b![1]).includes(place)));
    expect(b![2]).toEqual(places(b![1]).map((place) => !places(a![1]).includes(place)));
  };
  await check("0", "1");
  await page.selectOption("[data-side='0']", "2");
  await check("2", "1");
  await page.selectOption("[data-side='1']", "0");
  await check("2", "0");
  await page.close();
});

test("without its script the page shows all but the tree", async () => {
  const { page } = await open(compared, { javaScriptEnabled: false });
  for (const section of ["#matrix", "#frequency .line", "#lengths .bar", "#samples .cut", "#longest li"]) {
    expect(await page.locator(section).first().isVisible()).toBe(true);
  }
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
