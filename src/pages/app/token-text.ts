import * as signs from "../signs.ts";
import { type Child, h } from "./dom.ts";

/** Returns an element for one token in a table or a sentence. */
export const tokenCode = (text: string): HTMLElement => h("code.t", text);

/** Returns elements for adjacent tokens, each with its id and length in bytes as a tooltip. */
export const tokenChips = (tokens: readonly { readonly id: number; readonly bytes: Uint8Array }[]): Child =>
  tokens.map(({ id, bytes }) => h("i", { "data-id": id, "data-n": bytes.length }, signs.tokenText(bytes)));

/** Returns text that is not cut into tokens. Only the last of consecutive line feeds breaks the line. */
export const plainText = (bytes: Uint8Array): Child =>
  signs
    .plainSigned(bytes)
    .split(/(\n+)/)
    .map((part, i) => (i % 2 === 1 ? ["↵".repeat(part.length), h("br")] : part));

/** Returns an element for the pieces of a word. */
export const piecesText = (pieces: readonly string[]) =>
  h(
    "span.pieces",
    { dir: "auto" },
    pieces.map((piece) => h("i", signs.withSigns(piece))),
  );
