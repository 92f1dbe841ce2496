// Functions for columns of Parquet files that do not hold the text: kept fields, and columns of token ids.

export { KeptColumnReader } from "./kept-columns.ts";
export { decodeRleBitPacked } from "./parquet-reader.ts";
export { pageAt, readAsParquet, readMetadata, topLevel } from "./plan-pages.ts";
