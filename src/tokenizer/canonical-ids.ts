import { scaled } from "#runtime";
import { TextEncoding } from "./text-encoding.ts";
import { TokenDecoder } from "./token-decoder.ts";
import { decodableEnd, type TokenTable, unknownId } from "./token-table.ts";
import type { TokenizerParts } from "./tokenizer-parts.ts";

/*
 * Ids are canonical if encoding their text gives them again: encode(decode(ids)) = ids. A model can sample others, such as
 * "hel" "lo" where the vocabulary has "hello".
 */

type Ids = ArrayLike<number>;

/** Ids [start, end) of the given ones correspond to ids [canonicalStart, canonicalEnd) of the canonical ones. */
export type RecodedSpan = {
  readonly start: number;
  readonly end: number;
  readonly canonicalStart: number;
  readonly canonicalEnd: number;
};

/** @internal The index of the first id that differs, or where the shorter list ends; -1 if both are equal. */
export function firstDifference(given: Ids, canonical: Ids): number {
  const shorter = Math.min(given.length, canonical.length);
  let i = 0;
  while (i < shorter && given[i] === canonical[i]) i++;
  return i === shorter && given.length === canonical.length ? -1 : i;
}

/**
 * @internal Compares two encodings of one text: the shortest spans of both with the same bytes that differ. If the
 * texts differ, because decoded ids are normalized again, there is one span, between the common start and the
 * common end.
 */
export function recodedSpans(
  tokens: TokenTable,
  given: Ids,
  canonical: Ids,
  isSameText: boolean,
): RecodedSpan[] {
  if (!isSameText) return differingMiddle(given, canonical);
  const spans: RecodedSpan[] = [];
  let [i, j] = [0, 0];
  while (i < given.length && j < canonical.length) {
    if (given[i] === canonical[j]) {
      i++;
      j++;
      continue;
    }
    const [end, canonicalEnd] = spanEnds(tokens, given, canonical, i, j);
    spans.push({ start: i, end, canonicalStart: j, canonicalEnd });
    [i, j] = [end, canonicalEnd];
  }
  return spans;
}

/**
 * Returns where the shortest spans end that begin at ids i and j of two lists and have the same bytes; the ends of the lists
 * if there are none.
 */
function spanEnds(
  { starts }: TokenTable,
  given: Ids,
  canonical: Ids,
  i: number,
  j: number,
): [number, number] {
  const sizeOf = (id: number) => starts[id + 1]! - starts[id]!;
  let lead = 0;
  do {
    const isGivenNext = lead <= 0;
    if (isGivenNext ? i === given.length : j === canonical.length) return [given.length, canonical.length];
    lead += isGivenNext ? sizeOf(given[i++]!) : -sizeOf(canonical[j++]!);
  } while (lead !== 0);
  return [i, j];
}

function differingMiddle(given: Ids, canonical: Ids): RecodedSpan[] {
  const start = firstDifference(given, canonical);
  if (start < 0) return [];
  let [end, canonicalEnd] = [given.length, canonical.length];
  while (end > start && canonicalEnd > start && given[end - 1] === canonical[canonicalEnd - 1]) {
    end--;
    canonicalEnd--;
  }
  return [{ start, end, canonicalStart: start, canonicalEnd }];
}

/** @internal The first place where the ids of a text are not canonical. */
export type NoncanonicalPlace = {
  /** Index among the ids of the text. */
  readonly index: number;
  /** The shortest runs of both from there with the same bytes, or what follows within `excerptIds` ids. */
  readonly given: readonly number[];
  readonly canonical: readonly number[];
};

/** Number of ids from the first difference on that are searched for the end of the span. */
const excerptIds = 256;
/** Bytes decoded at a time. A token may have any length, and every id may refer to it. */
const sliceBytesMax = scaled(1 << 20, 16);

/** @internal Compares ids with the canonical ones, text by text, as they are read; memory does not grow with a text. */
export class CanonicalCheck {
  private readonly encoding: TextEncoding;
  private readonly decoder: TokenDecoder;
  /** Given ids that are not compared yet, then those from the first difference on. */
  private given: number[] = [];
  /** The canonical ids from the first difference on; undefined before one is found. */
  private canonical: number[] | undefined;
  private equalCount = 0;
  private takenCount = 0;

  constructor(private readonly parts: TokenizerParts) {
    this.encoding = new TextEncoding(parts);
    this.decoder = new TokenDecoder(parts.tokens);
  }

  /**
   * Takes the next ids of the text. For an id without a token, throws an error with its position among all
   * ids taken.
   */
  take(ids: Uint16Array | Uint32Array): void {
    const { tokens } = this.parts;
    for (let start = 0; start < ids.length; ) {
      const slice = ids.subarray(start, decodableEnd(tokens, ids, start, sliceBytesMax));
      const { bytes, unknownIndex } = this.decoder.decode(slice);
      if (unknownIndex >= 0)
        throw unknownId(slice[unknownIndex]!, this.takenCount + start + unknownIndex, tokens.idLimit);
      start += slice.length;
      if (this.hasExcerpt()) continue;
      for (const id of slice) this.given.push(id);
      this.encoding.push(bytes, 0, bytes.length);
      this.compare();
    }
    this.takenCount += ids.length;
  }

  /** Ends the text. Returns the first place where it is not canonical, or null. The next text may begin. */
  end(): NoncanonicalPlace | null {
    this.encoding.end();
    this.compare();
    const { given, canonical = [], equalCount: index } = this;
    this.given = [];
    this.canonical = undefined;
    this.equalCount = 0;
    if (given.length === 0 && canonical.length === 0) return null;
    const [end, canonicalEnd] = spanEnds(this.parts.tokens, given, canonical, 0, 0);
    return { index, given: given.slice(0, end), canonical: canonical.slice(0, canonicalEnd) };
  }

  private hasExcerpt(): boolean {
    return this.canonical !== undefined && Math.min(this.canonical.length, this.given.length) >= excerptIds;
  }

  /** Compares the ids available from the encoder with as many of the given ones. */
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
