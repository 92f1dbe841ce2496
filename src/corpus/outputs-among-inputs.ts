import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "../errors.ts";
import type { Input } from "./input.ts";

/**
 * Refuses an input in a directory that the run writes: if a directory of texts contained its own older result, every result
 * would differ from the one before.
 */
export function refuseOwnResults(
  inputs: readonly Pick<Input, "path" | "isStream">[],
  written: readonly (string | undefined)[],
): void {
  const results = written.flatMap((path) => (path === undefined ? [] : (realPathOf(path) ?? [])));
  const folders = new Map<string, string | undefined>();
  for (const { path, isStream } of inputs) {
    if (isStream || results.length === 0) continue;
    const folder = dirname(path);
    if (!folders.has(folder)) folders.set(folder, realPathOf(folder));
    const result = results.find((result) => `${folders.get(folder)}/`.startsWith(`${result}/`));
    if (result === undefined) continue;
    throw new UserError(`"${path}" is in "${result}", which this run writes`, {
      hint: "write to a place outside of the corpus, or say which files are meant (--include)",
    });
  }
}

/** Refuses to write a file that is an input: it would be replaced by what is made of it. */
export function refuseOverwriting(
  inputs: readonly Pick<Input, "path" | "isStream" | "device" | "inode">[],
  written: readonly (string | undefined)[],
): void {
  for (const output of written) {
    if (output === undefined) continue;
    const stats = statSync(output, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    const same = ({ isStream, device, inode }: (typeof inputs)[number]) =>
      !isStream && device === stats.dev && inode === stats.ino;
    const input = inputs.find(same);
    if (input === undefined) continue;
    throw new UserError(`"${input.path}" is read, and what is made of it would take its place`, {
      hint: "choose another output",
    });
  }
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
