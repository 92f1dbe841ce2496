// Entry of the binary: read the command line, run the command, end with its exit code.
import { run } from "./cli/run.ts";

// Not left to the event loop, which waits until ended workers have taken all they had apart, some 40 ms.
process.exit(await run(process.argv.slice(2)));
