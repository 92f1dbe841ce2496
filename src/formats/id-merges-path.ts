import { readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { files } from "#runtime";

/** The first bytes of merges.txt in a tokenizer over ids. */
export const head = "#bpe-ids ";

/**
 * Returns the path of merges.txt if `path` is a tokenizer over ids: its directory, its merges.txt or its
 * tokenizer.json. Returns undefined for anything else.
 */
export function pathOf(path: string): string | undefined {
  const stats = files.stat(path);
  const isNamed = stats?.isFile() && ["merges.txt", "tokenizer.json"].includes(basename(path));
  // A pipe or a device is not a tokenizer, and no other files belong to it.
  if (!isNamed && !stats?.isDirectory()) return undefined;
  const mergesPath = join(isNamed ? dirname(path) : path, "merges.txt");
  return files.isFile(mergesPath) && readStart(mergesPath) === head ? mergesPath : undefined;
}

function readStart(path: string): string {
  const start = Buffer.alloc(head.length);
  return files.withRegular(path, (fd) => start.toString("latin1", 0, readSync(fd, start, 0, head.length, 0)));
}
