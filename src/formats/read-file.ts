import { fstatSync, readFileSync } from "node:fs";
import { UserError } from "../errors.ts";
import { withRegularFile } from "../runtime/named-files.ts";
import { parseJson } from "./checked-json.ts";

/** The runtime's longest text has twice as many characters, and no tokenizer comes near it. */
const sizeBytesMax = 2 ** 30;

export const readText = (path: string): string => readBytes(path).toString("utf8");

export const readBytes = (path: string): Buffer =>
  withRegularFile(path, (fd) => {
    const { size } = fstatSync(fd);
    if (size <= sizeBytesMax) return readFileSync(fd);
    throw new UserError(`"${path}" has ${size} bytes, and no file of a tokenizer more than ${sizeBytesMax}`);
  });

export const readJson = (path: string): unknown => parseJson(readText(path), path);
