import { exitCode } from "../errors.ts";

/** What has to be undone if the run is stopped now. */
let cleanups: (() => void)[] = [];

/** Has `cleanup` called if a signal stops the run; returns how to call that off. It must be safe at any moment. */
export function onStop(cleanup: () => void): () => void {
  cleanups.push(cleanup);
  return () => {
    cleanups = cleanups.filter((other) => other !== cleanup);
  };
}

/** From now on SIGINT and SIGTERM undo what is half done, say so through `tell`, and end the process. */
export function serveSignals(tell: (how: string, exitCode: number) => void): void {
  const stop = (how: string, code: number) => () => {
    for (const cleanup of cleanups.toReversed()) {
      try {
        cleanup();
      } catch {}
    }
    tell(how, code);
    process.exit(code);
  };
  process.once("SIGINT", stop("interrupted", exitCode.interrupted));
  process.once("SIGTERM", stop("terminated", exitCode.terminated));
}
