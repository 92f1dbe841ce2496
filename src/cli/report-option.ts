import { readSync } from "node:fs";
import { UserError, usageError } from "../errors.ts";
import { reportHeadBytes, reportMark } from "../report/report-data.ts";
import { statOf, withRegularFile } from "../runtime/system-error.ts";
import type { Invocation } from "./arguments.ts";
import { lockOutputFile } from "./data-output.ts";
import type { Output } from "./output.ts";

/** The file of `--report`, or undefined. Looks at no file. */
export function readReportPath({ options }: Invocation): string | undefined {
  const path = options.text("report");
  if (path === "" || path === "-") {
    throw usageError(`--report "${path}" names no file`, "name one, e.g. --report report.html");
  }
  return path;
}

/** The file of `--report`: checked that it can be written and holds nothing else, and locked. */
export async function takeReportPlace(invocation: Invocation, output: Output): Promise<string | undefined> {
  const path = readReportPath(invocation);
  if (path === undefined) return undefined;
  await lockOutputFile(invocation, output, path);
  refuseOtherFile(path);
  return path;
}

/** Refuses a file that is no report: it may be one of the tokenizer itself. An empty file may be replaced. */
export function refuseOtherFile(path: string): void {
  const stats = statOf(path);
  if (!stats?.isFile() || stats.size === 0) return;
  if (headOf(path).includes(reportMark)) return;
  throw new UserError(`"${path}" is not replaced: it is no report that bpe wrote`, {
    hint: "choose another name, e.g. --report report.html",
  });
}

function headOf(path: string): string {
  const head = Buffer.alloc(reportHeadBytes);
  return withRegularFile(path, (fd) => head.toString("latin1", 0, readSync(fd, head, 0, reportHeadBytes, 0)));
}
