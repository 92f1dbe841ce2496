import { ascii, escapeBytes, groupDigits, spacesWithSigns } from "#bytes";

// Readable tokens: `\xNN` for invisible characters, and symbols for whitespace.

/** Explains the whitespace symbols. */
export const signsNote = "␣ is a space, ⇥ a tab, ↵ a line end, ‿ a no-break space, ▫ other whitespace.";

const signs = new Map([
  [ascii.space, "␣"],
  [ascii.tab, "⇥"],
  [ascii.lineFeed, "↵"],
]);
const plainSigns = new Map([...signs, [ascii.space, " "], [ascii.lineFeed, "\n"]]);

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

/** The maximum number of bytes of a token that are shown. */
const shownBytesMax = 160;

/** Returns a token as it is displayed; a long one is truncated between characters. */
export function tokenText(bytes: Uint8Array, lengthBytes = bytes.length): string {
  let end = Math.min(bytes.length, shownBytesMax);
  while (end > shownBytesMax - 4 && (bytes[end]! & 0xc0) === 0x80) end--;
  return signed(bytes.subarray(0, end), signs) + (lengthBytes > end ? "…" : "");
}

/** Returns uncut text as it is displayed, with spaces and line feeds unchanged. */
export const plainSigned = (bytes: Uint8Array) => signed(bytes, plainSigns);

/** Adds the whitespace symbols to a token that `escapeBytes` has already escaped. */
export const withSigns = (escaped: string) =>
  spacesWithSigns(escaped.replaceAll(" ", "␣").replaceAll("\\x09", "⇥").replaceAll("\\x0a", "↵"));

export const timesOf = (count: number) => (count === 1 ? "once" : `${groupDigits(count)} times`);
