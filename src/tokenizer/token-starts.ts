import type { NormalizedStretch, TextNotes } from "./text-encoding.ts";
import type { TokenTable } from "./token-table.ts";

/**
 * Where the tokens of a text begin in it, and after the last one where the text ends: each token is where its own bytes are,
 * with the white space that it takes, so the tokens follow each other without gaps. One inside a stretch that normalization
 * changes is inside it, in proportion. Null if the tokens do not spell the text.
 *
 * @param tokens the bytes of each id
 * @param notes of the text, which has `byteCount` bytes
 */
export function tokenStarts(
  { starts: tokenBytes }: Pick<TokenTable, "starts">,
  ids: ArrayLike<number>,
  { found, spaces, changes }: TextNotes,
  byteCount: number,
): Uint32Array | null {
  const starts = new Uint32Array(ids.length + 1);
  let pos = 0;
  let [nextFound, nextSpace] = [0, 0];
  for (let i = 0; i < ids.length; i++) {
    if (found[nextFound]?.index === i) pos += found[nextFound++]!.byteCount;
    else {
      const size = tokenBytes[ids[i]! + 1]! - tokenBytes[ids[i]!]!;
      const hasSpace = spaces[nextSpace] === i;
      if (hasSpace) nextSpace++;
      pos += size - Number(hasSpace && size > 0);
    }
    starts[i + 1] = pos;
  }
  const all = inText(starts, changes);
  return all.at(-1) === byteCount ? all : null;
}

/** Positions in the normalized text as positions in the text; from inside a changed stretch to inside it, in proportion. */
function inText(positions: Uint32Array, changes: readonly NormalizedStretch[]): Uint32Array {
  if (changes.length === 0) return positions;
  let next = 0;
  let before: NormalizedStretch = { start: 0, end: 0, toStart: 0, toEnd: 0 };
  return positions.map((position) => {
    while (next < changes.length && changes[next]!.toStart < position) before = changes[next++]!;
    const { start, end, toStart, toEnd } = before;
    if (position >= toEnd) return end + position - toEnd;
    const share = ((position - toStart) * (end - start)) / (toEnd - toStart);
    return start + Math.max(1, Math.floor(share));
  });
}
