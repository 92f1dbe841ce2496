// What readers of other columns than texts use of Parquet files.

export { KeptColumnReader } from "./kept-columns.ts";
export { decodeRleBitPacked } from "./parquet-reader.ts";
export { pageAt, readAsParquet, readMetadata, topLevel } from "./plan-pages.ts";
