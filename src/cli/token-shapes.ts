import { escapeBytes } from "../bytes/escape.ts";
import { counted, grouped } from "../bytes/quantities.ts";
import { shapeOf } from "../bytes/token-shape.ts";
import { copyTokenBytes, notKept, type TokenBytes } from "../vocabulary/token-bytes.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

/** What people see of the tokens that were learned. */
export type LearnedShapes = ShapeCounts & {
  /** The longest tokens with a letter, as they are shown; of equally long ones the first learned. */
  readonly longestTokens: readonly string[];
};

/** How many tokens have the shapes `blank` and `rule`. */
type ShapeCounts = { readonly blankCount: number; readonly ruleCount: number };

const longestCount = 10;

/** One pass: sorting 32,000 tokens would take 10 ms, as long as writing them. */
export function shapesOf({ tokenBytes, mergeCount }: Vocabulary): LearnedShapes {
  const { lengths } = tokenBytes;
  const end = lengths.length;
  const longest: number[] = [];
  let [blankCount, ruleCount] = [0, 0];
  /** Shorter tokens are not among the longest. */
  let lengthMin = 0;
  for (let token = end - mergeCount; token < end; token++) {
    const shape = shapeOfToken(tokenBytes, token);
    if (shape === "blank") blankCount++;
    if (shape === "rule") ruleCount++;
    if (shape !== "letters" || lengths[token]! <= lengthMin) continue;
    const place = longest.findIndex((other) => lengths[other]! < lengths[token]!);
    longest.splice(place < 0 ? longest.length : place, 0, token);
    longest.length = Math.min(longest.length, longestCount);
    if (longest.length === longestCount) lengthMin = lengths[longest.at(-1)!]!;
  }
  return { longestTokens: longest.map((token) => shownToken(tokenBytes, token)), blankCount, ruleCount };
}

/** A token of so many bytes is judged by its beginning. */
const judgedBytes = 1 << 12;

function shapeOfToken(tokens: TokenBytes, token: number) {
  const start = tokens.starts[token]!;
  if (start !== notKept) return shapeOf(tokens.kept, start, start + tokens.lengths[token]!);
  const bytes = copyTokenBytes(tokens, token, judgedBytes);
  return shapeOf(bytes, 0, bytes.length);
}

/** How many tokens are blank or rules, or nothing if there are none. */
export function blanksAndRules({ blankCount, ruleCount }: ShapeCounts): string {
  const parts = [
    ...(blankCount > 0 ? [`${counted(blankCount, "token")} of blanks`] : []),
    ...(ruleCount > 0 ? [`${grouped(ruleCount)} of one sign, such as -----`] : []),
  ];
  return parts.join(", ");
}

const shownCharacters = 60;

/** A token in quotes, escaped; a long one as its beginning and its length. */
function shownToken(tokens: TokenBytes, token: number): string {
  const text = escapeBytes(copyTokenBytes(tokens, token, 4 * shownCharacters));
  if (text.length <= shownCharacters) return `"${text}"`;
  return `"${text.slice(0, shownCharacters)}…" (${grouped(tokens.lengths[token]!)} bytes)`;
}
