/**
 * A span of a text from one common boundary of both tokenizers to the next. `left` and `right` are the ranges [first,
 * end) of each tokenizer's tokens in the span.
 */
export type Span = { readonly startByte: number; readonly endByte: number } & Readonly<
  Record<"left" | "right", readonly [first: number, end: number]>
>;

/**
 * Returns the spans of a text. `left` and `right` are the lengths of each tokenizer's tokens in bytes; both have the
 * same sum.
 */
export function spansOf(left: readonly number[], right: readonly number[]): Span[] {
  const spans: Span[] = [];
  let [i, j, startByte] = [0, 0, 0];
  while (i < left.length) {
    const [firstLeft, firstRight] = [i, j];
    let [leftEnd, rightEnd] = [startByte + left[i++]!, startByte + right[j++]!];
    while (leftEnd !== rightEnd) {
      if (leftEnd < rightEnd) leftEnd += left[i++]!;
      else rightEnd += right[j++]!;
    }
    spans.push({ startByte, endByte: leftEnd, left: [firstLeft, i], right: [firstRight, j] });
    startByte = leftEnd;
  }
  return spans;
}

/** Whether each tokenizer has a single token for the span. */
export const isCutAlike = ({ left, right }: Span) => left[1] - left[0] === 1 && right[1] - right[0] === 1;
