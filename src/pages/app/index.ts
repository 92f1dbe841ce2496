// Components of the program that shows pages in the browser.

export { curveChart } from "./curve-chart.ts";
export { bar, dataTable, numbers } from "./data-table.ts";
export { append, type Child, h, replace, section, sectionLinks } from "./dom.ts";
export { stackedExcerpts } from "./excerpt-view.ts";
export { shownToken, tokenLink, treeSection } from "./merge-tree.ts";
export { tokenCode } from "./token-text.ts";
