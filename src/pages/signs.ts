import { escapeBytes, groupDigits, lineFeed, space, spacesWithSigns, tab } from "#bytes";

// Tokens as people read them on a page: `\xNN` for what is no visible character, and a sign for each kind of white space.

/** Signs for white space, the same everywhere. */
export const signsNote = "␣ is a space, ⇥ a tab, ↵ a line end, ‿ a no-break space, ▫ another one.";

const signs = new Map([
  [space, "␣"],
  [tab, "⇥"],
  [lineFeed, "↵"],
]);
const plainSigns = new Map([...signs, [space, " "], [lineFeed, "\n"]]);

function signed(bytes: Uint8Array, signs: ReadonlyMap<number, string>): string {
  let shown = "";
  let start = 0;
  for (let i = 0; i < bytes.length; i++) {
    const sign = signs.get(bytes[i]!);
    if (sign === undefined) continue;
    shown += escapeBytes(bytes.subarray(start, i)) + sign;
    start = i + 1;
  }
  return spacesWithSigns(shown + escapeBytes(bytes.subarray(start)));
}

/** Bytes of a token that are shown; the rest of a longer one is left out. */
const shownBytesMax = 160;

/** The beginning of a token, cut between two characters. */
export function tokenText(bytes: Uint8Array, lengthBytes = bytes.length): string {
  let end = Math.min(bytes.length, shownBytesMax);
  while (end > shownBytesMax - 4 && (bytes[end]! & 0xc0) === 0x80) end--;
  return signed(bytes.subarray(0, end), signs) + (lengthBytes > end ? "…" : "");
}

/** Text that is not cut into tokens: spaces are spaces, and its lines end with line feeds. */
export const plainSigned = (bytes: Uint8Array) => signed(bytes, plainSigns);

/** The same for text in which `escapeBytes` has escaped what is invisible. */
export const withSigns = (escaped: string) =>
  spacesWithSigns(escaped.replaceAll(" ", "␣").replaceAll("\\x09", "⇥").replaceAll("\\x0a", "↵"));

export const timesOf = (count: number) => (count === 1 ? "once" : `${groupDigits(count)} times`);
