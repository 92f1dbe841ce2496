import type { CountsOptions } from "./counts-format.ts";
import {
  checkHeader,
  headerBytesMax,
  headerError,
  optionsToState,
  otherVersion,
  parseHeader,
} from "./counts-header.ts";
import type { ReadBytes } from "./counts-reader.ts";

/**
 * The first line of word counts as text: `#bpe-counts<TAB>{"version":1,…}`, with the keys of counts-header.ts. No line of
 * a word looks like it: behind the tab such a line has a digit, so the word `#bpe-counts` may stand first.
 */
const mark = "#bpe-counts";
const version = 1;
const start = `${mark}\t{`;
const opening = new TextEncoder().encode(start);
const newline = 10;

const firstReadBytes = 1 << 12;

export function tsvHead(options: CountsOptions): Uint8Array {
  const header = { version, ...optionsToState(options) };
  return new TextEncoder().encode(`${mark}\t${JSON.stringify(header)}\n`);
}

/** Whether a line that begins so is a header. */
export const isTsvHead = (lineStart: string) => lineStart.startsWith(start);

export type TsvHead = {
  /** What the words were made with, or null: there is no such line. */
  readonly options: CountsOptions | null;
  /** What was read and is not of that line. */
  readonly rest: Uint8Array;
};

/** Reads the first line if it is a header, and the start of the words. A UserError for a header that does not fit. */
export function readTsvHead(path: string, readBytes: ReadBytes): TsvHead {
  let bytes = new Uint8Array(firstReadBytes);
  let filled = 0;
  for (;;) {
    const readCount = readBytes(bytes.subarray(filled));
    const searchedFrom = filled;
    filled += readCount;
    const read = bytes.subarray(0, filled);
    const isHeader = read.subarray(0, opening.length).every((byte, i) => byte === opening[i]);
    if (!isHeader || (readCount === 0 && filled < opening.length)) return { options: null, rest: read };
    const lineEnd = bytes.subarray(searchedFrom, filled).indexOf(newline);
    if (lineEnd >= 0 || readCount === 0) {
      const end = lineEnd >= 0 ? searchedFrom + lineEnd : filled;
      return {
        options: optionsOf(path, read.subarray(opening.length - 1, end)),
        rest: read.subarray(end + 1),
      };
    }
    if (filled >= headerBytesMax) throw headerError(path, "is longer than any that bpe writes");
    if (filled === bytes.length) bytes = lengthened(bytes);
  }
}

function optionsOf(path: string, json: Uint8Array): CountsOptions {
  const { version: found, ...stated } = parseHeader(path, json);
  if (found !== version) throw otherVersion(path, found, version);
  return checkHeader(path, stated);
}

function lengthened(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(2 * bytes.length);
  longer.set(bytes);
  return longer;
}
