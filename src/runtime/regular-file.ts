import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { UserError } from "../errors.ts";
import { isMissing, reasonNotRead } from "./system-error.ts";

/**
 * Opens a file that the user named and that has to be a regular one; an error names it if it is not. A pipe is not waited
 * for: nobody may ever write to it, and no signal would be served meanwhile.
 */
export function openRegularFile(path: string): number {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error)) throw new UserError(`"${path}": no such file`);
    throw new UserError(`"${path}" cannot be read: ${reasonNotRead(error)}`);
  }
  const stats = fstatSync(fd);
  if (stats.isFile()) return fd;
  closeSync(fd);
  throw new UserError(`"${path}" is ${stats.isDirectory() ? "a directory, not a file" : "no regular file"}`);
}
