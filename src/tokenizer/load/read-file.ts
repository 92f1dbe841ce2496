import { closeSync, readFileSync, statSync } from "node:fs";
import { UserError } from "../../errors.ts";
import { openRegularFile } from "../../runtime/file-calls.ts";
import { reasonOf } from "../../runtime/system-error.ts";
import { parseJson } from "./checked-json.ts";

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

export const readJson = (path: string): unknown => parseJson(readText(path), path);

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
