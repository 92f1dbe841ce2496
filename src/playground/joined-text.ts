import { cutText } from "#pattern";
import { type Cutting, SpecialTokenFinder } from "#text";
import { buildModel, WordMerger } from "#tokenizer";
import type { WordTable } from "#words";

/**
 * JoinedText: how a text is cut into tokens after any number of merges. A boundary between two bytes disappears with one
 * merge and never returns, so one number per boundary is enough: nothing is stored per step.
 *
 *   ARRAY     TYPE         LENGTH    MEANING
 *   bytes     Uint8Array   length    the text
 *   joinedBy  Int32Array   length    the merge that joins byte p with byte p - 1; `stays`: none; `stays` - 1 - s: special
 *                                    token s begins here; -1: byte p is inside a special token
 *
 * Merges "t h" (0) and "th e" (1) give "the" joinedBy = [stays, 0, 1]: after one merge it is "th e".
 */
export type JoinedText = { readonly bytes: Uint8Array; readonly joinedBy: Int32Array };

export const stays = 0x7fffffff;
/** Values of `joinedBy` from here on are not ranks of merges: no merge removes the boundary. */
export const neverJoined = 0x70000000;

/**
 * Tokens are numbered as in the merge engine: first this many bytes, then the results of merges. Special token s is -1
 * - s.
 */
export const byteCount = 256;

/** Makes a merger that applies these merges. */
export function mergerOf(left: Int32Array, right: Int32Array): WordMerger {
  const byteIds = Int32Array.from({ length: byteCount }, (_, byte) => byte);
  return new WordMerger(
    buildModel({ byteIds, merges: { left, right, merged: left.map((_, merge) => byteCount + merge) } }),
  );
}

/** The words of a training; a word is bytes [starts[w] .. starts[w + 1]). */
export function joinWords({ bytes, starts, wordCount }: WordTable, merger: WordMerger): JoinedText {
  const joinedBy = new Int32Array(bytes.length).fill(stays);
  for (let w = 0; w < wordCount; w++) joinPretoken(bytes, starts[w]!, starts[w + 1]!, merger, joinedBy);
  return { bytes, joinedBy };
}

/** Cuts a text as training does: at special tokens, then by the pattern. */
export function joinText(text: Uint8Array, cutting: Cutting, merger: WordMerger): JoinedText {
  const joinedBy = new Int32Array(text.length).fill(stays);
  const contents = cutting.addedTokens.map(({ content }) => new TextEncoder().encode(content));
  const finder = new SpecialTokenFinder(contents);
  finder.reset(text);
  for (let pos = 0; pos < text.length; ) {
    const sectionEnd = finder.find(pos, text.length);
    let start = 0;
    for (const end of sectionEnd > pos ? cutText(cutting.pattern, text.subarray(pos, sectionEnd)) : []) {
      joinPretoken(text, pos + start, pos + end, merger, joinedBy);
      start = end;
    }
    pos = sectionEnd + finder.lengthAt(sectionEnd, text.length);
    if (pos === sectionEnd) continue;
    const content = text.subarray(sectionEnd, pos);
    const token = contents.findIndex((bytes) => Buffer.compare(bytes, content) === 0);
    joinedBy[sectionEnd] = stays - 1 - cutting.addedTokens[token]!.id;
    joinedBy.fill(-1, sectionEnd + 1, pos);
  }
  return { bytes: text, joinedBy };
}

/** Records the merge that joins each pair of adjacent bytes of a pretoken. */
function joinPretoken(
  bytes: Uint8Array,
  start: number,
  end: number,
  merger: WordMerger,
  joinedBy: Int32Array,
) {
  const trace = merger.trace(bytes.subarray(start, end));
  for (let i = 0; i < trace.length; i += 2) joinedBy[start + trace[i]!] = trace[i + 1]!;
}

/** Calls `take` with the tokens of bytes [from, end) after `step` merges; both ends are token boundaries. */
export function forEachToken(
  { bytes, joinedBy }: JoinedText,
  merges: number,
  [from, end]: readonly [from: number, end: number],
  take: (token: number, start: number, end: number) => void,
): void {
  for (let start = from; start < end; ) {
    const isSpecial = joinedBy[start]! >= neverJoined && joinedBy[start]! < stays;
    let token = isSpecial ? joinedBy[start]! - stays : bytes[start]!;
    let pos = start + 1;
    for (; pos < end && joinedBy[pos]! < merges; pos++) {
      // The last of the merges inside a token created it: no merge joins the result of a later one.
      if (joinedBy[pos]! >= 0) token = Math.max(token, byteCount + joinedBy[pos]!);
    }
    take(token, start, pos);
    start = pos;
  }
}

export function tokenCountOf({ joinedBy }: Pick<JoinedText, "joinedBy">, merges: number): number {
  let count = 0;
  for (let pos = 0; pos < joinedBy.length; pos++) if (joinedBy[pos]! >= merges) count++;
  return count;
}

/** Counts the places of a text that each merge changes. */
export function placesOfMerges({ joinedBy }: JoinedText, mergeCount: number): Uint32Array {
  const places = new Uint32Array(mergeCount);
  for (let pos = 0; pos < joinedBy.length; pos++) {
    const merge = joinedBy[pos]!;
    if (merge >= 0 && merge < mergeCount) places[merge]!++;
  }
  return places;
}
