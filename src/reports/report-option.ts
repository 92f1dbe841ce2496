import { readSync } from "node:fs";
import { asOption, files, phrase, UserError, usageError } from "#runtime";
import { dataOutput, type Output } from "#terminal";
import * as pageHead from "./page-mark.ts";

const chooseAnother = {
  hint: phrase`choose another name for ${asOption("report")}, or remove that file`,
};

/** Rejects a `--report` path that cannot name a file, without accessing the file system. */
export function checkPath(path: string | undefined): void {
  if (path !== "" && path !== "-") return;
  throw usageError(
    phrase`${asOption("report", `"${path}"`)} does not name a file`,
    phrase`give a file name, e.g. ${asOption("report", "report.html")}`,
  );
}

/** Checks that the file of `--report` may be written or replaced, and locks it. */
export async function takePlace(path: string | undefined, output: Output): Promise<void> {
  checkPath(path);
  if (path === undefined) return;
  await dataOutput.lockFiles(output, path);
  refuseOtherFile(path);
}

/** The summary line for a report. */
export const writtenLine = (path: string | undefined) => (path === undefined ? [] : [`written ${path}`]);

/**
 * Rejects a path that leads to a socket, or to a nonempty file that is not a report of ours, because the report would
 * replace it.
 */
export function refuseOtherFile(path: string): void {
  const stats = files.stat(path);
  if (stats?.isSocket()) throw new UserError(`"${path}" is a socket, not a file`, chooseAnother);
  if (!stats?.isFile() || stats.size === 0) return;
  if (headOf(path).includes(pageHead.mark)) return;
  throw new UserError(`"${path}" is not replaced: it is not a report of bpe`, chooseAnother);
}

function headOf(path: string): string {
  const head = Buffer.alloc(pageHead.bytesMax);
  return files.withRegular(path, (fd) =>
    head.toString("latin1", 0, readSync(fd, head, 0, pageHead.bytesMax, 0)),
  );
}
