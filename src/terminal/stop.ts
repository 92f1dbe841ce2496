import { readFileSync } from "node:fs";
import { exitCode, isWindows } from "#runtime";

/** Functions to call at the end of the run, also if a signal or an uncaught error ends it. */
let cleanups: (() => void)[] = [];

/**
 * Registers `cleanup` to be called when the run ends or is stopped by a signal. Returns a function that unregisters it.
 * `cleanup` must be safe to call at any time.
 */
export function onStop(cleanup: () => void): () => void {
  cleanups.push(cleanup);
  return () => {
    cleanups = cleanups.filter((other) => other !== cleanup);
  };
}

export function undoAll(): void {
  for (let cleanup = cleanups.pop(); cleanup !== undefined; cleanup = cleanups.pop()) {
    try {
      cleanup();
    } catch {}
  }
}

/**
 * Installs signal handlers: SIGINT, SIGTERM and, unless it is ignored, SIGHUP undo half-done work, call `tell`, and end
 * the process. The handlers stay installed, so that a second signal does not end the process before all cleanups have
 * run.
 */
export function serveSignals(tell: (how: string, exitCode: number) => void): void {
  const stop = (how: string, code: number) => () => {
    undoAll();
    tell(how, code);
    process.exit(code);
  };
  process.on("SIGINT", stop("interrupted", exitCode.interrupted));
  // Windows sends SIGBREAK for Ctrl-Break.
  if (isWindows) process.on("SIGBREAK", stop("interrupted", exitCode.interrupted));
  process.on("SIGTERM", stop("terminated", exitCode.terminated));
  if (!isHangupIgnored()) process.on("SIGHUP", stop("hung up", exitCode.hungUp));
}

/** Installs handlers by which an uncaught error, such as one in an event, ends the run like any other error. */
export function serveCrashes(fail: (error: unknown) => number): void {
  const end = (error: unknown) => {
    undoAll();
    process.exit(fail(error));
  };
  process.on("uncaughtException", end);
  process.on("unhandledRejection", end);
}

/**
 * Whether the run was started with SIGHUP ignored, as by nohup, so that it continues when the terminal is closed. Only
 * Linux tells this; elsewhere, returns false.
 */
function isHangupIgnored(): boolean {
  if (isWindows) return false;
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1];
    return mask !== undefined && (BigInt(`0x${mask}`) & 1n) === 1n;
  } catch {
    return false;
  }
}
