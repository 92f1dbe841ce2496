// Turns a text into pretokens: added tokens are found, and the text between them is normalized and cut by the pattern.
// A taker receives the pretokens, for example to count, encode or lift them.

export type { AddedToken, Cutting } from "./cutting.ts";
export * as cuttings from "./cutting.ts";
export type { Normalization } from "./normalization.ts";
export * as normalForms from "./normalization.ts";
export { Pretokens, type Taker } from "./pretokens.ts";
export { SpecialTokenFinder } from "./special-token-finder.ts";
export { TextChain, type TextSegment } from "./text-chain.ts";
export * as textParts from "./text-part.ts";
export * as textPieces from "./text-pieces.ts";
export { TextSections } from "./text-sections.ts";
export * as tokensToFind from "./tokens-to-find.ts";
