import { decoding, type TokenizerParts } from "#tokenizer";
import { copyGivenIds, positionOf } from "./copy-given-ids.ts";

/**
 * Decodes ids as they arrive, into text that can be shown at once. Without options, the joined results of `push` and
 * `end` equal `tokenizer.decode(ids)` of all ids. `Tokenizer.stream` makes a `StreamDecoder`.
 */
export class StreamDecoder {
  // Private fields, so that `console.log` of Node does not print them.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #tokens: decoding.TokenDecoder;
  readonly #parts: TokenizerParts;
  readonly #isKept: ((id: number) => boolean) | undefined;
  #idCount = 0;
  #isInside = false;

  /** @internal @param isKept whether an id is decoded; if left out, all ids are */
  constructor(tokens: decoding.TokenDecoder, parts: TokenizerParts, isKept?: (id: number) => boolean) {
    this.#tokens = tokens;
    this.#parts = parts;
    this.#isKept = isKept;
  }

  /**
   * Takes the next id, or several, and returns the text that is final now: whole characters only, possibly none. If an
   * id has no token, throws an error with its position in the stream, and takes none of these ids; but with
   * `skipUnknownIds`, leaves out that id.
   */
  push(ids: number | Uint32Array | Uint16Array | readonly number[]): string {
    const array = typeof ids === "number" ? Float64Array.of(ids) : copyGivenIds("push", ids);
    const kept = this.#isKept === undefined ? array : array.filter(this.#isKept);
    const { bytes, unknownIndex } = this.#tokens.decode(kept);
    if (unknownIndex >= 0) {
      const id = kept[unknownIndex]!;
      throw decoding.unknownId(id, this.#idCount + positionOf(array, id), this.#parts.tokens.idLimit);
    }
    this.#idCount += array.length;
    const start = this.#isInside ? 0 : decoding.leadingBytes(this.#parts, kept[0], bytes);
    this.#isInside ||= kept.length > 0;
    return this.#decoder.decode(bytes.subarray(start), { stream: true });
  }

  /**
   * Ends the stream, and returns the rest of its text: a replacement character if the text ends within a character,
   * else nothing. Another stream may follow.
   */
  end(): string {
    this.#idCount = 0;
    this.#isInside = false;
    return this.#decoder.decode();
  }
}
