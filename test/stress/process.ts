import { binary } from "../binary.ts";
import { must } from "./outcome.ts";

export type Ended = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stderr: string;
  readonly elapsedMs: number;
};

export type RunOptions = {
  readonly cwd: string;
  readonly temporary: string;
  /** A file for standard input. */
  readonly stdin?: string | undefined;
  /** A command that starts the binary, such as `prlimit …` or `setpriv …`. */
  readonly wrapper?: readonly string[];
  /** The time in milliseconds after which a run counts as hung. */
  readonly hangMs?: number;
};

/** Starts the binary with only TMPDIR and PATH in its environment. */
export function start(args: readonly string[], options: RunOptions) {
  const { cwd, temporary, stdin, wrapper = [], hangMs = 120_000 } = options;
  const startMs = performance.now();
  const child = Bun.spawn([...wrapper, binary, ...args], {
    cwd,
    env: { TMPDIR: temporary, PATH: process.env.PATH },
    stdin: stdin === undefined ? "ignore" : Bun.file(stdin),
    stdout: "ignore",
    stderr: "pipe",
  });
  let hangs = false;
  const timer = setTimeout(() => {
    hangs = true;
    child.kill("SIGKILL");
  }, hangMs);
  const ended = async (): Promise<Ended> => {
    const [stderr] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    clearTimeout(timer);
    must(!hangs, () => `it hung: ${stderr}`);
    return {
      code: child.exitCode,
      signal: child.signalCode === null ? null : String(child.signalCode),
      stderr,
      elapsedMs: performance.now() - startMs,
    };
  };
  return { child, ended: ended() };
}

/** Runs the binary until it exits. */
export const run = (args: readonly string[], options: RunOptions) => start(args, options).ended;

/** Checks that a run succeeded, or failed with exit code 1 and a message. */
export function mustEndWell(ended: Ended): void {
  const { code, signal, stderr } = ended;
  must(signal === null, () => `it died by ${signal}, which nobody sent: ${stderr}`);
  must(code === 0 || code === 1, () => `it ended with ${code}: ${stderr}`);
  must(!/^\s+at .*:\d+/m.test(stderr), () => `a stack trace: ${stderr}`);
  must(!stderr.includes("internal error"), () => `an internal error: ${stderr}`);
  must(!/\(evaluating |ran out of/.test(stderr), () => `words of the runtime: ${stderr}`);
  if (code === 1) must(/bpe: error: ./.test(stderr), () => `exit 1 without a message: ${stderr}`);
}
