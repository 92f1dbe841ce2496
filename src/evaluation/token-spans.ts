/** Consecutive tokens of two tokenizers with the same bytes; no token boundary within them belongs to both. */
export type Span = { readonly startByte: number; readonly endByte: number } & Readonly<
  Record<"left" | "right", readonly [first: number, end: number]>
>;

/** Returns the spans of a text, from the token lengths of its two cuts, which have the same bytes. */
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

/** Whether the span is a single token for both tokenizers. */
export const isCutAlike = ({ left, right }: Span) => left[1] - left[0] === 1 && right[1] - right[0] === 1;
