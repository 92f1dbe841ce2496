import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { writeDna } from "./corpora/dna.ts";
import { languages } from "./fair/texts.ts";
import { writeTexts } from "./languages/texts.ts";
import { runProcess } from "./record.ts";

/** The special token between the documents of a text. */
export const end = "<|endoftext|>";

const root = join(import.meta.dir, "..");
const bpe = join(root, "dist/bpe");

/** The texts that are trained on and encoded. What is made from them is in `home`. */
export class BenchTexts {
  /** Paths of the texts, sorted. */
  readonly paths: readonly string[];
  private readonly tokenizers = new Map<string, string>();

  /** `corpora` is a directory with `*.txt`. Without it, the text is made from the declaration of human rights. */
  constructor(
    private readonly home: string,
    corpora: string | undefined,
  ) {
    const directory = corpora ?? writeDeclarations(join(home, "udhr"));
    this.paths = readdirSync(directory)
      .filter((name) => name.endsWith(".txt"))
      .sort()
      .map((name) => join(directory, name));
  }

  /** Returns the path of the text with this name, if there is one. */
  named(name: string): string | undefined {
    return this.paths.find((path) => basename(path) === `${name}.txt`);
  }

  tokenizerOf(path: string, superwordsFrom?: number): string {
    const key = `${path} ${superwordsFrom}`;
    const known = this.tokenizers.get(key);
    if (known !== undefined) return known;
    const output = join(this.home, `tokenizer-${this.tokenizers.size}`);
    this.tokenizers.set(key, output);
    const superwords = superwordsFrom === undefined ? [] : ["--superwords-from", String(superwordsFrom)];
    runProcess([bpe, "train", path, "-n", "32000", "-s", end, ...superwords, "-o", output, "-q"]);
    return output;
  }

  /** Writes the documents of one language into a file, unless it exists already. Returns its path. */
  ofLanguage(multilingual: string, name: string): string {
    const path = join(this.home, `${name}.txt`);
    const { isOf } = languages.find((language) => language.name === name)!;
    if (!existsSync(path)) {
      const documents = readFileSync(multilingual, "utf8").split(end).filter(isOf);
      if (documents.length === 0) throw new Error(`there is no ${name} in ${multilingual}`);
      writeFileSync(path, documents.join(end));
    }
    return path;
  }

  beginningOf(path: string, sizeBytes: number): string {
    const beginning = join(this.home, "beginning.txt");
    const bytes = readFileSync(path).subarray(0, sizeBytes);
    writeFileSync(beginning, bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1 || bytes.length));
    return beginning;
  }

  grownTo1GB(english: string): string {
    const path = join(this.home, "grown.txt");
    runProcess([process.execPath, "run", join(import.meta.dir, "corpora/grow.ts"), english, "1e9", path]);
    return path;
  }

  /**
   * Writes made-up words, similar to those of a text, with counts, as `bpe count` does. Returns the path of the file.
   */
  madeWords(english: string): string {
    const words = join(this.home, "words.tsv");
    runProcess([process.execPath, "run", join(import.meta.dir, "merge/make-words.ts"), english, words]);
    return words;
  }

  dna(): string {
    const path = join(this.home, "dna.txt");
    if (!existsSync(path)) writeDna(path, 10e6);
    return path;
  }
}

function writeDeclarations(directory: string): string {
  writeTexts(directory);
  const learned = join(directory, "learned");
  const texts = readdirSync(learned).map((name) => readFileSync(join(learned, name), "utf8"));
  writeFileSync(join(directory, "declarations.txt"), texts.join(end));
  rmSync(learned, { recursive: true });
  for (const name of readdirSync(directory)) if (name !== "declarations.txt") rmSync(join(directory, name));
  return directory;
}

const megabytesOf = (path: string) => `${(statSync(path).size / 1e6).toPrecision(3).replace(/\.0$/, "")} MB`;

/** Returns the name of a text with its size, for the name of a row. */
export const titled = (path: string) => `${basename(path, ".txt")}, ${megabytesOf(path)}`;
