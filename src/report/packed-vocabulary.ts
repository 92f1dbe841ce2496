import { escapeText } from "../bytes/escape.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import type { ReportTokenizer } from "./report-data.ts";

/**
 * PackedVocabulary: the tokens and merges of a tokenizer, small enough for a page; browser/page-script.js unpacks it.
 *
 * `leaves` has the tokens that no merge makes: id and bytes as Latin-1 text, the first `leafBytesMax` of them. `data` is
 * `columns` one after the other, compressed by DEFLATE without a header, in base64. A column has a number for each merge,
 * `width` bytes wide: first the lowest byte of all numbers, then the next one of all, and so on, so that equal bytes meet.
 * A `delta` column has what is added to the number before it, modulo 256^width.
 *
 *   COLUMN   MEANING
 *   left     id of the left half of the merge
 *   right    id of its right half
 *   merged   id of what it makes (delta)
 *   birth    occurrences at its birth (delta); only with a ledger
 *   end      occurrences at the end; only with counts
 */
export type PackedVocabulary = {
  readonly name: string;
  readonly mergeCount: number;
  readonly leaves: readonly (readonly [
    id: number,
    latin1: string,
    lengthBytes: number,
    end: number | null,
  ])[];
  /** What the counts were counted in; null without counts. */
  readonly countsOf: string | null;
  /** The token that is shown first. */
  readonly firstShown: number;
  readonly columns: readonly { readonly name: string; readonly width: number; readonly isDelta: boolean }[];
  readonly data: string;
};

export type Deflate = (bytes: Uint8Array<ArrayBuffer>) => Uint8Array;

const leafBytesMax = 256;

export function packVocabulary(
  tokenizer: ReportTokenizer,
  firstShown: number,
  deflate: Deflate,
): PackedVocabulary {
  const { name, merges, counts, ledger } = tokenizer;
  const { left, right, merged } = merges;
  const byMerge = (byId: Float64Array) => Float64Array.from(merged, (id) => byId[id]!);
  const columns = [
    { name: "left", numbers: left, isDelta: false },
    { name: "right", numbers: right, isDelta: false },
    { name: "merged", numbers: merged, isDelta: true },
    ...(ledger === undefined ? [] : [{ name: "birth", numbers: byMerge(ledger.birthCounts), isDelta: true }]),
    ...(counts === undefined ? [] : [{ name: "end", numbers: byMerge(counts.endCounts), isDelta: false }]),
  ].map((column) => ({ ...column, width: widthOf(column.numbers) }));
  const mergeCount = merged.length;
  const raw = new Uint8Array(columns.reduce((sum, { width }) => sum + width * mergeCount, 0));
  let pos = 0;
  for (const { numbers, width, isDelta } of columns) {
    putColumn(numbers, width, isDelta, raw.subarray(pos, pos + width * mergeCount));
    pos += width * mergeCount;
  }
  return {
    name: escapeText(name),
    mergeCount,
    leaves: leavesOf(tokenizer),
    countsOf: counts === undefined ? null : escapeText(counts.of),
    firstShown,
    columns: columns.map(({ name, width, isDelta }) => ({ name, width, isDelta })),
    data: Buffer.from(deflate(raw)).toString("base64"),
  };
}

/** The tokens that no merge makes, in the order of their ids. */
function leavesOf({ tokens, lengths, merges, counts }: ReportTokenizer): PackedVocabulary["leaves"] {
  const isMade = new Uint8Array(tokens.idLimit);
  for (let k = 0; k < merges.merged.length; k++) isMade[merges.merged[k]!] = 1;
  const leaves: [number, string, number, number | null][] = [];
  for (let id = 0; id < tokens.idLimit; id++) {
    if (lengths[id] === 0 || isMade[id] === 1) continue;
    const bytes = tokenBytesOf(tokens, id).subarray(0, leafBytesMax);
    leaves.push([id, Buffer.from(bytes).toString("latin1"), lengths[id]!, counts?.endCounts[id] ?? null]);
  }
  return leaves;
}

/** How many bytes the largest number needs. */
function widthOf(numbers: Int32Array | Float64Array): number {
  let largest = 0;
  for (let i = 0; i < numbers.length; i++) if (numbers[i]! > largest) largest = numbers[i]!;
  let width = 1;
  while (largest >= 256 ** width) width++;
  return width;
}

function putColumn(
  numbers: Int32Array | Float64Array,
  width: number,
  isDelta: boolean,
  into: Uint8Array,
): void {
  const count = numbers.length;
  const modulus = 256 ** width;
  let former = 0;
  for (let i = 0; i < count; i++) {
    const number = numbers[i]!;
    let rest = isDelta ? (number - former + modulus) % modulus : number;
    former = number;
    for (let plane = 0; plane < width; plane++) {
      const higher = Math.floor(rest / 256);
      into[plane * count + i] = rest - 256 * higher;
      rest = higher;
    }
  }
}

/** JSON that may stand in a `<script>`: nothing in it ends the element, or changes how its source reads. */
export const jsonForPage = (value: unknown) =>
  JSON.stringify(value).replace(/[<>&\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
