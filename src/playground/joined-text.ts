import { cutText } from "#pattern";
import { type Cutting, TextSections } from "#text";
import { encodingModels, WordMerger } from "#tokenizer";
import type { WordTable } from "#words";

/**
 * JoinedText: how a text is cut into tokens after any number of merges. A boundary between two bytes disappears with
 * one merge and never returns, so one number per boundary is enough: nothing is stored per step.
 *
 *   ARRAY     TYPE         LENGTH    MEANING
 *   bytes     Uint8Array   length    the text
 *   joinedBy  Int32Array   length    for byte p, the merge that joins it with byte p - 1, or
 *                                      `stays`          if no merge joins them
 *                                      `stays` - 1 - s  if special token s begins at byte p
 *                                      -1               if byte p is inside a special token, after its first byte
 *
 * Merges "t h" (0) and "th e" (1) give "the" joinedBy = [stays, 0, 1]: after one merge it is "th e".
 */
export type JoinedText = { readonly bytes: Uint8Array; readonly joinedBy: Int32Array };

export const stays = 0x7fffffff;
/** Values of `joinedBy` from here on are not ranks of merges: no merge removes the boundary. */
export const neverJoined = 0x70000000;

/**
 * Tokens are numbered as in the merge engine: first this many bytes, then the results of merges. Special token s has
 * the number -1 - s.
 */
export const byteCount = 256;

/** Makes a merger that applies these merges. */
export function mergerOf(left: Int32Array, right: Int32Array): WordMerger {
  const byteIds = Int32Array.from({ length: byteCount }, (_, byte) => byte);
  return new WordMerger(
    encodingModels.build({
      byteIds,
      merges: { left, right, merged: left.map((_, merge) => byteCount + merge) },
    }),
  );
}

/** Finds the merges that join the bytes of each word of a training. Word w is bytes [starts[w] .. starts[w + 1]). */
export function joinWords({ bytes, starts, wordCount }: WordTable, merger: WordMerger): JoinedText {
  const joinedBy = new Int32Array(bytes.length).fill(stays);
  for (let w = 0; w < wordCount; w++) joinPretoken(bytes, starts[w]!, starts[w + 1]!, merger, joinedBy);
  return { bytes, joinedBy };
}

/**
 * Cuts texts as training does, at special tokens and then by the pattern, and finds the merges that join the bytes of
 * each pretoken.
 */
export class TextJoiner {
  private readonly sections: TextSections;

  constructor(
    private readonly cutting: Cutting,
    private readonly merger: WordMerger,
  ) {
    const encoder = new TextEncoder();
    const early = cutting.addedTokens.map(({ content, id }) => ({ bytes: encoder.encode(content), id }));
    this.sections = new TextSections({ early });
  }

  join(text: Uint8Array): JoinedText {
    const joinedBy = new Int32Array(text.length).fill(stays);
    let start = 0;
    let pos = 0;
    this.sections.pushText(text, 0, text.length, {
      push(_, from, end) {
        pos += end - from;
      },
      end: () => {
        let from = start;
        for (const end of cutText(this.cutting.pattern, text.subarray(start, pos))) {
          joinPretoken(text, from, start + end, this.merger, joinedBy);
          from = start + end;
        }
      },
      token(id, _, from, end) {
        joinedBy[pos] = stays - 1 - id;
        start = pos + end - from;
        joinedBy.fill(-1, pos + 1, start);
        pos = start;
      },
      strip() {},
    });
    return { bytes: text, joinedBy };
  }
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

/**
 * Calls `take` with the tokens of bytes [from, end) after the first `merges` merges. `from` and `end` must be token
 * boundaries.
 */
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
      // A merge joins only results of earlier merges. So of the merges inside a token, the last one created it.
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

/** Counts the positions of a text at which each merge joins two tokens. */
export function placesOfMerges({ joinedBy }: JoinedText, mergeCount: number): Uint32Array {
  const places = new Uint32Array(mergeCount);
  for (let pos = 0; pos < joinedBy.length; pos++) {
    const merge = joinedBy[pos]!;
    if (merge >= 0 && merge < mergeCount) places[merge]!++;
  }
  return places;
}
