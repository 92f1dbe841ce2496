import { closeSync, readSync } from "node:fs";
import { basename } from "node:path";
import { corpusInputs, type Input, inspection } from "#corpus";
import type { excerpts, findings } from "#evaluation";
import type { pageData } from "#pages";
import { type Message, programVersion, UserError } from "#runtime";
import { dataOutput, embeddedPages } from "#terminal";
import { TextEncoding, type TokenizerParts, tokenKeys, tokenTables } from "#tokenizer";
import { pageFile } from "./page-file.ts";

// This module is loaded on demand, so that commands that write no page start faster.

/** Compresses at libdeflate's level 1. Level 6 takes five times as long and saves only a few percent. */
export const deflate = (bytes: Uint8Array<ArrayBuffer>) =>
  Bun.deflateSync(bytes, { level: 1, library: "libdeflate" });

export const writePage = (path: string, text: pageData.PageText, data: pageData.PageData) =>
  dataOutput.writeChunks(path, [Buffer.from(pageFile(embeddedPages.readPageTemplate(), text, data))]);

/** Turns a finding into phrases, with the names of tokenizers in their colours. */
export const phrasesOf = (
  parts: readonly findings.FindingPart[],
  tokenizers: readonly { readonly name: string }[],
): pageData.Phrase[] =>
  parts.map((part) => (typeof part === "string" ? part : { text: tokenizers[part]!.name, colour: part }));

/** A fact that names the version which made a page or a tokenizer. */
export const programFact = ({ version, bunVersion, commit }: typeof programVersion.build): pageData.Fact => [
  "bpe",
  `${version}, Bun ${bunVersion}, commit ${commit}`,
];

/** Facts about a page: when it was made, and by which version. */
export const pageFacts = (): pageData.Fact[] => [
  ["written", new Date().toISOString()],
  programFact(programVersion.build),
];

/** Returns the last part of a path, as charts name it. */
export const shortName = (path: string) => basename(path) || path;

/** The default maximum size of a sample text in bytes. */
const sampleBytesMax = 700;
/** The number of bytes in the middle of a text that are searched for a passage to show. */
export const searchedBytes = 1 << 14;
/**
 * A sample begins at a paragraph, a line or a word if one begins in the first half of what was read, within this many
 * bytes.
 */
const skippedBytesMax = 1 << 12;

export type SampleText = { readonly name: string; readonly bytes: Uint8Array };

/** The maximum number of sample texts in a report. */
const samplesMax = 6;

/** Receives warnings about files that can no longer be read. */
export type Warn = (message: Message) => void;

/**
 * Returns a passage from the middle of each readable text, of at most `samplesMax` texts. A text may consist of several
 * inputs; its passage is from the first one that is readable.
 */
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

/** Treats each input as a separate text. */
export const textsOfInputs = (inputs: readonly Input[]) =>
  inputs.map((input) => ({ name: shortName(input.path), inputs: [input] }));

/**
 * Returns a passage from the middle of the input's text, because texts often begin with a title page or a licence. In
 * JSON Lines, the passage is the beginning of a record's text. Returns null if a passage needs the whole input
 * (streams, Parquet, JSON), or if no record with a text is found. Also returns null, after a warning, if the file can
 * no longer be read as before, for example because it was removed, replaced or shortened.
 */
function sampleTextOf(input: Input, bytesMax: number, warn: Warn): Uint8Array | null {
  const { path, isStream, format, textField } = input;
  if (isStream || format === "parquet" || format === "json") return null;
  try {
    const fd = corpusInputs.openInput(input);
    try {
      if (format !== "jsonl") return wholeWords(passageIn(fd, input, bytesMax), bytesMax);
      // No text is found in the middle if a record there is longer than what is read. Then the beginning is searched.
      const text =
        textOfLines(windowOf(fd, input, searchedBytes), textField) ??
        textOfLines({ bytes: inspection.readHead(fd, path, searchedBytes).bytes, isStart: true }, textField);
      return text && wholeWords(text, bytesMax);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    warn(`the page shows no text of this file: ${error.message}`);
    return null;
  }
}

/** Bytes of a text, and whether they are its beginning. */
type Window = { readonly bytes: Uint8Array; readonly isStart: boolean };

/**
 * Reads at least `bytesMax` bytes from the middle of a file, or all of a smaller file. Of a compressed file, takes the
 * middle of its decompressed beginning.
 */
function windowOf(fd: number, { path, compression, sizeBytes }: Input, bytesMax: number): Window {
  const head = compression === "none" ? null : inspection.readHead(fd, path, 4 * searchedBytes).bytes;
  const start = Math.max(0, Math.floor(((head?.length ?? sizeBytes) - bytesMax) / 2));
  const end = start + bytesMax + skippedBytesMax + 1;
  if (head !== null) return { bytes: head.slice(start, end), isStart: start === 0 };
  const bytes = new Uint8Array(end - start);
  return { bytes: bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, start)), isStart: start === 0 };
}

/** Returns a passage that begins with the text itself, or at a paragraph, else at a line, a space or a character. */
function passageIn(fd: number, input: Input, bytesMax: number): Uint8Array {
  const { bytes, isStart } = windowOf(fd, input, bytesMax);
  if (isStart) return bytes;
  const skipped = Buffer.from(bytes.subarray(0, Math.min(skippedBytesMax, bytes.length / 2))).toString(
    "latin1",
  );
  const start = [/\n\r?\n[\r\n]*(?=.)/, /\n(?=.)/, /(?= )/, /(?=[^\x80-\xbf])/].flatMap((border) => {
    const found = border.exec(skipped);
    return found === null ? [] : [found.index + found[0].length];
  })[0];
  return bytes.subarray(start ?? 0);
}

/**
 * Returns the text of the first record that has one. Records that are not whole are left out, and so is one after the
 * last line feed. Returns null if no text is found.
 */
function textOfLines({ bytes, isStart }: Window, field: string): Uint8Array | null {
  const lines = new TextDecoder()
    .decode(bytes)
    .split("\n")
    .slice(isStart ? 0 : 1, -1);
  for (const line of lines) {
    if (line.trim() === "") continue;
    const text: unknown = JSON.parse(line)[field];
    if (typeof text === "string" && text !== "") return new TextEncoder().encode(text);
  }
  return null;
}

/**
 * Truncates a text to at most `bytesMax` bytes, never within a character. If there are spaces or line feeds in the
 * second half of these bytes, or right after them, the text ends before the last of these.
 */
function wholeWords(text: Uint8Array, bytesMax: number): Uint8Array {
  if (text.length <= bytesMax) return text;
  let end = bytesMax;
  while (end > bytesMax / 2 && text[end] !== 0x20 && text[end] !== 0x0a) end--;
  if (text[end] === 0x20 || text[end] === 0x0a) return text.subarray(0, end);
  end = bytesMax;
  while (end > 0 && (text[end]! & 0xc0) === 0x80) end--;
  return text.subarray(0, end);
}

/** Encodes passages, and tells the bytes of their tokens. */
type Cutter = {
  readonly parts: TokenizerParts;
  readonly encode: (text: Uint8Array) => Iterable<number>;
  readonly bytesOf: (id: number) => Uint8Array;
};

/** Returns a cutter for any tokenizer. */
export function cutterOf(parts: TokenizerParts): Cutter {
  const encoding = new TextEncoding(parts, undefined, { cacheShrinkBits: 8, cuts: "nowhere" });
  const encode = (text: Uint8Array) => {
    encoding.pushText(text, 0, text.length);
    return encoding.out.flush();
  };
  return { parts, encode, bytesOf: (id) => tokenTables.bytesOf(parts.tokens, id) };
}

/** Cuts each text by each tokenizer. */
export function cutSamples(texts: readonly SampleText[], cutters: readonly Cutter[]): excerpts.CutText[] {
  const shared = cutters.map(({ parts }) => tokenKeys.textsOfShared(parts));
  return texts.map(({ name, bytes }) => ({
    name,
    cuts: cutters.map(({ encode, bytesOf }, t) => {
      let pos = 0;
      return Array.from(encode(bytes), (id) => {
        let token = bytesOf(id);
        // If an added and a learned token share an id, the id means the learned token where the text has the bytes of
        // that token, and otherwise the added token.
        const isThere = () => Buffer.compare(bytes.subarray(pos, pos + token.length), token) === 0;
        if (shared[t]!.has(id) && !isThere()) token = shared[t]!.get(id)!;
        pos += token.length;
        return { id, bytes: token };
      });
    }),
  }));
}
