// Entry of the binary: read the command line, run the command, end with its exit code.
import { writeSync } from "node:fs";
import { isVersionRequest, versionLine } from "#runtime";

const typed = process.argv.slice(2);

/** The version is said without the code that reads a command line, if stdout takes it at once. */
function saysVersion(): boolean {
  const [name = "", ...rest] = typed;
  if (rest.length > 0 || !isVersionRequest(name)) return false;
  try {
    return writeSync(1, `${versionLine}\n`) > versionLine.length;
  } catch {
    return false;
  }
}

// Not left to the event loop, which would wait some 40 ms until ended workers have freed their memory.
process.exit(saysVersion() ? 0 : await (await import("./main/run.ts")).run(typed));
