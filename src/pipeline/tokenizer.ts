import { findInputs } from "../corpus/find-inputs.ts";
import type { InputFormat } from "../corpus/input.ts";
import { exitCode, UserError } from "../errors.ts";
import { type ResolvedPattern, resolvePattern } from "../pattern/pattern.ts";
import { takeLockNow } from "../store/output-lock.ts";
import { checkOutputFile, placeOfFile } from "../store/staged-file.ts";
import { loadTokenizerParts } from "../tokenizer/load/load-tokenizer.ts";
import { TextEncoding } from "../tokenizer/text-encoding.ts";
import { decodeIds, tokenBytesOf } from "../tokenizer/token-table.ts";
import {
  allAddedTokens,
  type SpecialTokenOption,
  specialTokenId,
  type TokenizerParts,
} from "../tokenizer/tokenizer-parts.ts";
import { encodeToFile, isIdFileName } from "./encode-to-file.ts";

export type TokenizerLoadOptions = {
  /** For files that do not hold their pattern: a name (`cl100k`) or a regular expression. */
  readonly pattern?: string;
  /** For files that do not hold their special tokens: text to id. */
  readonly specialTokens?: Readonly<Record<string, number>>;
};

export type EncodeOptions = {
  /** Special tokens in the text are encoded as the text that they are. */
  readonly specialTokensAsText?: boolean;
};

export type EncodeFileOptions = EncodeOptions & {
  /** Threads that encode, this one among them. Default: 1. */
  readonly workers?: number;
  /** Default: uint16 if every id of the tokenizer fits. */
  readonly dtype?: "uint16" | "uint32";
  /** What the files are read as. Default: what name and content say. */
  readonly inputFormat?: InputFormat;
  /** The field, or column, that holds the text of a record. Default: `text`. */
  readonly textField?: string;
  /** `text`: what is no text (an image, an archive) is read as text. Default: an error; in a directory it is left out. */
  readonly binary?: "text";
  /** A special token to put behind each file, or each record of it. */
  readonly appendToken?: string;
  /** `bytesTotal` is null where a stream makes it unknown. */
  readonly onProgress?: (bytesDone: number, bytesTotal: number | null) => void;
};

/**
 * A byte-level BPE tokenizer, exact to the program its files come from.
 *
 *     const tokenizer = await Tokenizer.load("tokenizer");
 *     const ids = tokenizer.encode("some text<|endoftext|>");
 *     new TextDecoder().decode(tokenizer.decode(ids));
 */
export class Tokenizer {
  private readonly encodings = new Map<boolean, TextEncoding>();

  constructor(readonly parts: TokenizerParts) {}

  /**
   * Loads a directory that `bpe train` wrote, or HF's `tokenizer.json`, GPT-2's `vocab.json` with `merges.txt`, tiktoken's
   * file of ranks, or Mistral's `tekken.json`. What cannot be reproduced exactly is refused with an error that names it.
   */
  static async load(path: string, options: TokenizerLoadOptions = {}): Promise<Tokenizer> {
    const pattern: ResolvedPattern | undefined =
      options.pattern === undefined ? undefined : resolvePattern(options.pattern);
    const specialTokens: SpecialTokenOption[] = Object.entries(options.specialTokens ?? {}).map(
      ([text, id]) => ({
        text,
        id,
      }),
    );
    return new Tokenizer(loadTokenizerParts(path, { pattern, specialTokens }));
  }

  /** One more than the largest id. */
  get idLimit(): number {
    return this.parts.tokens.idLimit;
  }

  /** Tokens, special ones too. */
  get size(): number {
    return this.parts.tokens.tokenCount;
  }

  /** Ids of the special tokens, by their text. */
  get specialTokens(): ReadonlyMap<string, number> {
    return new Map(allAddedTokens(this.parts).map(({ content, id }) => [content, id]));
  }

  /** What is in the files and is not applied, a sentence each. */
  get notes(): readonly string[] {
    return this.parts.notes;
  }

  /** The ids of a text, special tokens in it included. Bytes need not be valid UTF-8. */
  encode(text: string | Uint8Array, options: EncodeOptions = {}): Uint32Array {
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    const encoding = this.encodingFor(options.specialTokensAsText ?? false);
    try {
      for (let start = 0; start < bytes.length; start += pushBytesMax) {
        encoding.push(bytes, start, Math.min(bytes.length, start + pushBytesMax));
      }
      encoding.end();
    } catch (error) {
      // What it holds of this text must not begin the next one.
      this.encodings.clear();
      throw error;
    }
    const ids = new Uint32Array(encoding.out.flush());
    encoding.out.shrink();
    return ids;
  }

  /**
   * Encodes files, in order, into one `.npy` or `.bin` file of ids, as `bpe encode` does: memory stays bounded, the file
   * appears when it is whole, and one run at a time writes it. Returns how many ids it holds.
   */
  async encodeFile(
    files: string | readonly string[],
    output: string,
    options: EncodeFileOptions = {},
  ): Promise<number> {
    if (!isIdFileName(output)) throw new UserError(`"${output}" ends in neither .npy nor .bin`);
    checkOutputFile(output);
    const place = placeOfFile(output);
    const lock = place === null ? null : takeLockNow(place);
    try {
      const { idCount } = await encodeToFile({
        inputs: findInputs([files].flat(), {
          format: options.inputFormat,
          textField: options.textField,
          binary: options.binary,
        }),
        parts: this.parts,
        specialTokensAsText: options.specialTokensAsText ?? false,
        workerCount: options.workers ?? 1,
        output,
        type: options.dtype ?? (this.parts.isNarrow ? "uint16" : "uint32"),
        appendId:
          options.appendToken === undefined ? undefined : specialTokenId(this.parts, options.appendToken),
        report: ({ bytesDone, bytesTotal }) => options.onProgress?.(bytesDone, bytesTotal),
      });
      return idCount;
    } finally {
      lock?.release();
    }
  }

  /** The bytes of ids. An id without a token is an error that names its position. */
  decode(ids: Uint32Array | Uint16Array | readonly number[]): Uint8Array {
    // Floating-point numbers, because another typed array would wrap what does not fit it.
    const array = ids instanceof Uint32Array || ids instanceof Uint16Array ? ids : Float64Array.from(ids);
    const { bytes, unknownIndex } = decodeIds(this.parts.tokens, array);
    if (unknownIndex >= 0) throw unknownId(array[unknownIndex]!, unknownIndex, this.idLimit);
    return bytes;
  }

  /** The bytes of one token; none where the id has no token. */
  tokenBytes(id: number): Uint8Array {
    return tokenBytesOf(this.parts.tokens, id);
  }

  private encodingFor(specialTokensAsText: boolean): TextEncoding {
    let encoding = this.encodings.get(specialTokensAsText);
    if (encoding === undefined) {
      encoding = new TextEncoding(this.parts, { specialTokensAsText });
      this.encodings.set(specialTokensAsText, encoding);
    }
    return encoding;
  }
}

const pushBytesMax = 1 << 18;

export function unknownId(id: number, position: number, idLimit: number): UserError {
  return new UserError(`id ${id} at position ${position} stands for no token`, {
    hint: `the tokenizer's ids end at ${idLimit - 1}; were they made with another one?`,
    exitCode: exitCode.failed,
  });
}
