// How a text becomes pretokens: added tokens are found, the rest is normalized and cut by the pattern, and a taker
// receives the pretokens: it counts, encodes or lifts them (counts them as sequences of ids). This is one module
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
