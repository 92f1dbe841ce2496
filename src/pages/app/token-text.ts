import { escapeBytes, spacesWithSigns } from "../../bytes/escape.ts";
import { type Child, h } from "./dom.ts";

/** Signs for white space, the same everywhere. */
export const signsNote = "␣ is a space, ⇥ a tab, ↵ a line end, ‿ a no-break space, ▫ another one.";

/** Bytes of a token that are shown; the rest of a longer one is left out. */
const shownBytesMax = 160;

/** Text that was escaped for people, with a sign for each kind of white space. */
export const withSigns = (escaped: string) =>
  spacesWithSigns(escaped.replaceAll(" ", "␣").replaceAll("\\x09", "⇥").replaceAll("\\x0a", "↵"));

/** The beginning of a token as people read it: `\xNN` for what is no visible character. */
export function tokenText(bytes: Uint8Array, lengthBytes = bytes.length): string {
  let end = Math.min(bytes.length, shownBytesMax);
  while (end > shownBytesMax - 4 && (bytes[end]! & 0xc0) === 0x80) end--;
  return withSigns(escapeBytes(bytes.subarray(0, end))) + (lengthBytes > end ? "…" : "");
}

/** A token in a table or a sentence. */
export const tokenCode = (text: string): HTMLElement => h("code.t", {}, text);

/** Tokens beside each other, each with its id and length for whoever points at it. */
export const tokenChips = (tokens: readonly { readonly id: number; readonly bytes: Uint8Array }[]): Child =>
  tokens.map(({ id, bytes }) => h("i", { "data-id": id, "data-n": bytes.length }, tokenText(bytes)));

/** Text that is not cut into tokens here: spaces are spaces, and the last of some line ends ends the line. */
export const plainText = (bytes: Uint8Array): Child =>
  escapeBytes(bytes)
    .split(/((?:\\x0a)+)/)
    .map((part, i) =>
      i % 2 === 1 ? [part.replaceAll("\\x0a", "↵"), h("br")] : spacesWithSigns(part.replaceAll("\\x09", "⇥")),
    );
