import { usageError } from "../errors.ts";
import type { Invocation } from "./arguments.ts";
import { lockOutputFile } from "./lock-outputs.ts";
import type { Output } from "./output.ts";

/** The file of `--report`, or undefined. Looks at no file. */
export function readReportPath({ options }: Invocation): string | undefined {
  const path = options.text("report");
  if (path === "" || path === "-") {
    throw usageError(`--report "${path}" names no file`, "name one, e.g. --report report.html");
  }
  return path;
}

/** The file of `--report`: checked that it can be written, and locked. */
export async function takeReportPlace(invocation: Invocation, output: Output): Promise<string | undefined> {
  const path = readReportPath(invocation);
  if (path !== undefined) await lockOutputFile(invocation, output, path);
  return path;
}
