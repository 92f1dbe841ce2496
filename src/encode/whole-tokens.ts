import { compileApart } from "../runtime/compile-sparingly.ts";

/**
 * WholeTokens: tokens at which merging their bytes does not arrive, of two bytes or more. A pretoken that is one of them
 * gets its id; a part of a pretoken never does. That is the rule of HF's `ignore_merges`, and of tiktoken.
 *
 * Pretokens are cut before they are merged (never-merged.ts), and their parts are looked up as pretokens are. So no part may
 * be a whole token: no cut is made right before the bytes of one, nor right behind them.
 */
export type WholeTokens = {
  /** Ids by the tokens' bytes as Latin-1 text. */
  readonly ids: ReadonlyMap<string, number>;
  readonly bytesMax: number;
  /** Tokens by the number that their first `edgeBytes` bytes make, the first one highest; and by their last ones. */
  readonly byBeginning: ReadonlyMap<number, readonly Uint8Array[]>;
  readonly byEnd: ReadonlyMap<number, readonly Uint8Array[]>;
  /** 3, or 2 if some token has no more. */
  readonly edgeBytes: number;
  /** 2^edgeBits elements. At the hash of a token's first bytes: bit 0; of its last ones: bit 1. */
  readonly edges: Uint8Array;
};

/** Some hundred tokens take a few of a hundred places; the table stays in the first cache. */
const edgeBits = 13;
const isBeginning = 1;
const isEnd = 2;

export function indexWholeTokens(ids: ReadonlyMap<string, number>): WholeTokens {
  const tokens = Array.from(ids.keys(), (key) => new Uint8Array(Buffer.from(key, "latin1")));
  const edgeBytes = tokens.some((token) => token.length < 3) ? 2 : 3;
  const byBeginning = Map.groupBy(tokens, (token) => edgeAt(token, 0, edgeBytes));
  const byEnd = Map.groupBy(tokens, (token) => edgeAt(token, token.length - edgeBytes, edgeBytes));
  const edges = new Uint8Array(1 << edgeBits);
  for (const edge of byBeginning.keys()) edges[hashEdge(edge)]! |= isBeginning;
  for (const edge of byEnd.keys()) edges[hashEdge(edge)]! |= isEnd;
  return {
    ids,
    bytesMax: tokens.reduce((max, token) => Math.max(max, token.length), 0),
    byBeginning,
    byEnd,
    edgeBytes,
    edges,
  };
}

function edgeAt(bytes: Uint8Array, pos: number, edgeBytes: number): number {
  const two = (bytes[pos]! << 8) | bytes[pos + 1]!;
  return edgeBytes === 2 ? two : (two << 8) | bytes[pos + 2]!;
}

/** The id of the whole token whose bytes are [start, end), or -1. */
export function findWholeToken(whole: WholeTokens, bytes: Uint8Array, start: number, end: number): number {
  const lengthBytes = end - start;
  if (lengthBytes > whole.bytesMax) return -1;
  const key = Buffer.from(bytes.buffer, bytes.byteOffset + start, lengthBytes).toString("latin1");
  return whole.ids.get(key) ?? -1;
}

/**
 * Whether three bytes on either side of a place, the first one highest, leave it open that a whole token begins or ends
 * there.
 */
export function mayTouchWhole(whole: WholeTokens, left: number, right: number): boolean {
  const { edges, edgeBytes } = whole;
  const before = edgeBytes === 2 ? left & 0xffff : left;
  const behind = edgeBytes === 2 ? right >> 8 : right;
  const mayTouch = (edges[hashEdge(before)]! & isEnd) | (edges[hashEdge(behind)]! & isBeginning);
  return mayTouch !== 0 && isEdge(whole, before, behind);
}

function isEdge({ byBeginning, byEnd }: WholeTokens, before: number, behind: number): boolean {
  return byBeginning.has(behind) || byEnd.has(before);
}

const hashEdge = (edge: number) => Math.imul(edge, 0x9e3779b1) >>> (32 - edgeBits);

/** Whether a whole token inside the pretoken [start, end) begins or ends at `pos`. */
export function touchesWhole(
  { byBeginning, byEnd, edgeBytes }: WholeTokens,
  bytes: Uint8Array,
  start: number,
  pos: number,
  end: number,
): boolean {
  const behind = byBeginning.get(edgeAt(bytes, pos, edgeBytes)) ?? [];
  const before = byEnd.get(edgeAt(bytes, pos - edgeBytes, edgeBytes)) ?? [];
  return (
    behind.some((token) => pos + token.length <= end && isAt(bytes, pos, token)) ||
    before.some((token) => pos - token.length >= start && isAt(bytes, pos - token.length, token))
  );
}

function isAt(bytes: Uint8Array, pos: number, token: Uint8Array): boolean {
  for (let i = 0; i < token.length; i++) if (bytes[pos + i] !== token[i]) return false;
  return true;
}

compileApart(isEdge, touchesWhole);
