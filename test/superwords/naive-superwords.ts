import { mergePair } from "../merge/naive.ts";

/**
 * Learning superwords in the naive way: strings and Maps, every count made anew. It follows the rules of the reference, as
 * docs/superwords.md has them. A token is the string of its bytes as Latin-1 text; `ids` are the order of ties.
 */
export type NaivePair = readonly [left: string, right: string];

type NaiveText = { tokens: string[]; readonly count: number };

export type NaiveSuperwords = {
  /** Inherited merges that stay, then the new ones. */
  readonly merges: NaivePair[];
  readonly keptCount: number;
  /** Some token was made by two pairs: the reference then does what its code happens to do. */
  readonly isAmbiguous: boolean;
};

/** Id of each byte in HF's alphabet: bytes by the code point of their character. */
const isShown = (byte: number) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
const alphabet = [
  ...Array.from({ length: 256 }, (_, byte) => byte).filter(isShown),
  ...Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => !isShown(byte)),
].map((byte) => String.fromCharCode(byte));

export function naiveSuperwords(
  pieces: ReadonlyMap<string, number>,
  inherited: readonly NaivePair[],
  mergeCount: number,
  { refuses = true } = {},
): NaiveSuperwords {
  const texts: NaiveText[] = [...pieces].map(([piece, count]) => ({ tokens: [...piece], count }));
  const ids = new Map(alphabet.map((byte, id) => [byte, id]));
  const merges: NaivePair[] = [];
  let isAmbiguous = false;
  const make = ([left, right]: NaivePair) => {
    if (ids.has(left + right)) isAmbiguous = true;
    else ids.set(left + right, ids.size);
    merges.push([left, right]);
    for (const text of texts) text.tokens = mergePair(text.tokens, left, right, left + right);
  };

  // Pairs that occurred at the start, or after a whole merge.
  const occurred = new Set<string>();
  const note = () => {
    for (const { tokens } of texts)
      for (let i = 0; i + 1 < tokens.length; i++) occurred.add(keyOf(tokens[i]!, tokens[i + 1]!));
  };
  note();
  for (const [left, right] of inherited) {
    if (!ids.has(left) || !ids.has(right) || !occurred.has(keyOf(left, right))) continue;
    make([left, right]);
    note();
  }
  const keptCount = merges.length;
  while (merges.length < mergeCount) {
    const best = bestPair(texts, ids, refuses);
    if (best === undefined) break;
    make(best);
  }
  return { merges, keptCount, isAmbiguous };
}

const keyOf = (left: string, right: string) => `${left}\u{10000}${right}`;

/** The highest count, then the lowest id at the left, then at the right; no refused pair. */
function bestPair(
  texts: readonly NaiveText[],
  ids: ReadonlyMap<string, number>,
  refuses: boolean,
): NaivePair | undefined {
  const counts = new Map<string, { pair: NaivePair; count: number }>();
  for (const { tokens, count } of texts) {
    for (let i = 0; i + 1 < tokens.length; i++) {
      const pair = [tokens[i]!, tokens[i + 1]!] as const;
      const known = counts.get(keyOf(...pair));
      if (known === undefined) counts.set(keyOf(...pair), { pair, count });
      else known.count += count;
    }
  }
  const allowed = [...counts.values()].filter(({ pair }) => !refuses || !isRefused(pair.join("")));
  allowed.sort(
    (a, b) =>
      b.count - a.count ||
      ids.get(a.pair[0])! - ids.get(b.pair[0])! ||
      ids.get(a.pair[1])! - ids.get(b.pair[1])!,
  );
  return allowed[0]?.pair;
}

export function isRefused(token: string): boolean {
  return token.includes(": ") || token.split(" ").filter((word) => word !== "").length > 4;
}

/**
 * The pretokens of documents, each fed line by line, as Latin-1 text of their bytes, with their counts: the matches of the
 * pattern, and the gaps between them.
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
