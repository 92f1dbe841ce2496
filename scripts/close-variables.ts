import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/**
 * Variables that change what the Bun runtime does. With most of them, it does something else before its embedded
 * program starts: runs as Bun itself, takes more options, preloads a script, opens a debugger or a channel to a parent
 * process. With the others, it writes a file when the program ends.
 */
export const closedVariables = [
  "BUN_BE_BUN",
  "BUN_OPTIONS",
  "BUN_INSPECT",
  "BUN_INSPECT_CONNECT_TO",
  "BUN_INSPECT_PRELOAD",
  "NODE_CHANNEL_FD",
  "BUN_BYTECODE_ORDER_OUT",
  "BUN_BYTECODE_ORDER_NAMES_OUT",
  "BUN_BYTECODE_DIGEST_OUT",
] as const;

/**
 * Makes an executable ignore these variables: in the list of names that its runtime looks up, the first letter of each
 * becomes a "=", which no shell allows there. Returns the names that were not found exactly once, and are left
 * unchanged. After the change, an executable for macOS has to be signed again.
 */
export function closeVariables(executable: string): string[] {
  const bytes = readFileSync(executable);
  const left: string[] = [];
  const fd = openSync(executable, "r+");
  for (const name of closedVariables) {
    const entry = Buffer.from(`\0${name}\0`);
    const pos = bytes.indexOf(entry);
    if (pos < 0 || bytes.indexOf(entry, pos + 1) >= 0) left.push(name);
    else writeSync(fd, "=", pos + 1);
  }
  closeSync(fd);
  return left;
}
