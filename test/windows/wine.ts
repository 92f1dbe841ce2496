import { join, resolve } from "node:path";
import { openTerminal, type Session } from "../pseudo-terminal.ts";

/** The directory that setup.ts makes. */
export const home = resolve(import.meta.dir, "../../dist/windows");
/** The directory of the executable and of the programs for tests. */
export const programs = join(home, "programs");
/** The directory of Python for Windows. */
export const python = join(home, "python");
export const native = join(home, "native");
export const wineDirectory = join(home, "root/usr/lib/wine");
export const wineLibraries = join(home, "root/usr/lib/x86_64-linux-gnu");
const prefix = join(home, "prefix");
/** The root of drive C, whose paths are `C:\…` for programs. */
export const driveC = join(prefix, "drive_c");

const env = {
  HOME: home,
  // Wine treats file names as UTF-8 only in a locale with UTF-8.
  LC_ALL: "C.UTF-8",
  LD_LIBRARY_PATH: wineLibraries,
  WINEPREFIX: prefix,
  WINEDEBUG: "-all",
  // Disables .NET, the browser, and desktop menus.
  WINEDLLOVERRIDES: "mscoree=;mshtml=;winemenubuilder.exe=",
};

const wine = join(wineDirectory, "wine64");
const commandOf = (program: string, args: readonly string[]) => [wine, join(programs, program), ...args];

type Place = { readonly cwd: string; readonly input?: Uint8Array };
type Finished = { readonly code: number | null; readonly stdout: Buffer; readonly stderr: string };

/** Runs the executable for Windows to its end. */
export const bpeExe = (args: readonly string[], place: Place) => finished(commandOf("bpe.exe", args), place);

/** Runs the Python for Windows to its end. */
export const pythonExe = (args: readonly string[], place: Place) =>
  finished([wine, join(python, "python.exe"), ...args], place, 600_000);

function finished(command: string[], { cwd, input }: Place, timeout = 100_000): Finished {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, {
    cwd,
    env,
    stdin: input ?? "ignore",
    timeout,
  });
  return { code: exitCode, stdout, stderr: stderr.toString().replaceAll("\r\n", "\n") };
}

/** Starts a program of `programs`. */
export const start = (program: string, args: readonly string[], cwd: string) =>
  Bun.spawn(commandOf(program, args), { cwd, env, stdin: "pipe", stdout: "pipe", stderr: "pipe" });

/** Starts a program of `programs` on a console. */
export const startOnConsole = (program: string, args: readonly string[], cwd: string): Session =>
  openTerminal(commandOf(program, args), { cwd, env, columns: 200 });

/** Starts wine's server and services. Otherwise they would start again for each program, and end some seconds later. */
export function beginWine(): void {
  // The services keep running, and would keep inherited streams open.
  const stdio = ["ignore", "ignore", "ignore"] as ["ignore", "ignore", "ignore"];
  Bun.spawnSync([join(wineDirectory, "wineserver"), "-p"], { env, stdio });
  Bun.spawnSync([wine, "wineboot"], { env, stdio });
}

/** Ends all programs that still run in this wine, and its server. */
export function endWine(): void {
  Bun.spawnSync([join(wineDirectory, "wineserver"), "-k"], { env });
}
