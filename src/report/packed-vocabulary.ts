import { escapeText } from "../bytes/escape.ts";
import { grouped } from "../bytes/quantities.ts";
import { jsonForPage } from "../pages/page-file.ts";
import { spareThirdTier } from "../runtime/host.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import { barHtml } from "./charts.ts";
import { type Html, html, type Section, tokenHtml, trustedHtml } from "./html.ts";
import type { ReportTokenizer } from "./report-data.ts";

/**
 * PackedVocabulary: the tokens and merges of a tokenizer, small enough for a page; browser/page-script.js unpacks it.
 *
 * `leaves` has the tokens that no merge makes: id and bytes as Latin-1 text, the first `leafBytesMax` of them.
 *
 * `data` is `columns` one after the other, compressed by DEFLATE without a header, in base64. A column has a number for each
 * merge, `width` bytes wide: first the lowest byte of all numbers, then the next one of all, and so on, so that equal bytes
 * meet.
 *
 * A vocabulary that is not whole has a first column, `skipped`: how many merges before this one are left out.
 *
 *   COLUMN   MEANING
 *   step     from the id behind the one that the merge before makes (at first 0) to the id that this one makes, modulo `idLimit`
 *   left     id of the left half of the merge
 *   right    id of its right half
 *   created  occurrences when its merge was made; only with a ledger, and counts of the same corpus
 *   end      occurrences at the end; only with counts
 */
export type PackedVocabulary = {
  readonly name: string;
  /** Of those that are packed. */
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
  readonly idLimit: number;
  /** Tokens of the corpus before the first merge, if `created` says how many each merge takes away; null if not. */
  readonly tokensBefore: number | null;
  readonly columns: readonly { readonly name: string; readonly width: number }[];
  readonly data: string;
};

export type Deflate = (bytes: Uint8Array<ArrayBuffer>) => Uint8Array;

const leafBytesMax = 256;

/** Packs the merges of a tokenizer: all, or at most `mergesMax`. */
export function packVocabulary(
  tokenizer: ReportTokenizer,
  firstShown: number,
  deflate: Deflate,
  mergesMax = Infinity,
): PackedVocabulary {
  const { name, tokens, counts, ledger } = tokenizer;
  const all = tokenizer.merges;
  const kept = all.merged.length > mergesMax ? keptMerges(tokenizer, firstShown, mergesMax) : null;
  const { left, right, merged } = kept === null ? all : mergesAt(all, kept);
  const columns = [
    ...(kept === null ? [] : [{ name: "skipped", numbers: gapsOf(kept), limit: all.merged.length }]),
    { name: "step", numbers: stepsOf(merged, tokens.idLimit), limit: tokens.idLimit },
    { name: "left", numbers: left, limit: tokens.idLimit },
    { name: "right", numbers: right, limit: tokens.idLimit },
    // Counts of a text say nothing beside those of the training.
    ...(ledger === undefined || ledger.endCounts !== counts?.endCounts
      ? []
      : [countsOfMerges("created", ledger.createdCounts, merged)]),
    ...(counts === undefined ? [] : [countsOfMerges("end", counts.endCounts, merged)]),
  ].map((column) => ({ ...column, width: widthOf(column.limit) }));
  const raw = new Uint8Array(columns.reduce((sum, { width }) => sum + width * merged.length, 0));
  let pos = 0;
  for (const { numbers, width } of columns) pos = putColumn(numbers, width, raw, pos);
  return {
    name: escapeText(name),
    mergeCount: merged.length,
    leaves: leavesOf(tokenizer),
    countsOf: counts === undefined ? null : escapeText(counts.of),
    firstShown,
    idLimit: tokens.idLimit,
    tokensBefore: tokensBeforeOf(tokenizer, merged),
    columns: columns.map(({ name, width }) => ({ name, width })),
    data: Buffer.from(deflate(raw)).toString("base64"),
  };
}

/**
 * Which merges are packed, ascending: the tree of each token that they make is whole. First that of the token that is shown
 * first, then those of the tokens that occur most often, then the first merges.
 */
function keptMerges(
  { tokens, merges, counts }: ReportTokenizer,
  first: number,
  mergesMax: number,
): Int32Array {
  const { left, right, merged } = merges;
  const mergeOf = new Int32Array(tokens.idLimit).fill(-1);
  for (let k = merged.length - 1; k >= 0; k--) mergeOf[merged[k]!] = k;
  const isKept = new Uint8Array(merged.length);
  let keptCount = 0;
  const keep = (id: number) => {
    const tree = [id];
    for (let next = tree.pop(); next !== undefined; next = tree.pop()) {
      const k = mergeOf[next]!;
      if (k < 0 || isKept[k] === 1) continue;
      isKept[k] = 1;
      keptCount++;
      tree.push(left[k]!, right[k]!);
    }
  };
  keep(first);
  const endCounts = counts?.endCounts;
  const used = merged.filter((id) => (endCounts?.[id] ?? 0) > 0);
  // The order of equal ones is that of the merges.
  for (const id of used.sort((a, b) => endCounts![b]! - endCounts![a]! || mergeOf[a]! - mergeOf[b]!)) {
    if (keptCount >= mergesMax) break;
    keep(id);
  }
  for (let k = 0; k < merged.length && keptCount < mergesMax; k++) keep(merged[k]!);
  return Int32Array.from({ length: merged.length }, (_, k) => k).filter((k) => isKept[k] === 1);
}

const mergesAt = ({ left, right, merged }: ReportTokenizer["merges"], places: Int32Array) => ({
  left: places.map((k) => left[k]!),
  right: places.map((k) => right[k]!),
  merged: places.map((k) => merged[k]!),
});

/** Most ids follow one another: their steps are 0. */
function stepsOf(ids: Int32Array, idLimit: number): Int32Array {
  const steps = new Int32Array(ids.length);
  let expected = 0;
  for (let k = 0; k < ids.length; k++) {
    const id = ids[k]!;
    if (id !== expected) steps[k] = (id - expected + idLimit) % idLimit;
    expected = id + 1;
  }
  return steps;
}

/** Each merge takes away as many tokens as it makes: what is left adds up, if all merges are there, each with its own id. */
function tokensBeforeOf({ ledger, counts }: ReportTokenizer, merged: Int32Array): number | null {
  if (ledger?.tokensAfter === undefined || ledger.endCounts !== counts?.endCounts) return null;
  const { tokensAfter, createdCounts } = ledger;
  let left = tokensAfter[0]!;
  for (let k = 0; k < merged.length; k++) left -= createdCounts[merged[k]!]!;
  return left === tokensAfter.at(-1) ? tokensAfter[0]! : null;
}

const gapsOf = (places: Int32Array) => places.map((k, i) => k - (i === 0 ? 0 : places[i - 1]! + 1));

/** Bytes of the packed merges of all tokenizers of a page. */
const packedBytesMax = 500_000;

/** Packs the vocabularies of a page: whole ones, or of the largest ones as many merges as there is room for. */
export function* packVocabularies(
  tokenizers: readonly ReportTokenizer[],
  firstShown: readonly number[],
  deflate: Deflate,
): Generator<undefined, PackedVocabulary[]> {
  const pack = function* (mergesMax: number) {
    const packed: PackedVocabulary[] = [];
    for (const [i, tokenizer] of tokenizers.entries()) {
      yield;
      packed.push(packVocabulary(tokenizer, firstShown[i]!, deflate, mergesMax));
    }
    return packed;
  };
  let mergesMax = Math.max(...tokenizers.map(({ merges }) => merges.merged.length));
  let packed = yield* pack(mergesMax);
  for (;;) {
    const sizes = packed.map(({ data }) => data.length);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    if (tokenizers.length === 1 || total <= packedBytesMax) return packed;
    // Only those that are cut get smaller. They need some bytes more for each merge, so this goes a little too far.
    const cutSize = sizes.reduce((sum, size, i) => sum + (packed[i]!.mergeCount >= mergesMax ? size : 0), 0);
    const share = Math.max(0.25, (packedBytesMax - (total - cutSize)) / cutSize);
    mergesMax = Math.floor(mergesMax * Math.min(0.95, share));
    packed = yield* pack(mergesMax);
  }
}

/** The counts of what the merges make, and a number above all of them. */
function countsOfMerges(name: string, byId: Float64Array, ids: Int32Array) {
  const numbers = new Float64Array(ids.length);
  let limit = 1;
  for (let i = 0; i < ids.length; i++) {
    const count = byId[ids[i]!]!;
    numbers[i] = count;
    if (count >= limit) limit = count + 1;
  }
  return { name, numbers, limit };
}

/** How many bytes the whole numbers below the limit need. */
function widthOf(limit: number): number {
  let width = 1;
  while (limit > 256 ** width) width++;
  return width;
}

/** Writes the planes of a column; returns the position behind them. */
function putColumn(numbers: Int32Array | Float64Array, width: number, into: Uint8Array, pos: number): number {
  for (let plane = 0; plane < width; plane++) {
    // A store into bytes keeps the lowest one. Numbers may have more bits than shifts reach.
    const shift = 8 * (plane % 4);
    const unit = plane < 4 ? 1 : 2 ** 32;
    for (let i = 0; i < numbers.length; i++) into[pos++] = (numbers[i]! / unit) >>> shift;
  }
  return pos;
}

spareThirdTier(putColumn);

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

const partText =
  "Of large vocabularies this page has the tokens that occur most often in the texts, what they are made of, and the first merges; the page of bpe inspect --report has all.";

/** The merge tree of any token: a search box, and all tokens with their merges for the page's script. */
export function treeSection(vocabularies: readonly PackedVocabulary[]): Section {
  const isWhole = vocabularies.every(({ columns }) => columns[0]?.name !== "skipped");
  const packed = trustedHtml(jsonForPage(vocabularies));
  return {
    id: "tree",
    title: "Merge tree of a token",
    isWide: true,
    text: `Each token over the two that were merged into it. Search by text, or by id as #1234.${
      isWhole ? "" : ` ${partText}`
    }`,
    content: html`<form class="search" role="search">
${
  vocabularies.length > 1
    ? html`<label>tokenizer <select id="tree-tokenizer">${vocabularies.map(
        ({ name }, i) => html`<option value="${i}">${name}</option>`,
      )}</select></label>`
    : undefined
}
<label>token <input id="tree-query" type="search" autocomplete="off" spellcheck="false" placeholder="text or #id"></label>
</form>
<div id="tree-found" class="found" aria-live="polite"></div>
<div id="tree-view"></div>
<noscript><p>The search needs JavaScript.</p></noscript>
<script type="application/json" id="vocabularies">${packed}</script>`,
  };
}

/** Rows of merges that are in the page; its script shows as many at a time, of all. */
export const mergesShown = 20;

/** A column of the table of merges: its head, the name by which the page's script knows it, and its cells by rank. */
type MergeColumn = readonly [head: string, key: string, cell: (k: number) => Html | string];

/** The merges of the only tokenizer in their order: what they join and make, how often, and the tokens of the corpus that are left. */
export function mergesSection(tokenizer: ReportTokenizer): Section | null {
  const mergeCount = tokenizer.merges.merged.length;
  if (mergeCount === 0) return null;
  const columns = mergeColumns(tokenizer);
  const tokensBefore = tokensBeforeOf(tokenizer, tokenizer.merges.merged);
  const isCounted = columns.some(([, key]) => key === "created");
  const rows = Array.from({ length: Math.min(mergesShown, mergeCount) }, (_, k) => {
    const [rank, ...cells] = columns.map(([, , cell]) => cell(k));
    return html`<tr><th scope="row">${rank}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`;
  });
  return {
    id: "merges",
    title: "Merges in order",
    isWide: true,
    text: html`Training joined the most frequent pair of tokens ${grouped(mergeCount)} times. ␣ is a space.${
      isCounted ? " The count is how many pairs were joined." : undefined
    }${tokensBefore === null ? undefined : ` Before the first merge the corpus had ${grouped(tokensBefore)} tokens.`}`,
    content: html`<div class="scroll" tabindex="0" role="region" aria-label="Merges in order"><table class="merges">
<thead><tr>${columns.map(([head, key]) => html`<th scope="col" data-key="${key}">${head}</th>`)}</tr></thead>
<tbody>${rows}</tbody>
</table></div>
<p class="pages" hidden>${turns.map(([turn, name, sign]) => html`<button type="button" data-turn="${turn}" aria-label="${name}">${sign}</button> `)}
<label>rank <input type="number" min="1" max="${mergeCount}" value="1"></label> <span role="status"></span></p>`,
  };
}

/** What is known of the merges. Without counts of their training there is the length of tokens, and how often they occur in a text. */
function mergeColumns(tokenizer: ReportTokenizer): MergeColumn[] {
  const { left, right, merged } = tokenizer.merges;
  const { tokens, lengths, ledger, counts } = tokenizer;
  const token = (id: number) => tokenHtml(tokenBytesOf(tokens, id), lengths[id]!);
  const columns: MergeColumn[] = [
    ["rank", "rank", (k) => grouped(k + 1)],
    ["left + right", "pair", (k) => html`${token(left[k]!)} + ${token(right[k]!)}`],
    ["token", "token", (k) => token(merged[k]!)],
  ];
  if (ledger === undefined || ledger.endCounts !== counts?.endCounts) {
    columns.push(
      ["bytes", "length", (k) => grouped(lengths[merged[k]!]!)],
      ["id", "id", (k) => String(merged[k]!)],
    );
    if (counts !== undefined)
      columns.push([`in ${counts.of}`, "end", (k) => grouped(counts.endCounts[merged[k]!]!)]);
    return columns;
  }
  columns.push(["count", "created", (k) => grouped(ledger.createdCounts[merged[k]!]!)]);
  const tokensBefore = tokensBeforeOf(tokenizer, merged);
  if (tokensBefore === null) return columns;
  const after = ledger.tokensAfter!;
  return [
    ...columns,
    [
      "tokens left",
      "left",
      (k) => html`${grouped(after[k + 1]!)}${barHtml(after[k + 1]! / tokensBefore, 0)}`,
    ],
  ];
}

/** Where the pages of merges lead; too far is the first or the last. */
const turns = [
  [-1e9, "first merges", "|◀"],
  [-1, "merges before", "◀"],
  [1, "merges behind", "▶"],
  [1e9, "last merges", "▶|"],
] as const;
