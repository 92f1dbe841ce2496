// Entry of the binary: read the command line, run the command, end with its exit code.
import { run } from "./cli/run.ts";

// Not left to the event loop, which would wait some 40 ms until ended workers have freed their memory.
process.exit(await run(process.argv.slice(2)));
