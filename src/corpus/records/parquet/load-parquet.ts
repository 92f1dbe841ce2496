import type { TextMemory } from "../../text-memory.ts";
import type { RecordBatch } from "../record-batch.ts";

/**
 * What reads Parquet, and the packages it stands on. They are loaded when they are first asked for: that takes some
 * 10 ms, half of the start of the program, and most runs read none.
 */
export const planParquet: typeof import("./plan-pages.ts").planInputPages = (...args) =>
  (require("./plan-pages.ts") as typeof import("./plan-pages.ts")).planInputPages(...args);

export const createParquetReader = (memory?: TextMemory, batch?: RecordBatch) => {
  const { ParquetReader } = require("./parquet-reader.ts") as typeof import("./parquet-reader.ts");
  return new ParquetReader(undefined, memory, batch);
};
