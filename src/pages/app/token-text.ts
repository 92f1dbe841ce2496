import { plainSigned, tokenText, withSigns } from "#pages";
import { type Child, h } from "./dom.ts";

/** A token in a table or a sentence. */
export const tokenCode = (text: string): HTMLElement => h("code.t", text);

/** Adjacent tokens, each with its id and length as a tooltip. */
export const tokenChips = (tokens: readonly { readonly id: number; readonly bytes: Uint8Array }[]): Child =>
  tokens.map(({ id, bytes }) => h("i", { "data-id": id, "data-n": bytes.length }, tokenText(bytes)));

/** Uncut text; only the last of several line feeds breaks the line. */
export const plainText = (bytes: Uint8Array): Child =>
  plainSigned(bytes)
    .split(/(\n+)/)
    .map((part, i) => (i % 2 === 1 ? ["↵".repeat(part.length), h("br")] : part));

/** The pieces of a word, given as text. */
export const piecesText = (pieces: readonly string[]) =>
  h(
    "span.pieces",
    { dir: "auto" },
    pieces.map((piece) => h("i", withSigns(piece))),
  );
