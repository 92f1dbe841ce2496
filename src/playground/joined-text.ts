import { cutText } from "#pattern";
import { type Cutting, SpecialTokenFinder } from "#text";
import { buildModel, WordMerger } from "#tokenizer";
import type { WordTable } from "#words";

/**
 * JoinedText: how a text is cut into tokens after any number of merges. A border between two bytes goes with one merge, and
 * never comes back, so a number for each border says it all: nothing is stored for a step.
 *
 *   ARRAY     TYPE         LENGTH    MEANING
 *   bytes     Uint8Array   length    the text
 *   joinedBy  Int32Array   length    the merge that joins byte p with the one before; `stays`: none does; `stays` - 1 - s: special
 *                                    token s begins here; -1: byte p is inside of it, and was from the start
 *
 * Merges "t h" (0) and "th e" (1) give "the" joinedBy = [stays, 0, 1]: after one merge it is "th e".
 */
export type JoinedText = { readonly bytes: Uint8Array; readonly joinedBy: Int32Array };

export const stays = 0x7fffffff;
/** Borders from here on no merge joins. There are fewer merges, and fewer special tokens above it. */
export const neverJoined = 0x70000000;

/** Tokens as the merge engine numbers them: bytes, then what the merges make. Special token s is -1 - s. */
export const byteCount = 256;

/** Makes these merges. */
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

/** A text as a training cuts it: at special tokens, then by the pattern. */
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

/** Notes the merge that joins each two bytes of a pretoken. */
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

/** Calls `take` with the tokens of bytes [from, end) after so many merges; token borders lie at both. */
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
      // The last merge in it made it: a merge never joins what a later one made.
      if (joinedBy[pos]! >= 0) token = Math.max(token, byteCount + joinedBy[pos]!);
    }
    take(token, start, pos);
    start = pos;
  }
}

/** How many tokens a text is after so many merges. */
export function tokenCountOf({ joinedBy }: Pick<JoinedText, "joinedBy">, merges: number): number {
  let count = 0;
  for (let pos = 0; pos < joinedBy.length; pos++) if (joinedBy[pos]! >= merges) count++;
  return count;
}

/** How many places of a text each merge changes. */
export function placesOfMerges({ joinedBy }: JoinedText, mergeCount: number): Uint32Array {
  const places = new Uint32Array(mergeCount);
  for (let pos = 0; pos < joinedBy.length; pos++) {
    const merge = joinedBy[pos]!;
    if (merge >= 0 && merge < mergeCount) places[merge]!++;
  }
  return places;
}
