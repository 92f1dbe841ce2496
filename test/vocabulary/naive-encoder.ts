import type { Vocabulary } from "../../src/vocabulary/vocabulary.ts";
import { mergeInPlace } from "./made-merges.ts";

/**
 * Text to ids in a few obvious lines: special tokens first, the longest where several match; then the pattern; then
 * every merge in the order learned.
 */
export function encodeNaively(vocabulary: Vocabulary, pattern: RegExp, text: string): number[] {
  const { specialTokens, specialIds, tokenIds } = vocabulary;
  const ids: number[] = [];
  let plain = "";
  const flush = () => {
    for (const match of plain.matchAll(pattern)) {
      for (const token of mergeNaively(vocabulary, match[0])) ids.push(tokenIds[token]!);
    }
    plain = "";
  };
  let pos = 0;
  while (pos < text.length) {
    const matching = specialTokens.filter((special) => text.startsWith(special, pos));
    const longest = matching.sort((a, b) => b.length - a.length)[0];
    if (longest === undefined) {
      plain += text[pos++]!;
      continue;
    }
    flush();
    ids.push(specialIds[specialTokens.indexOf(longest)]!);
    pos += longest.length;
  }
  flush();
  return ids;
}

function mergeNaively(vocabulary: Vocabulary, pretoken: string): number[] {
  const word = [...new TextEncoder().encode(pretoken)];
  for (let k = 0; k < vocabulary.mergeCount; k++) {
    mergeInPlace(word, vocabulary.left[k]!, vocabulary.right[k]!, 256 + k);
  }
  return word;
}
