import { closeSync } from "node:fs";
import { basename } from "node:path";
import { type Input, openFile } from "../corpus/input.ts";
import { readHead } from "../corpus/inspect-input.ts";
import type { CutText } from "../evaluation/excerpts.ts";
import { TextEncoding } from "../tokenizer/text-encoding.ts";
import { textsOfShared } from "../tokenizer/token-keys.ts";
import { type TokenTable, tokenBytesOf } from "../tokenizer/token-table.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";

// Loaded only with `--report`: no other start gets longer.

/** Level 6 takes three times as long, and saves a few per cent. */
export const deflate = (bytes: Uint8Array<ArrayBuffer>) => Bun.deflateSync(bytes, { level: 2 });

/** A path as charts name it: its last part. */
export const shortName = (path: string) => basename(path) || path;

/** Bytes of a text that a report shows, cut into tokens. */
const sampleBytesMax = 700;
export const headBytesMax = 1 << 14;

export type SampleText = { readonly name: string; readonly bytes: Uint8Array };

/** Texts that a report shows. */
export const samplesMax = 6;

/** The beginnings of the first inputs that have one. */
export function sampleTextsOf(inputs: readonly Input[]): SampleText[] {
  const found: SampleText[] = [];
  for (const input of inputs) {
    if (found.length === samplesMax) break;
    const bytes = sampleTextOf(input);
    if (bytes !== null) found.push({ name: input.path, bytes });
  }
  return found;
}

/** The beginning of the input's text; null where it cannot be read without reading the input: streams, Parquet, JSON arrays. */
export function sampleTextOf(
  { path, isStream, format, textField }: Input,
  bytesMax = sampleBytesMax,
): Uint8Array | null {
  if (isStream || format === "parquet" || format === "json") return null;
  const fd = openFile(path);
  try {
    const head = readHead(fd, path, headBytesMax).bytes.slice();
    const text = format === "jsonl" ? textOfLines(head, textField) : head;
    return text === null || text.length === 0 ? null : wholeWords(text, bytesMax);
  } finally {
    closeSync(fd);
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
export function cutSamples(
  texts: readonly SampleText[],
  cutters: readonly { readonly parts: TokenizerParts; readonly tokens: TokenTable }[],
): CutText[] {
  const encodings = cutters.map(({ parts, tokens }) => ({
    encoding: new TextEncoding(parts, undefined, { cacheShrinkBits: 8, cuts: "nowhere" }),
    tokens,
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
