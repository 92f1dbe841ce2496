import { readFileSync } from "node:fs";
import { exitCode } from "../errors.ts";

/** What has to be undone when the run ends, however it ends. */
let cleanups: (() => void)[] = [];

/** Has `cleanup` called when the run ends or a signal stops it; returns how to call that off. It must be safe at any moment. */
export function onStop(cleanup: () => void): () => void {
  cleanups.push(cleanup);
  return () => {
    cleanups = cleanups.filter((other) => other !== cleanup);
  };
}

/** Undoes what is still to be undone, the last first. */
export function undoAll(): void {
  for (let cleanup = cleanups.pop(); cleanup !== undefined; cleanup = cleanups.pop()) {
    try {
      cleanup();
    } catch {}
  }
}

/**
 * From now on SIGINT, SIGTERM and SIGHUP undo what is half done, say so through `tell`, and end the process. Handlers
 * stay: a second signal, sent while the first is served, must not end the process in the middle of it.
 */
export function serveSignals(tell: (how: string, exitCode: number) => void): void {
  const stop = (how: string, code: number) => () => {
    undoAll();
    tell(how, code);
    process.exit(code);
  };
  process.on("SIGINT", stop("interrupted", exitCode.interrupted));
  process.on("SIGTERM", stop("terminated", exitCode.terminated));
  if (!isHangupIgnored()) process.on("SIGHUP", stop("hung up", exitCode.hungUp));
}

/** What nobody caught, as in an event of the runtime's, ends the run like any error: cleaned up, in words. */
export function serveCrashes(fail: (error: unknown) => number): void {
  const end = (error: unknown) => {
    undoAll();
    process.exit(fail(error));
  };
  process.on("uncaughtException", end);
  process.on("unhandledRejection", end);
}

/** Whether who started us (nohup) wants the work to go on when the terminal is closed. */
function isHangupIgnored(): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1];
    return mask !== undefined && (BigInt(`0x${mask}`) & 1n) === 1n;
  } catch {
    return false;
  }
}
