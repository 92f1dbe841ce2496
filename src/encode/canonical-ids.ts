import { scaled } from "#runtime";
import { decoding, TextEncoding, type TokenizerParts, tokenTables } from "#tokenizer";

// Ids are canonical if encode(decode(ids)) = ids.

/** @internal The first place where the ids of a text are not canonical. */
export type NoncanonicalPlace = {
  /** The index of the first id that differs. */
  readonly index: number;
  /**
   * The given and the canonical ids from the first difference on, up to the first position at which both lists have
   * spelled equally many bytes. If there is none, all ids that were kept: at most `excerptIds` canonical ones, and at
   * least as many given ones unless the text ends earlier.
   */
  readonly given: readonly number[];
  readonly canonical: readonly number[];
};

/**
 * How many canonical ids from the first difference on are kept, to find where the ids of a place (`given` and
 * `canonical`) end.
 */
const excerptIds = 256;
/**
 * Ids are decoded in slices that give at most this many bytes of text; a longer token is decoded alone. The limit is
 * not a number of ids, because a file may repeat the id of a very long token.
 */
const sliceBytesMax = scaled(1 << 20, 16);

/** @internal Compares ids with the canonical ones as they are read, in memory that depends on the longest pretoken. */
export class CanonicalCheck {
  private readonly encoding: TextEncoding;
  private readonly decoder: decoding.TokenDecoder;
  /**
   * The given ids that have not been compared yet. After a difference was found: the given ids from the difference on.
   */
  private given: number[] = [];
  /** The canonical ids from the first difference on, at most `excerptIds`; undefined before a difference is found. */
  private canonical: number[] | undefined;
  private equalCount = 0;
  private takenCount = 0;
  /** Whether some ids of the text have been taken. */
  private isInside = false;

  constructor(private readonly parts: TokenizerParts) {
    this.encoding = new TextEncoding(parts);
    this.decoder = new decoding.TokenDecoder(parts.tokens);
  }

  /**
   * Takes the next ids of the text. Throws an error for an id without a token; the error has the position of the id
   * among all ids taken.
   */
  take(ids: Uint16Array | Uint32Array): void {
    const { tokens } = this.parts;
    for (let start = 0; start < ids.length; ) {
      const slice = ids.subarray(start, tokenTables.decodableEnd(tokens, ids, start, sliceBytesMax));
      const { bytes, unknownIndex } = this.decoder.decode(slice);
      if (unknownIndex >= 0)
        throw decoding.unknownId(
          slice[unknownIndex]!,
          this.takenCount + start + unknownIndex,
          tokens.idLimit,
        );
      start += slice.length;
      if (this.hasExcerpt()) continue;
      for (const id of slice) this.given.push(id);
      this.encoding.push(
        bytes,
        this.isInside ? 0 : decoding.leadingBytes(this.parts, slice[0], bytes),
        bytes.length,
      );
      this.isInside = true;
      this.compare();
    }
    this.takenCount += ids.length;
  }

  /** Ends the text. Returns the first place where its ids are not canonical, or null. */
  end(): NoncanonicalPlace | null {
    this.encoding.end();
    this.isInside = false;
    this.compare();
    const { given, canonical = [], equalCount: index } = this;
    this.given = [];
    this.canonical = undefined;
    this.equalCount = 0;
    if (given.length === 0 && canonical.length === 0) return null;
    const { end, canonicalEnd } = this.decoder.recodedSpans(given, canonical, true)[0]!;
    return { index, given: given.slice(0, end), canonical: canonical.slice(0, canonicalEnd) };
  }

  private hasExcerpt(): boolean {
    return this.canonical !== undefined && Math.min(this.canonical.length, this.given.length) >= excerptIds;
  }

  /** Compares the given ids with the canonical ids that the encoder has output since the last call. */
  private compare(): void {
    const ids = this.encoding.out.flush();
    let equal = 0;
    if (this.canonical === undefined) {
      while (equal < ids.length && ids[equal] === this.given[equal]) equal++;
      this.given = this.given.slice(equal);
      this.equalCount += equal;
      if (equal === ids.length) return;
      this.canonical = [];
    }
    for (let i = equal; i < ids.length && this.canonical.length < excerptIds; i++)
      this.canonical.push(ids[i]!);
  }
}
