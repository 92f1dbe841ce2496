import type { unpacked } from "#pages";

/** The merges of a vocabulary, looked up by the ids of their halves. */
export class Merger {
  private readonly ranks = new Map<number, number>();
  private readonly idLimit: number;

  constructor(private readonly vocabulary: unpacked.Vocabulary) {
    this.idLimit = 1 + Math.max(...vocabulary.tokens.map(({ id }) => id));
    for (const [rank, { left, right }] of vocabulary.merged.entries())
      this.ranks.set(this.keyOf(left!.id, right!.id), rank);
  }

  private keyOf(left: number, right: number): number {
    return left * this.idLimit + right;
  }

  /** Encodes a pretoken given as byte ids: repeatedly applies the merge of lowest rank. */
  merge(bytes: readonly number[]): number[] {
    const ids = [...bytes];
    for (;;) {
      let [best, at] = [Number.POSITIVE_INFINITY, -1];
      for (let i = 0; i + 1 < ids.length; i++) {
        const rank = this.ranks.get(this.keyOf(ids[i]!, ids[i + 1]!));
        if (rank !== undefined && rank < best) [best, at] = [rank, i];
      }
      if (at < 0) return ids;
      ids.splice(at, 2, this.vocabulary.merged[best]!.id);
    }
  }
}

type Cut = { readonly ids: number[]; readonly lengths: number[] };

/**
 * Cuts a text into tokens.
 *
 * @param pieces byte lengths of its pretokens and added tokens
 * @param addedTokens ids by content
 */
export function cutPieces(
  vocabulary: unpacked.Vocabulary,
  content: string,
  pieces: readonly number[],
  addedTokens: ReadonlyMap<string, number>,
): Cut {
  const merger = new Merger(vocabulary);
  const byteIds = byteIdsOf(vocabulary, new Set(addedTokens.values()));
  const bytes = new TextEncoder().encode(content);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const ids: number[] = [];
  let start = 0;
  for (const length of pieces) {
    const piece = bytes.subarray(start, (start += length));
    const added = addedTokens.get(decoder.decode(piece));
    if (added !== undefined) ids.push(added);
    else ids.push(...merger.merge(Array.from(piece, (byte) => byteIds.get(byte)!)));
  }
  return { ids, lengths: ids.map((id) => vocabulary.byId.get(id)!.length) };
}

/** Returns the id of each byte. An added token of one byte is used only if the model has none for the byte. */
function byteIdsOf({ tokens }: unpacked.Vocabulary, added: ReadonlySet<number>): Map<number, number> {
  const bytes = tokens.filter(({ text, rank }) => text.length === 1 && rank === undefined);
  const [ofModel, others] = [
    bytes.filter(({ id }) => !added.has(id)),
    bytes.filter(({ id }) => added.has(id)),
  ];
  return new Map([...others, ...ofModel].map(({ id, text }) => [text.charCodeAt(0), id]));
}
