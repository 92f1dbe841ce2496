import { closeSync, readFileSync, statSync } from "node:fs";
import { UserError } from "../../errors.ts";
import { openRegularFile } from "../../runtime/file-calls.ts";
import { reasonOf } from "../../runtime/system-error.ts";

export const readText = (path: string): string => readBytes(path).toString("utf8");

export function readBytes(path: string): Buffer {
  const fd = openRegularFile(path);
  try {
    return readFileSync(fd);
  } catch (error) {
    throw new UserError(`"${path}" cannot be read: ${reasonOf(error)}`);
  } finally {
    closeSync(fd);
  }
}

export function readJson(path: string): unknown {
  const text = readText(path);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError(`"${path}" is not JSON: ${(error as Error).message}`);
  }
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** A JSON object, or an error that says where there is none. */
export function objectAt(value: unknown, path: string, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UserError(`"${path}": ${what} is missing or no object`);
  }
  return value as Record<string, unknown>;
}

export function refuse(path: string, what: string, hint?: string): never {
  throw new UserError(`"${path}" cannot be reproduced exactly: ${what}`, hint === undefined ? {} : { hint });
}
