// Writes pages as HTML files, and makes the data of the pages of `train` and `inspect`.

export { html } from "./markup.ts";
export { dataScript } from "./page-file.ts";
export * as reportFiles from "./report-option.ts";
export * as reports from "./report-writer.ts";
