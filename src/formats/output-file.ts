import { decimal, grow, type json } from "#bytes";
import { host, type Message, scaled } from "#runtime";
import type { changes, Roles, TokenizerParts, tokenizers } from "#tokenizer";
import type { FinishedTokenizer, PieceKind } from "./finished-tokenizer.ts";
import type { ScannedJson } from "./scan-tokenizer-json.ts";

/**
 * A file of a tokenizer's directory. Its bytes come in chunks, so that a large file need not be in memory as a whole. A
 * chunk is valid until the next one is requested.
 */
export type OutputFile = {
  readonly name: string;
  readonly chunks: () => Iterable<Uint8Array>;
};

/** Returns the SHA-256 of all chunks, in hex. */
export function sha256Of(chunks: Iterable<Uint8Array | string>): string {
  const hasher = host.createSha256();
  for (const chunk of chunks) hasher.update(chunk);
  return hasher.digest("hex");
}

/** A file of a loaded tokenizer, with its original bytes. */
export type SourceFile = {
  /** The file's name when it is written. */
  readonly name: string;
  readonly path: string;
  readonly bytes: Uint8Array;
  /** The result of `TokenizerFormat.scan`, if it is known. Reading the file then does not scan it again. */
  readonly scanned?: ScannedJson | null;
};

export type SourceFiles = readonly [SourceFile, ...SourceFile[]];

/** The tokens of a tokenizer, by id, as its files spell them. */
export type SpelledTokens = {
  /** undefined: no token has this id. */
  readonly texts: readonly (string | undefined)[];
  readonly kinds: readonly PieceKind[];
  /** SentencePiece's score of each token; null for other files. */
  readonly scores: Float32Array | null;
  /** Whether text is cut before every U+2581, the mark that represents a space. */
  readonly splitsAtMarks: boolean;
};

/**
 * Reads and writes the files of a format. `files` are the files of one tokenizer, in the order of the names in
 * formats.ts.
 */
export type TokenizerFormat = {
  /** Writes a trained or converted tokenizer. Absent if the format is only read, and for `image` (see formats.ts). */
  readonly writing?: {
    /** Returns the reason why a tokenizer cannot be written in this format, or null. */
    readonly obstacle: (tokenizer: FinishedTokenizer) => Message | null;
    readonly files: (tokenizer: FinishedTokenizer) => OutputFile[];
    /**
     * Set if the program that reads these files does not find special tokens in a text, because it adds their ids
     * itself.
     */
    readonly hidesSpecialTokens?: true;
  };
  readonly read: (files: SourceFiles, options: tokenizers.LoadOptions) => TokenizerParts;
  /** Scans a `tokenizer.json` without checking it; null if it is unusual or wrong. Absent for other formats. */
  readonly scan?: (file: SourceFile) => ScannedJson | null;
  /**
   * Returns everything but the vocabulary, merges and added tokens of a `tokenizer.json` of this tokenizer, for
   * `--like` and `bpe convert`. Absent for formats that do not store these settings.
   */
  readonly frame?: (file: SourceFile) => json.JsonObject;
  /** Returns the tokens with roles, if the format states them in the tokenizer's own file. */
  readonly roles?: (file: SourceFile) => Roles;
  /**
   * Returns the tokens of a tokenizer whose merging begins with characters. Absent if a format has no such tokenizers,
   * or does not store how their tokens are spelled (images).
   */
  readonly spell?: (files: SourceFiles, parts: TokenizerParts) => SpelledTokens;
  /**
   * Rewrites the files with only the kept tokens, which have their new ids. Throws for SentencePiece, `image` and GGUF.
   */
  readonly prune: (files: SourceFiles, parts: TokenizerParts, numbering: changes.Numbering) => OutputFile[];
} & (Extending | { readonly [Name in keyof Extending]?: undefined });

/** The members that a format lacks if it cannot hold new tokens. */
type Extending = {
  /**
   * Returns the files with the new tokens inserted. If a file's vocabulary lacks added tokens, these are inserted
   * first. A chunk of a large file may be empty, and then only ends a slice of the work.
   */
  readonly extend: (files: SourceFiles, base: TokenizerParts, extension: changes.Extension) => OutputFile[];
  /** Replaces the texts of special tokens in the files. A file that has none of these texts is returned unchanged. */
  readonly rename: (files: SourceFiles, names: ReadonlyMap<string, string>) => SourceFiles;
};

/** Gathers the bytes of a file. Callers append rows until the chunk is full, and then take it. */
export class Chunk {
  bytes: Uint8Array = new Uint8Array(2 * fullBytes);
  length = 0;

  get isFull(): boolean {
    return this.length >= fullBytes;
  }

  /** Ensures capacity for `countBytes` more bytes. */
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

  /** Appends ASCII text. For short texts, the loop is several times faster than an encoder. */
  ascii(text: string): void {
    this.reserve(text.length);
    const { bytes, length } = this;
    for (let i = 0; i < text.length; i++) bytes[length + i] = text.charCodeAt(i);
    this.length = length + text.length;
  }

  /** Appends a non-negative integer in decimal. */
  decimal(number: number): void {
    this.reserve(decimal.digitsMax);
    this.length = decimal.put(number, this.bytes, this.length);
  }

  /** Returns the gathered bytes, which are valid until the next append, and starts over. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.length);
    this.length = 0;
    return taken;
  }
}

/**
 * A chunk is full at this size. It is large enough to make the cost of a write negligible, and small enough for a
 * processor's cache.
 */
const fullBytes = scaled(64 * 1024, 64);
const encoder = new TextEncoder();
