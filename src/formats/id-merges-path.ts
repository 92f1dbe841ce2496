import { readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isFile, statOf, withRegularFile } from "#runtime";

/** How the merges.txt of a tokenizer of ids begins. */
export const idMergesHead = "#bpe-ids ";

/** The merges over ids that a path names: a directory, or a file in it. Undefined if it is not a tokenizer of ids. */
export function idMergesPath(path: string): string | undefined {
  const stats = statOf(path);
  const isNamed = stats?.isFile() && ["merges.txt", "tokenizer.json"].includes(basename(path));
  // Anything else, a pipe, is not a tokenizer, and nothing is looked for below it.
  if (!isNamed && !stats?.isDirectory()) return undefined;
  const mergesPath = join(isNamed ? dirname(path) : path, "merges.txt");
  return isFile(mergesPath) && readStart(mergesPath) === idMergesHead ? mergesPath : undefined;
}

function readStart(path: string): string {
  const start = Buffer.alloc(idMergesHead.length);
  return withRegularFile(path, (fd) =>
    start.toString("latin1", 0, readSync(fd, start, 0, idMergesHead.length, 0)),
  );
}
