import { decimalDigitsMax, grow, putDecimal } from "#bytes";
import { createSha256, scaled } from "#runtime";
import type {
  Extension,
  FinishedTokenizer,
  JsonObject,
  LoadOptions,
  Numbering,
  TokenizerParts,
} from "#tokenizer";

/**
 * One file of a tokenizer directory: its name and its bytes, chunk by chunk, so that no file is ever whole in memory.
 * A chunk is valid until the next one is asked for.
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
/** A file of a tokenizer that was loaded, as it was read. */
export type SourceFile = {
  /** What it is called where it is written. */
  readonly name: string;
  readonly path: string;
  readonly bytes: Uint8Array;
};

export type SourceFiles = readonly [SourceFile, ...SourceFile[]];

/** How a format's files are read and written. `files` are those of one tokenizer, in the order of their names in formats.ts. */
export type TokenizerFormat = {
  /** How a trained one is written; absent if it never is. */
  readonly writing?: {
    /** Why a tokenizer cannot be written in this format, or null. */
    readonly obstacle: (tokenizer: FinishedTokenizer) => string | null;
    readonly files: (tokenizer: FinishedTokenizer) => OutputFile[];
  };
  readonly read: (files: SourceFiles, options: LoadOptions) => TokenizerParts;
  /** What the file says beside vocabulary, merges and added tokens, for a tokenizer that is trained like it; absent: nothing. */
  readonly frame?: (file: SourceFile) => JsonObject;
  /** The files with the tokens that stay, and their new ids. */
  readonly prune: (files: SourceFiles, parts: TokenizerParts, numbering: Numbering) => OutputFile[];
} & (Extending | { readonly [Name in keyof Extending]?: undefined });

/** Absent if the format has no room for new tokens. */
type Extending = {
  /**
   * The files with new tokens put in; every other byte of them stays. Yields also where no bytes are ready: a step of work on
   * a large file ends there.
   */
  readonly extend: (files: SourceFiles, base: TokenizerParts, extension: Extension) => OutputFile[];
  /** The files with other texts of special tokens: as they are, where they have none. */
  readonly rename: (files: SourceFiles, names: ReadonlyMap<string, string>) => SourceFiles;
};

/**
 * Gathers the bytes of a file. Rows are appended until the chunk is full and is taken. It grows only for a single text
 * that is longer, so it is as long as the longest token, not as the file.
 */
export class Chunk {
  bytes: Uint8Array = new Uint8Array(2 * fullBytes);
  length = 0;

  get isFull(): boolean {
    return this.length >= fullBytes;
  }

  /** Makes room for `countBytes` more. */
  reserve(countBytes: number): void {
    const needed = this.length + countBytes;
    if (needed > this.bytes.length) this.bytes = grow(this.bytes, needed);
  }

  /** Bytes as they are. */
  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Any text. */
  text(text: string): void {
    this.reserve(3 * text.length);
    this.length += encoder.encodeInto(text, this.bytes.subarray(this.length)).written;
  }

  /** ASCII text. For the few characters between tokens a loop is several times faster than an encoder. */
  ascii(text: string): void {
    this.reserve(text.length);
    const { bytes, length } = this;
    for (let i = 0; i < text.length; i++) bytes[length + i] = text.charCodeAt(i);
    this.length = length + text.length;
  }

  /** A whole number from 0, in decimal. */
  decimal(number: number): void {
    this.reserve(decimalDigitsMax);
    this.length = putDecimal(number, this.bytes, this.length);
  }

  /** The bytes gathered, valid until the next append, which begins anew. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.length);
    this.length = 0;
    return taken;
  }
}

/** Large enough that a write costs little beside its bytes, small enough for a processor's cache. */
const fullBytes = scaled(64 * 1024, 64);
const encoder = new TextEncoder();
