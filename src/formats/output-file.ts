import { decimalDigitsMax, grow, putDecimal } from "#bytes";
import { createSha256, type Message, scaled } from "#runtime";
import type {
  Extension,
  FinishedTokenizer,
  JsonObject,
  LoadOptions,
  Numbering,
  TokenizerParts,
} from "#tokenizer";

/**
 * One file of a tokenizer directory: its name, and its bytes in chunks, so that no whole file is in memory. A
 * chunk is valid until the next one is requested.
 */
export type OutputFile = {
  readonly name: string;
  readonly chunks: () => Iterable<Uint8Array>;
};

/** SHA-256 of all chunks, in hex. */
export function sha256Of(chunks: Iterable<Uint8Array | string>): string {
  const hasher = createSha256();
  for (const chunk of chunks) hasher.update(chunk);
  return hasher.digest("hex");
}
/** A file of a loaded tokenizer, with its original bytes. */
export type SourceFile = {
  /** The file's name when it is written. */
  readonly name: string;
  readonly path: string;
  readonly bytes: Uint8Array;
};

export type SourceFiles = readonly [SourceFile, ...SourceFile[]];

/**
 * Reads and writes the files of a format. `files` belong to one tokenizer, in the order of their names in
 * formats.ts.
 */
export type TokenizerFormat = {
  /** Writes a trained tokenizer; absent if the format cannot. */
  readonly writing?: {
    /** Why a tokenizer cannot be written in this format, or null. */
    readonly obstacle: (tokenizer: FinishedTokenizer) => Message | null;
    readonly files: (tokenizer: FinishedTokenizer) => OutputFile[];
  };
  readonly read: (files: SourceFiles, options: LoadOptions) => TokenizerParts;
  /**
   * Parses everything in the file except vocabulary, merges and added tokens, for `--like`; absent if the
   * format has nothing else.
   */
  readonly frame?: (file: SourceFile) => JsonObject;
  /** Rewrites the files with the tokens that are kept, under their new ids. */
  readonly prune: (files: SourceFiles, parts: TokenizerParts, numbering: Numbering) => OutputFile[];
} & (Extending | { readonly [Name in keyof Extending]?: undefined });

/** Absent if the format has no room for new tokens. */
type Extending = {
  /**
   * Inserts new tokens into the files; every other byte stays. Also yields without any bytes, to end a slice
   * of work on a large file.
   */
  readonly extend: (files: SourceFiles, base: TokenizerParts, extension: Extension) => OutputFile[];
  /** Replaces the texts of special tokens in the files; files without any are returned unchanged. */
  readonly rename: (files: SourceFiles, names: ReadonlyMap<string, string>) => SourceFiles;
};

/**
 * Gathers the bytes of a file. Callers append rows until the chunk is full, then take it. It grows only for a
 * text longer than the chunk, so its size is bounded by the longest token, not by the file.
 */
export class Chunk {
  bytes: Uint8Array = new Uint8Array(2 * fullBytes);
  length = 0;

  get isFull(): boolean {
    return this.length >= fullBytes;
  }

  /** Makes room for `countBytes` more bytes. */
  reserve(countBytes: number): void {
    const needed = this.length + countBytes;
    if (needed > this.bytes.length) this.bytes = grow(this.bytes, needed);
  }

  /** Appends raw bytes. */
  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Appends text as UTF-8. */
  text(text: string): void {
    this.reserve(3 * text.length);
    this.length += encoder.encodeInto(text, this.bytes.subarray(this.length)).written;
  }

  /** Appends ASCII text. For the few characters between tokens, a loop is several times faster than an encoder. */
  ascii(text: string): void {
    this.reserve(text.length);
    const { bytes, length } = this;
    for (let i = 0; i < text.length; i++) bytes[length + i] = text.charCodeAt(i);
    this.length = length + text.length;
  }

  /** Appends a non-negative integer in decimal. */
  decimal(number: number): void {
    this.reserve(decimalDigitsMax);
    this.length = putDecimal(number, this.bytes, this.length);
  }

  /** Returns the gathered bytes and starts over. They are valid until the next append. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.length);
    this.length = 0;
    return taken;
  }
}

/** Large enough to make the cost of a write negligible, small enough for a processor's cache. */
const fullBytes = scaled(64 * 1024, 64);
const encoder = new TextEncoder();
