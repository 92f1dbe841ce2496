// Turns JSON into one HTML file. It is one module because the program in the browser unpacks what this side packs.

export {
  type Axis,
  lengthOf,
  linearAxis,
  percent,
  placeOn,
  shortNumber,
  sizesAxis,
  tickNames,
  unbroken,
} from "./axes.ts";
export {
  type Curve,
  type CurvePoint,
  curveOf,
  curveThrough,
  sizeRule,
  sizeVerdict,
} from "./compression-curve.ts";
export { Html, html, trustedHtml } from "./markup.ts";
export { packLoaded, packTrained } from "./packed-vocabulary.ts";
export {
  type DiffData,
  type EvalData,
  type Fact,
  type ListLengths,
  listMax,
  type PageData,
  type VocabularyData,
} from "./page-data.ts";
export { jsonForPage, type PageText, type Phrase, pageFile } from "./page-file.ts";
export { pageHeadBytes, pageMark } from "./page-mark.ts";
export { plainSigned, signsNote, timesOf, tokenText, withSigns } from "./signs.ts";
export { bytesOf, search, type Token, unpack, type Vocabulary, vocabularyOf } from "./unpacked.ts";
export { comparedWith, type KindOfTokens, usual, usualMost } from "./yardsticks.ts";
