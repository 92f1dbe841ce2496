import { argument, schema, utf8 } from "#bytes";
import { usageError } from "#runtime";
import type { TextSegment } from "#text";
import { arrayArgument, flagArgument, readText } from "./check-arguments.ts";
import type { EncodedWithOffsets } from "./text-offsets.ts";

/** One part of a text whose parts come from several sources. */
export type Segment = {
  readonly text: string | Uint8Array;
  /** Whether special tokens within the segment become their ids. Otherwise they are text. */
  readonly trusted: boolean;
};

export type SegmentsOptions = {
  /** Encode each segment separately, and return all ids end to end. Default: false. */
  readonly isolate?: boolean;
};

/** @internal */
export const segmentsOptionKinds = { isolate: flagArgument };

/** @internal Checks segments, and returns their texts in UTF-8. */
export function readSegments(call: string, segments: readonly Segment[]): TextSegment[] {
  argument.check(`${call}: segments`, segments, arrayArgument);
  return Array.from(segments, (segment, i) => {
    argument.check(`${call}: segments[${i}]`, segment, argument.plainObject);
    const text = readText(`${call}: segments[${i}].text`, segment.text);
    const { trusted } = segment;
    if (typeof trusted !== "boolean")
      throw usageError(
        `${call}: segments[${i}].trusted ${schema.describeMismatch(trusted, "true or false")}`,
      );
    return { bytes: utf8.encodeRange(text, 0, text.length), isTrusted: trusted };
  });
}

/** @internal Joins the bytes of segments. */
export function joinSegments(segments: readonly TextSegment[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(segments.reduce((sum, { bytes }) => sum + bytes.length, 0));
  let end = 0;
  for (const { bytes } of segments) {
    joined.set(bytes, end);
    end += bytes.length;
  }
  return joined;
}

/**
 * @internal Joins the tokens of texts that were encoded separately. The positions of the tokens become positions in the
 * texts put end to end; `lengths` are the lengths of the texts.
 */
export function joinEncoded(
  parts: readonly EncodedWithOffsets[],
  lengths: readonly number[],
): EncodedWithOffsets {
  let start = 0;
  const moved = parts.map(({ ids, starts, ends }, i) => {
    const by = start;
    start += lengths[i]!;
    const move = (positions: Uint32Array<ArrayBuffer>) => positions.map((position) => position + by);
    return { ids, starts: move(starts), ends: move(ends) };
  });
  const joined = (name: keyof EncodedWithOffsets) =>
    Uint32Array.from(moved.flatMap((part) => [...part[name]]));
  return { ids: joined("ids"), starts: joined("starts"), ends: joined("ends") };
}
