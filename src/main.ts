// Entry of the binary: reads the command line, runs the command, and exits with its exit code.
import { readFileSync, writeSync } from "node:fs";
import { programVersion } from "#runtime";

/**
 * If arguments are too long for the system, or contain zero bytes, Python passes all of them in a file of JSON, whose
 * path is in BPE_ARGUMENTS.
 */
const { BPE_CALLER: caller, BPE_ARGUMENTS: listed } = process.env;
const typed: string[] =
  caller === "python" && listed ? JSON.parse(readFileSync(listed, "utf8")) : process.argv.slice(2);

/** Prints the version without loading other code. Returns false if it is not requested or cannot be written. */
function printVersion(): boolean {
  const [name = "", ...rest] = typed;
  if (rest.length > 0 || !programVersion.isVersionRequest(name)) return false;
  try {
    return writeSync(1, `${programVersion.versionLine}\n`) > programVersion.versionLine.length;
  } catch {
    return false;
  }
}

/**
 * For this many milliseconds after the start, the engine compiles a function only after ten times as many runs as usual
 * (`jitPolicy` in build.ts). A short run does nearly everything once, so compiling would cost more than it saves.
 */
const startMs = 50;

// The process is ended explicitly. Otherwise the event loop would wait some 40 ms until ended workers have freed their
// memory.
if (printVersion()) process.exit(0);
setTimeout(() => Bun.unsafe.setJITPolicy(1), startMs);
process.exit(await (await import("./main/run.ts")).run(typed));
