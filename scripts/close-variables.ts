import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/** Environment variables that change what the Bun runtime does before its embedded program starts, or when it ends. */
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
 * Makes an executable ignore these variables: in the names that its runtime looks up, "=" replaces the first letter, so
 * that no variable has such a name. Returns the names that were not found exactly once, and are left unchanged. An
 * executable for macOS has to be signed again afterwards.
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
