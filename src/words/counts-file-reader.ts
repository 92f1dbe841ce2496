import { closeSync, fstatSync, readSync } from "node:fs";
import { files, UserError } from "#runtime";
import * as countsFormat from "./counts-format.ts";
import type * as wordTables from "./word-table.ts";

/** Whether word counts at a path are text: if it ends in `.tsv`, or is stdout (`-`). */
export const isText = (path: string) => path === "-" || path.endsWith(".tsv");

/** A counts file that can be read several times. */
export type CountsSource = {
  readonly path: string;
  readonly totals: wordTables.CountsTotals;
};

/** Reads a counts file in the compact form, and closes it after its last word. */
export class CountsFileReader extends countsFormat.Reader {
  private readonly file: { fd: number };

  constructor(path: string, fd: number) {
    const stats = fstatSync(fd);
    super(path, readerOf(path, fd), stats.isFile() ? stats.size : undefined);
    this.file = { fd };
  }

  static open(path: string): CountsFileReader {
    const fd = openFile(path);
    try {
      return new CountsFileReader(path, fd);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  override next(): boolean {
    if (super.next()) return true;
    this.close();
    return false;
  }

  close(): void {
    if (this.file.fd >= 0) closeSync(this.file.fd);
    this.file.fd = -1;
  }
}

export const readerOf = (path: string, fd: number) => (into: Uint8Array) =>
  files.tryRead(path, () => readSync(fd, into));

export function openFile(path: string): number {
  const stats = files.stat(path);
  if (stats?.isDirectory())
    throw new UserError(`"${path}" is a directory, not a file of word counts`, {
      hint: "name the files in it, one by one or by a glob",
    });
  return files.openRegular(path);
}
