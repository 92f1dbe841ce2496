import { UserError } from "../../../errors.ts";

/** A page has no value for one of its rows: `index` counts from the first row of the page. */
export class NullValue extends Error {
  constructor(readonly index: number) {
    super("a value is null");
  }
}

/**
 * Runs what reads the insides of a Parquet file. The library, and our own code where a length is wrong, throw errors of
 * any kind: they become one that names the file.
 */
export function readingFile<Value>(path: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof UserError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw damagedParquet(path, reason);
  }
}

/** The same for a page whose first row is `firstRow`: a null becomes an error that names its row. */
export function readingRows<Value>(
  path: string,
  firstRow: number,
  textField: string,
  read: () => Value,
): Value {
  return readingFile(path, () => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof NullValue)) throw error;
      throw wrongRow(path, firstRow + error.index, `the column "${textField}" is null`);
    }
  });
}

export const damagedParquet = (path: string, reason: string) =>
  new UserError(`"${path}" is damaged, or not a Parquet file: ${reason}`);

/** The error of a row. People count rows from 1, as lines. */
export const wrongRow = (path: string, row: number, what: string) =>
  new UserError(`"${path}" row ${row + 1}: ${what}`);
