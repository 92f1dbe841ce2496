// Makes the table of docs/evaluate.md, and the picture docs/report.png.
//
//   npm run suite pictures
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Evaluation } from "../../src/evaluation/evaluation.ts";
import { launchChromium } from "../../test/pages/chromium.ts";
import { table } from "../markdown.ts";
import { languages, writeManuals, writeRanks, writeTexts } from "./texts.ts";

const root = join(import.meta.dir, "../..");
const home = join(root, "dist/languages");
/** Published tokenizers. Ours get the same pattern and size. */
const rivals = [
  { name: "GPT-2", ours: "ours 50k", pattern: "gpt2", size: 50_257 },
  { name: "cl100k", ours: "ours 100k", pattern: "cl100k", size: 100_261 },
  { name: "o200k", ours: "ours 200k", pattern: "o200k", size: 200_000 },
] as const;

export type Compared = { readonly evaluation: Evaluation; readonly reportPath: string };

/** Trains our tokenizers, evaluates all tokenizers on held-out text, and writes the report next to them. */
export function compare(): Compared {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  writeTexts(home);
  writeRanks(home);
  for (const { ours, pattern, size } of rivals) {
    run("train", "learned", "-n", String(size), "-p", pattern, "-o", ours, "-q");
  }
  const texts = languages.map(([name]) => `${name}.txt`);
  const tokenizers = rivals.flatMap(({ name, ours }) => [`${name}.tiktoken`, ours]);
  const output = run("eval", ...tokenizers, "--text", ...texts, "--json", "--report", "report.html", "-q");
  return { evaluation: JSON.parse(output), reportPath: join(home, "report.html") };
}

function reportOfManuals(): string {
  const texts = writeManuals(join(home, "manuals")).map((name) => `manuals/${name}`);
  run("train", "manuals/learned", "-n", "32000", "-p", "o200k", "-o", "manuals/ours", "-q");
  const published = ["GPT-4o=o200k.tiktoken", "GPT-4=cl100k.tiktoken", "GPT-2.tiktoken"];
  run("eval", "manuals/ours", ...published, "--text", ...texts, "--report", "manuals.html", "-q");
  return join(home, "manuals.html");
}

function run(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(join(root, "dist/bpe"), args, {
    cwd: home,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`bpe ${args[0]}: ${stderr}`);
  return stdout;
}

/**
 * Returns a table of bytes per token: each published tokenizer above ours of its size. The better value is in bold, or
 * both if they are equal.
 */
export function comparisonTable(evaluation: Evaluation): string {
  const byName = new Map(evaluation.tokenizers.map((tokenizer) => [tokenizer.name, tokenizer]));
  const rows = rivals.flatMap(({ name, ours, size }) => {
    const pair = [byName.get(name)!, byName.get(ours)!];
    for (const { vocabularySize } of pair) {
      if (vocabularySize !== size) throw new Error(`${name} has ${size} tokens, not ${vocabularySize}`);
    }
    const values = pair.map(({ texts }) => texts.map(({ bytesPerToken }) => bytesPerToken!.toFixed(2)));
    return values.map((shown, side) => [
      `${side === 0 ? name : "ours"}, ${size.toLocaleString("en-US")} tokens`,
      ...shown.map((value, text) =>
        Number(value) >= Number(values[1 - side]![text]) ? `**${value}**` : value,
      ),
    ]);
  });
  return table(["bytes per token", ...evaluation.texts.map(({ name }) => name)], rows);
}

/** The pages that contain the table. */
export const pagesWithTable = ["docs/evaluate.md"].map((path) => join(root, path));

const tableOnPage = /^\| bytes per token \| English .*\n(?:\|.*\n)+/m;

/**
 * Declares the members of HTML elements that this file uses, because it is type-checked without the types of browsers.
 */
type Styled = { readonly style: { display: string } };

/** Takes a screenshot of the findings, the chart of dots, and the table. */
async function takePicture(reportPath: string, picturePath: string): Promise<void> {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 900, height: 600 }, colorScheme: "light" });
    await page.goto(String(pathToFileURL(reportPath)));
    await page.waitForSelector("#measures");
    // The picture omits other sections, controls and cautions.
    const hidden = ["main > section:not(#picture, #measures)", "#measures .choosers", ".caution", "nav"];
    await page.$$eval(hidden.join(", "), (elements) => {
      for (const element of elements) (element as unknown as Styled).style.display = "none";
    });
    await page.screenshot({ path: picturePath, fullPage: true });
  } finally {
    await browser.close();
  }
}

if (import.meta.main) {
  const shown = comparisonTable(compare().evaluation);
  for (const path of pagesWithTable) {
    writeFileSync(path, readFileSync(path, "utf8").replace(tableOnPage, `${shown}\n`));
  }
  await takePicture(reportOfManuals(), join(root, "docs/report.png"));
  console.log(shown);
}
