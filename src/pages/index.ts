// Turns JSON into one HTML file. It is one module because the program in the browser unpacks what this side packs.

export * as axes from "./axes.ts";
export type { Curve } from "./compression-curve.ts";
export * as curves from "./compression-curve.ts";
export { Html, html, trustedHtml } from "./markup.ts";
export { packLoaded, packTrained } from "./packed-vocabulary.ts";
export { type DiffData, type Fact, type ListLengths, listMax, type PageData } from "./page-data.ts";
export { jsonForPage, type PageText, type Phrase, pageFile } from "./page-file.ts";
export * as pageHead from "./page-mark.ts";
export * as signs from "./signs.ts";
export type { Token } from "./unpacked.ts";
export * as unpacked from "./unpacked.ts";
export * as yardsticks from "./yardsticks.ts";
