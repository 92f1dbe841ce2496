import { ascii } from "#bytes";
import type { excerpts } from "#evaluation";

/** Counts for all paragraphs of a text that have the same main script. */
export type ScriptCounts = {
  readonly script: string;
  readonly byteCount: number;
  /** How many tokens of each tokenizer begin in these paragraphs. */
  readonly tokenCounts: readonly [left: number, right: number];
};

const scripts =
  "Latin Greek Cyrillic Arabic Hebrew Devanagari Bengali Tamil Thai Han Hiragana Katakana Hangul Georgian Armenian".split(
    " ",
  );
const letters = scripts.map((name) => ({ name, regex: new RegExp(`\\p{Script=${name}}`, "gu") }));

/**
 * Returns the script with the most letters in a text, among the scripts of `letters`; "no letters" if the text has no
 * letter of these scripts.
 */
export function scriptOf(text: string): string {
  const counted = letters.map(({ name, regex }) => ({ name, count: text.match(regex)?.length ?? 0 }));
  const most = counted.reduce((a, b) => (b.count > a.count ? b : a));
  return most.count === 0 ? "no letters" : most.name;
}

/**
 * Groups the paragraphs of a text by script, and counts the tokens of each group. The group with the most bytes comes
 * first.
 */
export function countsByScript(
  bytes: Uint8Array,
  left: readonly excerpts.SampleToken[],
  right: readonly excerpts.SampleToken[],
): ScriptCounts[] {
  const ends = paragraphEnds(bytes);
  const [above, below] = [tokensByPart(left, ends), tokensByPart(right, ends)];
  const decoder = new TextDecoder();
  const byScript = new Map<string, ScriptCounts>();
  for (const [i, end] of ends.entries()) {
    const part = bytes.subarray(ends[i - 1] ?? 0, end);
    const script = scriptOf(decoder.decode(part));
    const { byteCount, tokenCounts } = byScript.get(script) ?? { byteCount: 0, tokenCounts: [0, 0] as const };
    byScript.set(script, {
      script,
      byteCount: byteCount + part.length,
      tokenCounts: [tokenCounts[0] + above[i]!, tokenCounts[1] + below[i]!],
    });
  }
  return [...byScript.values()].sort((a, b) => b.byteCount - a.byteCount);
}

/**
 * Returns the ends of paragraphs. A paragraph ends after a line feed that is not the first byte, and includes the line
 * feeds that directly follow.
 */
function paragraphEnds(bytes: Uint8Array): number[] {
  const ends: number[] = [];
  for (let pos = 2; pos < bytes.length; pos++)
    if (bytes[pos - 1] === ascii.lineFeed && bytes[pos] !== ascii.lineFeed) ends.push(pos);
  return bytes.length === 0 ? [] : [...ends, bytes.length];
}

function tokensByPart(tokens: readonly excerpts.SampleToken[], ends: readonly number[]): number[] {
  const counts = ends.map(() => 0);
  let [pos, part] = [0, 0];
  for (const { bytes } of tokens) {
    while (pos >= ends[part]!) part++;
    counts[part]!++;
    pos += bytes.length;
  }
  return counts;
}
