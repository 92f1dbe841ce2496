// The steps of a text: added tokens, normalization, the pattern, and the taker of the pretokens. This is one module
// because counting, encoding and lifting must cut a text in the same way.

export {
  type AddedToken,
  type Cutting,
  canBeCut,
  canBeCutSafely,
  changesText,
  cuttingTokens,
  isCutUnchanged,
  looksAround,
  plainCutting,
  plainSpecial,
  sectionSettings,
  textCutting,
  tokensWhileCutting,
} from "./cutting.ts";
export * as normalForms from "./normalization.ts";
export { type Normalization, TextNormalizer } from "./normalization.ts";
export {
  lookaheadBytes,
  Pretokens,
  partBefore,
  partTo,
  type Taker,
  type TextPart,
  tokenTablesBytes,
  useTokens,
} from "./pretokens.ts";
export { SpecialTokenFinder } from "./special-token-finder.ts";
export { pushedBytes, TextChain, type TextSegment } from "./text-chain.ts";
export { describeSections, type PrefixRule, TextSections, type TokenToFind } from "./text-sections.ts";
