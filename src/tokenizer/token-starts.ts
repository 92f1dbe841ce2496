import { space } from "../bytes/text.ts";
import type { FoundAdded } from "./text-encoding.ts";
import type { TokenizerParts } from "./tokenizer-parts.ts";

/**
 * Where the tokens of a text begin in it, and behind the last one where the text ends: each token is where its own bytes are,
 * with the white space that it takes along, so the tokens follow each other without gaps. Null if they do not spell the text.
 *
 * @param text as it is when the pattern cuts it: normalized, but for added tokens that are found before
 * @param found the added tokens among the ids that were found before the text was cut
 */
export function tokenStarts(
  parts: Pick<TokenizerParts, "tokens" | "addsPrefixSpace">,
  text: Uint8Array,
  ids: ArrayLike<number>,
  found: readonly FoundAdded[],
): Uint32Array | null {
  const { addsPrefixSpace } = parts;
  // Subtle: a late table makes sure at each access that it is there.
  const { starts: tokenBytes } = parts.tokens;
  const starts = new Uint32Array(ids.length + 1);
  let pos = 0;
  let isFirst = true;
  let nextFound = 0;
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]!;
    if (found[nextFound]?.index === i) {
      pos += found[nextFound++]!.byteCount;
      isFirst = true;
    } else {
      pos += tokenBytes[id + 1]! - tokenBytes[id]!;
      pos -= Number(isFirst && addsPrefixSpace && text[starts[i]!] !== space);
      isFirst = false;
    }
    starts[i + 1] = pos;
  }
  return pos === text.length ? starts : null;
}
