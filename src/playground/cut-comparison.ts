import { lineFeed } from "../bytes/text.ts";
import type { SampleToken } from "../evaluation/passages.ts";

/** A paragraph of a text, and how many tokens of two tokenizers begin in it. */
export type ComparedPart = {
  readonly name: string;
  /** The writing that most of its letters are of. */
  readonly script: string;
  readonly byteCount: number;
  readonly tokenCounts: readonly [left: number, right: number];
};

const scripts =
  "Latin Greek Cyrillic Arabic Hebrew Devanagari Bengali Tamil Thai Han Hiragana Katakana Hangul Georgian Armenian".split(
    " ",
  );
const letters = scripts.map((name) => ({ name, regex: new RegExp(`\\p{Script=${name}}`, "gu") }));

export function scriptOf(text: string): string {
  const counted = letters.map(({ name, regex }) => ({ name, count: text.match(regex)?.length ?? 0 }));
  const most = counted.reduce((a, b) => (b.count > a.count ? b : a));
  return most.count === 0 ? "no letters" : most.name;
}

/** The paragraphs of a text: what line feeds end. Empty ones belong to the one before. */
export function comparedParts(
  bytes: Uint8Array,
  left: readonly SampleToken[],
  right: readonly SampleToken[],
): ComparedPart[] {
  const ends = paragraphEnds(bytes);
  const counts = [left, right].map((tokens) => tokensByPart(tokens, ends));
  const decoder = new TextDecoder();
  return ends.map((end, i) => {
    const part = bytes.subarray(ends[i - 1] ?? 0, end);
    const text = decoder.decode(part);
    const name = [...text.trim()].slice(0, shownCharacters).join("");
    return {
      name: name === "" ? "(white space)" : name,
      script: scriptOf(text),
      byteCount: part.length,
      tokenCounts: [counts[0]![i]!, counts[1]![i]!],
    };
  });
}

const shownCharacters = 36;

function paragraphEnds(bytes: Uint8Array): number[] {
  const ends: number[] = [];
  for (let pos = 1; pos < bytes.length; pos++) {
    if (bytes[pos - 1] === lineFeed && bytes[pos] !== lineFeed && pos > 1) ends.push(pos);
  }
  return bytes.length === 0 ? [] : [...ends, bytes.length];
}

function tokensByPart(tokens: readonly SampleToken[], ends: readonly number[]): number[] {
  const counts = ends.map(() => 0);
  let pos = 0;
  let part = 0;
  for (const { bytes } of tokens) {
    while (pos >= ends[part]!) part++;
    counts[part]!++;
    pos += bytes.length;
  }
  return counts;
}

/** The sums of parts of one writing, the largest first. */
export function sumsByScript(parts: readonly ComparedPart[]): ComparedPart[] {
  const groups = Map.groupBy(parts, ({ script }) => script);
  const sums = [...groups].map(([script, some]): ComparedPart => {
    const sum = (of: (part: ComparedPart) => number) => some.reduce((total, part) => total + of(part), 0);
    const tokenCounts = [sum((part) => part.tokenCounts[0]), sum((part) => part.tokenCounts[1])] as const;
    return { name: script, script, byteCount: sum(({ byteCount }) => byteCount), tokenCounts };
  });
  return sums.sort((a, b) => b.byteCount - a.byteCount);
}
