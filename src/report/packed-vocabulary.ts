import { escapeText } from "../bytes/escape.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import type { ReportTokenizer } from "./report-data.ts";

/**
 * PackedVocabulary: the tokens and merges of a tokenizer, small enough for a page; browser/page-script.js unpacks it.
 *
 * `leaves` has the tokens that no merge makes: id and bytes as Latin-1 text, the first `leafBytesMax` of them. `data` is
 * `columns` one after the other, the widest numbers first, compressed by DEFLATE without a header, in base64. A column has a
 * little-endian number for each merge, unsigned of 16 or 32 bits, or floating-point of 64.
 *
 *   COLUMN   MEANING
 *   left     id of the left half of the merge
 *   right    id of its right half
 *   merged   id of what it makes
 *   birth    occurrences at its birth; only with a ledger
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
  readonly columns: readonly { readonly name: string; readonly bits: 16 | 32 | 64 }[];
  readonly data: string;
};

export type Deflate = (bytes: Uint8Array<ArrayBuffer>) => Uint8Array;

const leafBytesMax = 256;

/** Packs the tokenizer. All that is done for each merge is done by functions of the runtime, because that is fast at once. */
export function packVocabulary(
  tokenizer: ReportTokenizer,
  firstShown: number,
  deflate: Deflate,
): PackedVocabulary {
  const { name, tokens, merges, counts, ledger } = tokenizer;
  const { left, right, merged } = merges;
  const columns = [
    packColumn("left", left, tokens.idLimit),
    packColumn("right", right, tokens.idLimit),
    packColumn("merged", merged, tokens.idLimit),
    ...(ledger === undefined ? [] : [countColumn("birth", ledger.birthCounts, merged)]),
    ...(counts === undefined ? [] : [countColumn("end", counts.endCounts, merged)]),
  ].sort((a, b) => b.bits - a.bits);
  const raw = Buffer.concat(columns.map(({ bytes }) => bytes));
  return {
    name: escapeText(name),
    mergeCount: merged.length,
    leaves: leavesOf(tokenizer),
    countsOf: counts === undefined ? null : escapeText(counts.of),
    firstShown,
    columns: columns.map(({ name, bits }) => ({ name, bits })),
    data: Buffer.from(deflate(raw)).toString("base64"),
  };
}

type Column = PackedVocabulary["columns"][number] & { readonly bytes: Uint8Array };

/** A column of whole numbers below the limit. */
function packColumn(name: string, numbers: Int32Array | Float64Array, limit: number): Column {
  const bits = limit <= 2 ** 16 ? 16 : limit <= 2 ** 32 ? 32 : 64;
  const Numbers = bits === 16 ? Uint16Array : bits === 32 ? Uint32Array : Float64Array;
  return { name, bits, bytes: new Uint8Array(new Numbers(numbers).buffer) };
}

function countColumn(name: string, byId: Float64Array, ids: Int32Array): Column {
  const counts = new Float64Array(ids.length);
  let limit = 0;
  for (let i = 0; i < ids.length; i++) {
    const count = byId[ids[i]!]!;
    counts[i] = count;
    if (count >= limit) limit = count + 1;
  }
  return packColumn(name, counts, limit);
}

/** The tokens that no merge makes, in the order of their ids. */
function leavesOf({ tokens, lengths, merges, counts }: ReportTokenizer): PackedVocabulary["leaves"] {
  const isMade = new Uint8Array(tokens.idLimit);
  for (let k = 0; k < merges.merged.length; k++) isMade[merges.merged[k]!] = 1;
  const leaves: [number, string, number, number | null][] = [];
  for (let id = isMade.indexOf(0); id >= 0; id = isMade.indexOf(0, id + 1)) {
    if (lengths[id] === 0) continue;
    const bytes = tokenBytesOf(tokens, id).subarray(0, leafBytesMax);
    leaves.push([id, Buffer.from(bytes).toString("latin1"), lengths[id]!, counts?.endCounts[id] ?? null]);
  }
  return leaves;
}

/** JSON that may stand in a `<script>`: nothing in it ends the element, or changes how its source reads. */
export const jsonForPage = (value: unknown) =>
  JSON.stringify(value).replace(
    /[<>&\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => {
      return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
    },
  );
