// Functions for reading columns of Parquet files other than the text: kept fields and token ids.

export { KeptColumnReader } from "./kept-columns.ts";
export { decodeRleBitPacked } from "./parquet-reader.ts";
export { pageAt, readAsParquet, readMetadata, topLevel } from "./plan-pages.ts";
