// The pages that `--report` writes.

export * as reportFiles from "./report-option.ts";
export * as reports from "./report-writer.ts";
