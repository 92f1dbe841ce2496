import { spawnSync } from "node:child_process";

/**
 * Runs a program, and returns its standard output. If it fails, throws an error with all that it printed; if it cannot
 * be run, one with the reason.
 */
export function run(program: string, args: readonly string[], cwd?: string, env = process.env): string {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    env,
    ...(cwd && { cwd }),
  });
  if (status === 0) return stdout;
  const said = error === undefined ? `${stdout}${stderr}`.trim() : error.message;
  throw new Error(`${[program, ...args].join(" ")}: ${said}`);
}
