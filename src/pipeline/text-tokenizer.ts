import {
  checkArgument,
  checkOptions,
  described,
  flagArgument,
  numberArgument,
  textOrBytesArgument,
} from "../bytes/schema.ts";
import { UserError, usageError } from "../errors.ts";
import { tokenizerOfJson } from "../formats/tokenizer-json.ts";
import { TextEncoding } from "../tokenizer/text-encoding.ts";
import { decodeIds, tokenBytesOf, unknownId } from "../tokenizer/token-table.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";

/** How a text is encoded. */
export type EncodeOptions = {
  /** Special tokens in the text are encoded as the text that they are. Default: false. */
  readonly specialTokensAsText?: boolean;
};

/** @internal */
export const encodeOptionKinds = { specialTokensAsText: flagArgument };

/**
 * A byte-level BPE tokenizer: text to ids and back. It needs no files.
 */
export class TextTokenizer {
  private readonly encodings = new Map<boolean, TextEncoding>();

  /** @internal */
  constructor(
    /** @internal */
    readonly parts: TokenizerParts,
  ) {
    if (typeof parts?.model === "object") return;
    throw usageError(
      "a Tokenizer cannot be made with new",
      "Tokenizer.from reads a tokenizer.json, Tokenizer.load reads files, and trainTokenizer trains one",
    );
  }

  /**
   * Makes a tokenizer of the content of a `tokenizer.json` (HF's format, which training writes, too): as text, as bytes, or
   * as what `JSON.parse` makes of it. What cannot be reproduced exactly is refused with a {@link UserError} that names it.
   */
  static from(json: string | Uint8Array | object): TextTokenizer {
    return new TextTokenizer(partsOfJson(json));
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
    checkArgument("encode: text", text, textOrBytesArgument);
    checkOptions("encode", options, encodeOptionKinds);
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    const encoding = this.encodingFor(options.specialTokensAsText ?? this.parts.specialTokensAsText ?? false);
    try {
      encoding.pushText(bytes, 0, bytes.length);
    } catch (error) {
      // What it holds of this text must not begin the next one.
      this.encodings.clear();
      throw error;
    }
    const ids = new Uint32Array(encoding.out.flush());
    encoding.out.shrink();
    return ids;
  }

  /** The bytes of ids; `new TextDecoder().decode(…)` makes text of them. An id without a token is an error that names its position. */
  decode(ids: Uint32Array | Uint16Array | readonly number[]): Uint8Array {
    const array = numbersOf(ids);
    const { bytes, unknownIndex } = decodeIds(this.parts.tokens, array);
    if (unknownIndex >= 0) throw unknownId(array[unknownIndex]!, unknownIndex, this.idLimit);
    return bytes;
  }

  /** The bytes of one token; none where the id has no token. */
  tokenBytes(id: number): Uint8Array {
    checkArgument("tokenBytes: id", id, numberArgument);
    return tokenBytesOf(this.parts.tokens, id);
  }

  private encodingFor(specialTokensAsText: boolean): TextEncoding {
    let encoding = this.encodings.get(specialTokensAsText);
    if (encoding === undefined) {
      encoding = new TextEncoding({ ...this.parts, specialTokensAsText });
      this.encodings.set(specialTokensAsText, encoding);
    }
    return encoding;
  }
}

/** @internal The parts of a tokenizer.json that is in memory. */
export function partsOfJson(json: unknown): TokenizerParts {
  const bytes =
    json instanceof Uint8Array
      ? json
      : new TextEncoder().encode(typeof json === "string" ? json : asJson(json));
  if (bytes.length > 0) return tokenizerOfJson(bytes, "tokenizer.json");
  throw new UserError("the tokenizer.json is empty");
}

function asJson(json: unknown): string {
  if (typeof json === "object" && json !== null && "model" in json) return JSON.stringify(json);
  throw usageError(
    `from: json is ${described(json)}: it must be the content of a tokenizer.json`,
    "its text, its bytes, or what JSON.parse makes of it; Tokenizer.load takes a path",
  );
}

/** Ids as an array that holds each number as it is: another typed array would wrap what does not fit it. */
function numbersOf(ids: unknown): Uint32Array | Uint16Array | Float64Array {
  if (ids instanceof Uint32Array || ids instanceof Uint16Array) return ids;
  if (Array.isArray(ids) && ids.every((id) => typeof id === "number")) return Float64Array.from(ids);
  throw usageError(
    `decode: ids is ${described(ids)}: it must be a Uint32Array, a Uint16Array or an array of numbers`,
    ids instanceof BigInt64Array ? "convert them with Array.from(ids, Number)" : undefined,
  );
}
