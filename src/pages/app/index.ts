// Components of the program that shows pages in the browser.

export { curveChart } from "./curve-chart.ts";
export * as dataTables from "./data-table.ts";
export * as dom from "./dom.ts";
export { h } from "./dom.ts";
export { stackedExcerpts } from "./excerpt-view.ts";
export * as mergeTrees from "./merge-tree.ts";
export { tokenCode } from "./token-text.ts";
