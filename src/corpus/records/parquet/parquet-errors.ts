import { UserError } from "../../../errors.ts";

/**
 * Runs what reads the insides of a Parquet file. The library, and whatever meets lengths that lie, throws errors of any
 * kind: they become one that names the file.
 */
export function reading<Value>(path: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof UserError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw damaged(path, reason);
  }
}

export const damaged = (path: string, reason: string) =>
  new UserError(`"${path}" is damaged, or not a Parquet file: ${reason}`);
