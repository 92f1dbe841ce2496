import { isTooDeep, jsonLevelsMax } from "../bytes/schema.ts";
import { UserError } from "../errors.ts";

/** `path` is the file's name, for messages, here and below. */
export function parseJson(text: string, path: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError(`"${path}" is not JSON: ${(error as Error).message}`);
  }
  if (!isTooDeep(value)) return value;
  throw new UserError(`"${path}" is nested too deeply: ${jsonLevelsMax} levels are read`);
}

/** A JSON object, or an error that says where there is none. */
export function objectAt(value: unknown, path: string, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UserError(`"${path}": ${what} is missing or no object`);
  }
  return value as Record<string, unknown>;
}
