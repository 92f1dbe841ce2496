import { countNoun, utf8 } from "#bytes";

/**
 * The visual kind of a token.
 *
 *   SHAPE       MEANING                                                                EXAMPLES
 *   letters     it contains a letter                                                   " the", "aaaa", "3rd"
 *   whitespace  two or more whitespace characters and nothing else                     "    ", "\n\n"
 *   separator   one symbol, three times or more, and any whitespace around it          "-----", " ====", ". . .", "───"
 *   other       anything else: digits, one space, symbols, parts of characters         "2026", ").", "\xe2\x94"
 *
 * A symbol is a character other than a letter, mark, number, whitespace or control character.
 */
export type TokenShape = "letters" | "whitespace" | "separator" | "other";

const isWhitespace = (character: string) =>
  character < "\x80"
    ? "\t\n\v\f\r ".includes(character) && character !== ""
    : /\p{White_Space}/u.test(character);
const isAsciiLetter = (byte: number) => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

export function of(bytes: Uint8Array, start: number, end: number): TokenShape {
  // Most tokens have an ASCII letter as their first or second byte.
  for (let pos = start; pos < end; pos++) if (isAsciiLetter(bytes[pos]!)) return "letters";
  let isSeparator = true;
  let whitespaceCount = 0;
  let signCount = 0;
  let sign = "";
  for (let pos = start; pos < end; ) {
    const lengthBytes = utf8.characterLengthAt(bytes, pos, end);
    const character = lengthBytes === 0 ? "" : String.fromCodePoint(utf8.codePointOf(bytes, pos));
    if (lengthBytes > 1 && /\p{L}/u.test(character)) return "letters";
    if (isWhitespace(character)) whitespaceCount++;
    else {
      signCount++;
      isSeparator &&= character !== "" && (sign === "" || sign === character);
      sign = character;
    }
    pos += Math.max(lengthBytes, 1);
  }
  if (signCount === 0) return whitespaceCount >= 2 ? "whitespace" : "other";
  return isSeparator && signCount >= 3 && !/[\p{M}\p{N}\p{Cc}]/u.test(sign) ? "separator" : "other";
}

/** Returns the indices of the `count` longest tokens with a letter, from `first` on: longest first, then by index. */
export function longestWithLetters(
  lengths: ArrayLike<number>,
  shapeAt: (index: number) => TokenShape,
  count: number,
  first = 0,
): number[] {
  const longest: number[] = [];
  /** Once the list is full, tokens of at most this length cannot enter it. */
  let lengthMin = 0;
  for (let i = first; i < lengths.length; i++) {
    if (lengths[i]! <= lengthMin || shapeAt(i) !== "letters") continue;
    const place = longest.findIndex((other) => lengths[other]! < lengths[i]!);
    longest.splice(place < 0 ? longest.length : place, 0, i);
    longest.length = Math.min(longest.length, count);
    if (longest.length === count) lengthMin = lengths[longest.at(-1)!]!;
  }
  return longest;
}

export type ShapeCounts = { readonly whitespaceCount: number; readonly separatorCount: number };

/** Formats the numbers of whitespace tokens and separator tokens; "" if there are none. */
export function describeCounts({ whitespaceCount, separatorCount }: ShapeCounts): string {
  const parts = [
    ...(whitespaceCount > 0 ? [countNoun(whitespaceCount, "whitespace token")] : []),
    ...(separatorCount > 0 ? [`${countNoun(separatorCount, "separator token")}, such as -----`] : []),
  ];
  return parts.join(", ");
}
