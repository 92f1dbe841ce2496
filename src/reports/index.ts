// Writes pages as HTML files, and makes the data of the pages of `train` and `inspect`.
// This is one module because each page that `--report` writes passes the same checks and has the same frame.

export { html } from "./markup.ts";
export { dataScript } from "./page-file.ts";
export * as reportFiles from "./report-option.ts";
export * as reports from "./report-writer.ts";
