import { bestPair, byteVocabulary, countPairs, keyOf, mergePair } from "../../../examples/learn.ts";
import { textsOf } from "./naive.ts";

export type NaivePair = readonly [left: string, right: string];

export type NaiveSuperwords = {
  /** The inherited merges that are kept, then the new ones. */
  readonly merges: NaivePair[];
  readonly keptCount: number;
  /** Whether two pairs made the same token. Tests leave out such cases. */
  readonly isAmbiguous: boolean;
};

/**
 * Learns superwords naively, by the rules of the code of SuperBPE's authors (docs/superwords.md). Each token is the
 * Latin-1 text of its bytes.
 */
export function naiveSuperwords(
  pieces: ReadonlyMap<string, number>,
  inherited: readonly NaivePair[],
  mergeCount: number,
  { refuses = true } = {},
): NaiveSuperwords {
  const texts = textsOf(pieces);
  const ids = byteVocabulary("huggingface");
  const merges: NaivePair[] = [];
  let isAmbiguous = false;
  const make = ([left, right]: NaivePair) => {
    if (ids.has(left + right)) isAmbiguous = true;
    else ids.set(left + right, ids.size);
    merges.push([left, right]);
    for (const text of texts) text.tokens = mergePair(text.tokens, left, right);
  };

  // Pairs that occurred before the first merge, or after one of the inherited merges.
  const occurred = new Set<string>();
  const note = () => {
    for (const { left, right } of countPairs(texts)) occurred.add(keyOf(left, right));
  };
  note();
  for (const [left, right] of inherited) {
    if (!ids.has(left) || !ids.has(right) || !occurred.has(keyOf(left, right))) continue;
    make([left, right]);
    note();
  }
  const keptCount = merges.length;
  while (merges.length < mergeCount) {
    const allowed = countPairs(texts).filter(({ left, right }) => !refuses || !isRefused(left + right));
    const best = bestPair(allowed, ids, "huggingface");
    if (best === undefined) break;
    make([best.left, best.right]);
  }
  return { merges, keptCount, isAmbiguous };
}

export function isRefused(token: string): boolean {
  return token.includes(": ") || token.split(" ").filter((word) => word !== "").length > 4;
}

/**
 * Returns the pretokens of documents with their counts, as Latin-1 text of their bytes. Each document is cut line by
 * line, into the matches of the pattern and the gaps between them.
 */
export function naivePieces(documents: readonly string[], pattern: RegExp): Map<string, number> {
  const pieces = new Map<string, number>();
  const take = (piece: string) => {
    if (piece === "") return;
    const bytes = Buffer.from(piece).toString("latin1");
    pieces.set(bytes, (pieces.get(bytes) ?? 0) + 1);
  };
  for (const line of documents.flatMap((document) => document.split(/(?<=\n)/))) {
    let end = 0;
    for (const match of line.matchAll(pattern)) {
      take(line.slice(end, match.index));
      take(match[0]);
      end = match.index + match[0].length;
    }
    take(line.slice(end));
  }
  return pieces;
}
