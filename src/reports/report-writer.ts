import { closeSync } from "node:fs";
import { basename } from "node:path";
import { type Input, openInput, readHead } from "#corpus";
import type { CutText, FindingPart } from "#evaluation";
import { type Fact, type PageData, type PageText, type Phrase, pageFile } from "#pages";
import { build, type Message, UserError } from "#runtime";
import { readPageTemplate, writeChunks } from "#terminal";
import { TextEncoding, type TokenizerParts, textsOfShared, tokenBytesOf } from "#tokenizer";

// Loaded only with `--report`: no other start gets longer.

/** Level 6 of zlib takes five times as long, and saves a few per cent. */
export const deflate = (bytes: Uint8Array<ArrayBuffer>) =>
  Bun.deflateSync(bytes, { level: 1, library: "libdeflate" });

export const writePage = (path: string, text: PageText, data: PageData) =>
  writeChunks(path, [Buffer.from(pageFile(readPageTemplate(), text, data))]);

/** Parts of a sentence, the names of tokenizers in their colours. */
export const phrasesOf = (
  parts: readonly FindingPart[],
  tokenizers: readonly { readonly name: string }[],
): Phrase[] =>
  parts.map((part) => (typeof part === "string" ? part : { text: tokenizers[part]!.name, colour: part }));

/** What made a page or a tokenizer. */
export const programFact = ({ version, bunVersion, commit }: typeof build): Fact => [
  "bpe",
  `${version}, Bun ${bunVersion}, commit ${commit}`,
];

/** When a page is made, and by what. */
export const pageFacts = (): Fact[] => [["written", new Date().toISOString()], programFact(build)];

/** A path as charts name it: its last part. */
export const shortName = (path: string) => basename(path) || path;

/** Bytes of a text that a report shows, cut into tokens. */
const sampleBytesMax = 700;
export const headBytesMax = 1 << 14;

export type SampleText = { readonly name: string; readonly bytes: Uint8Array };

/** Texts that a report shows. */
const samplesMax = 6;

/** Takes what is to be said of files that cannot be read any more. */
export type Warn = (message: Message) => void;

/** The beginnings of the first texts that have one. A text is that of several inputs. */
export function sampleTextsOf(
  texts: readonly { readonly name: string; readonly inputs: readonly Input[] }[],
  warn: Warn,
  bytesMax = sampleBytesMax,
): SampleText[] {
  const found: SampleText[] = [];
  for (const { name, inputs } of texts) {
    if (found.length === samplesMax) break;
    for (const input of inputs) {
      const bytes = sampleTextOf(input, bytesMax, warn);
      if (bytes === null) continue;
      found.push({ name, bytes });
      break;
    }
  }
  return found;
}

/** Each input as a text of its own. */
export const textsOfInputs = (inputs: readonly Input[]) =>
  inputs.map((input) => ({ name: input.path, inputs: [input] }));

/**
 * The beginning of the input's text; null where it cannot be read without reading the input (streams, Parquet, JSON arrays), or
 * where the file has gone or changed since the run has read it.
 */
function sampleTextOf(input: Input, bytesMax: number, warn: Warn): Uint8Array | null {
  const { path, isStream, format, textField } = input;
  if (isStream || format === "parquet" || format === "json") return null;
  try {
    const fd = openInput(input);
    try {
      const head = readHead(fd, path, headBytesMax).bytes.slice();
      const text = format === "jsonl" ? textOfLines(head, textField) : head;
      return text === null || text.length === 0 ? null : wholeWords(text, bytesMax);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    warn(`the page shows no text of this file: ${error.message}`);
    return null;
  }
}

/** The text of the first record whose line is whole in the head. */
function textOfLines(head: Uint8Array, field: string): Uint8Array | null {
  const lines = new TextDecoder().decode(head).split("\n").slice(0, -1);
  for (const line of lines) {
    if (line.trim() === "") continue;
    const text: unknown = JSON.parse(line)[field];
    if (typeof text === "string" && text !== "") return new TextEncoder().encode(text);
  }
  return null;
}

/** The first bytes of a text, cut before a space if there is one, and never within a character. */
function wholeWords(text: Uint8Array, bytesMax: number): Uint8Array {
  if (text.length <= bytesMax) return text;
  let end = bytesMax;
  while (end > bytesMax / 2 && text[end] !== 0x20 && text[end] !== 0x0a) end--;
  if (text[end] === 0x20 || text[end] === 0x0a) return text.subarray(0, end);
  end = bytesMax;
  while (end > 0 && (text[end]! & 0xc0) === 0x80) end--;
  return text.subarray(0, end);
}

/** How each tokenizer cuts each text. */
export function cutSamples(texts: readonly SampleText[], tokenizers: readonly TokenizerParts[]): CutText[] {
  const encodings = tokenizers.map((parts) => ({
    encoding: new TextEncoding(parts, undefined, { cacheShrinkBits: 8, cuts: "nowhere" }),
    tokens: parts.tokens,
    shared: textsOfShared(parts),
  }));
  return texts.map(({ name, bytes }) => ({
    name,
    cuts: encodings.map(({ encoding, tokens, shared }) => {
      encoding.pushText(bytes, 0, bytes.length);
      let pos = 0;
      return Array.from(encoding.out.flush(), (id) => {
        let token = tokenBytesOf(tokens, id);
        // An id that an added token shares is that token where the text does not have the bytes of the learned one.
        const isThere = () => Buffer.compare(bytes.subarray(pos, pos + token.length), token) === 0;
        if (shared.has(id) && !isThere()) token = shared.get(id)!;
        pos += token.length;
        return { id, bytes: token };
      });
    }),
  }));
}
