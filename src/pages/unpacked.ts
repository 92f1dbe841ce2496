import type { PackedVocabulary } from "./page-data.ts";

/** A token of a vocabulary. Only the first `keptBytes` bytes of a longer one are stored. */
export type Token = {
  readonly id: number;
  /** The bytes as Latin-1. */
  readonly text: string;
  readonly length: number;
  /** The left half, if a merge creates the token. */
  readonly left?: Token;
  /** The right half, if a merge creates the token. */
  readonly right?: Token;
  /** If a merge creates the token, the merge's position among all merges, from 0. */
  readonly rank?: number;
  /** The token's occurrences in the training corpus when it was created. */
  readonly created: number | null;
  /** The token's occurrences in the training corpus at the end of training. */
  readonly end: number | null;
  /** The token's occurrences in a text. */
  readonly inText: number | null;
  /** The number of tokens in the corpus after the token's merge. */
  readonly tokensLeft: number | null;
};

export type Vocabulary = {
  /** Tokens that no merge creates, then the others in merge order. */
  readonly tokens: readonly Token[];
  readonly byId: ReadonlyMap<number, Token>;
  /** The results of the merges, in order. Two merges may have the same result. */
  readonly merged: readonly Token[];
};

/** How many bytes of a token are stored: enough to search for it and to show it. */
const keptBytes = 256;

/** Returns the stored bytes of a token. */
export const bytesOf = ({ text }: Token) => Uint8Array.from(text, (character) => character.charCodeAt(0));

/** Returns the tokens as a table by id, with the stored bytes of each. */
export function tableOf({ tokens }: Vocabulary) {
  // Not `Math.max(...ids)`: browsers refuse calls with some 130,000 arguments.
  const idLimit = tokens.reduce((limit, { id }) => Math.max(limit, id + 1), 0);
  const starts = new Uint32Array(idLimit + 1);
  for (const { id, text } of tokens) starts[id + 1] = text.length;
  for (let id = 0; id < idLimit; id++) starts[id + 1]! += starts[id]!;
  const bytes = new Uint8Array(starts[idLimit]!);
  for (const token of tokens) bytes.set(bytesOf(token), starts[token.id]);
  return { idLimit, tokenCount: tokens.length, bytes, starts };
}

/** The merges of a vocabulary in order, with counts per merge. */
type Merges = {
  readonly left: ArrayLike<number>;
  readonly right: ArrayLike<number>;
  readonly merged: ArrayLike<number>;
  readonly created?: ArrayLike<number> | undefined;
  readonly end?: ArrayLike<number> | undefined;
  readonly text?: ArrayLike<number> | undefined;
};

/**
 * Builds the tokens of a vocabulary from merges of ids. `tokensBefore` is the number of tokens in the corpus before the
 * first merge.
 */
export function vocabularyOf(
  { left, right, merged, created, end, text }: Merges,
  leaves: PackedVocabulary["leaves"],
  tokensBefore: number | null,
): Vocabulary {
  const byId = new Map<number, Token>();
  for (const [id, text, length, created, end, inText] of leaves)
    byId.set(id, { id, text, length, created, end, inText, tokensLeft: null });
  const leftAfter = tokensBefore === null ? null : runningTotals(tokensBefore, created!, merged.length);
  const made: Token[] = [];
  const make = (k: number): boolean => {
    const [a, b] = [byId.get(left[k]!), byId.get(right[k]!)];
    if (a === undefined || b === undefined) return false;
    made[k] = {
      id: merged[k]!,
      text: a.length >= keptBytes ? a.text : (a.text + b.text).slice(0, keptBytes),
      length: a.length + b.length,
      left: a,
      right: b,
      rank: k,
      created: created?.[k] ?? null,
      end: end?.[k] ?? null,
      inText: text?.[k] ?? null,
      tokensLeft: leftAfter?.[k] ?? null,
    };
    // If several pairs make a token, `byId` keeps the result of the first pair whose halves were known.
    if (!byId.has(merged[k]!)) byId.set(merged[k]!, made[k]);
    return true;
  };
  // Some files, such as that of Llama 3, list every pair that makes a token, so a half may be the result of a later
  // merge.
  let pending = Array.from({ length: merged.length }, (_, k) => k);
  for (let count = -1; pending.length > 0 && pending.length !== count; ) {
    count = pending.length;
    pending = pending.filter((k) => !make(k));
  }
  // Sorted, because `byId` has tokens that waited for a later merge at its end.
  const tokens = [...byId.values()].sort((a, b) => (a.rank ?? -1) - (b.rank ?? -1));
  return { tokens, byId, merged: made };
}

/** Returns the number of tokens in the corpus after each merge. */
function runningTotals(tokensBefore: number, created: ArrayLike<number>, count: number): Float64Array {
  let left = tokensBefore;
  return Float64Array.from({ length: count }, (_, k) => (left -= created[k]!));
}

/** Unpacks a vocabulary (packed-vocabulary.ts). */
export async function unpack(vocabulary: PackedVocabulary): Promise<Vocabulary> {
  const { columns, data, mergeCount, idLimit, leaves, tokensBefore } = vocabulary;
  const packed = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const raw = new Uint8Array(await new Response(stream).arrayBuffer());
  const byName: Record<string, ArrayLike<number>> = {};
  let pos = 0;
  for (const { name, width } of columns) {
    const { buffer } = raw.slice(pos, (pos += width * mergeCount));
    byName[name] = new kinds[width as keyof typeof kinds](buffer);
  }
  const { step, left, right, created, text } = byName;
  let id = -1;
  const merged = Array.from(step!, (step) => (id = (id + 1 + step) % idLimit));
  const merges = { left: left!, right: right!, merged };
  const end = byName.end ?? (created && endOf({ ...merges, created }, idLimit));
  return vocabularyOf({ ...merges, created, end, text }, leaves, tokensBefore);
}

/** Computes occurrences at the end: each merge removes its count from both of its halves. */
function endOf(
  { left, right, merged, created }: Merges & { readonly created: ArrayLike<number> },
  idLimit: number,
): Float64Array {
  const taken = new Float64Array(idLimit);
  for (let k = 0; k < merged.length; k++) {
    taken[left[k]!]! += created[k]!;
    taken[right[k]!]! += created[k]!;
  }
  return Float64Array.from(merged, (id, k) => created[k]! - taken[id]!);
}

/** The array type of each column width. */
const kinds = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array } as const;

const foundMax = 40;

/**
 * Returns the token with the id for a query `#id`. For any other query returns up to `foundMax` tokens: first those
 * that equal the query, then those that are the query with a space before it, then those that begin with it, then those
 * that contain it.
 */
export function search({ byId, tokens }: Vocabulary, query: string): Token[] {
  if (/^#\d+$/.test(query)) {
    const token = byId.get(Number(query.slice(1)));
    return token === undefined ? [] : [token];
  }
  const wanted = Array.from(new TextEncoder().encode(query), (byte) => String.fromCharCode(byte)).join("");
  const classes: Token[][] = [[], [], [], []];
  for (const token of tokens) {
    const at = token.text.indexOf(wanted);
    if (at < 0) continue;
    const rank = token.text === wanted ? 0 : token.text === ` ${wanted}` ? 1 : at === 0 ? 2 : 3;
    if (classes[rank]!.length < foundMax) classes[rank]!.push(token);
  }
  return classes.flat().slice(0, foundMax);
}
