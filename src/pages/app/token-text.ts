import { plainSigned, tokenText, withSigns } from "#pages";
import { type Child, h } from "./dom.ts";

/** A token in a table or a sentence. */
export const tokenCode = (text: string): HTMLElement => h("code.t", text);

/** Tokens next to each other, each with its id and length for whoever points at it. */
export const tokenChips = (tokens: readonly { readonly id: number; readonly bytes: Uint8Array }[]): Child =>
  tokens.map(({ id, bytes }) => h("i", { "data-id": id, "data-n": bytes.length }, tokenText(bytes)));

/** Text that is not cut into tokens here; the last of several line ends ends the line. */
export const plainText = (bytes: Uint8Array): Child =>
  plainSigned(bytes)
    .split(/(\n+)/)
    .map((part, i) => (i % 2 === 1 ? ["↵".repeat(part.length), h("br")] : part));

/** The pieces of a word, which are text already. */
export const piecesText = (pieces: readonly string[]) =>
  h(
    "span.pieces",
    { dir: "auto" },
    pieces.map((piece) => h("i", withSigns(piece))),
  );
