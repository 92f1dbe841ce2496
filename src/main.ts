// Entry of the binary: read the command line, run the command, end with its exit code.
import { run } from "./cli/run.ts";

process.exitCode = await run(process.argv.slice(2));
