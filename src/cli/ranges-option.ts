import { readFile } from "node:fs/promises";
import { type PlannedRanges, readPlan } from "../corpus/read-plan.ts";
import { UserError, usageError } from "../errors.ts";
import { reasonNotRead } from "../runtime/system-error.ts";
import type { Invocation } from "./arguments.ts";

/** The path that `--ranges` names; undefined without that option. Looks at no file. */
export function rangesPath({ files, options }: Invocation): string | undefined {
  const path = options.text("ranges");
  if (path !== undefined && files.length > 0) {
    throw usageError(
      `--ranges and "${files[0]}": the ranges name their files themselves`,
      "give either ranges or files",
    );
  }
  for (const name of ["input-format", "include", "binary"]) {
    if (path !== undefined && options.has(name)) {
      throw usageError(`--ranges and --${name}: the ranges know their files, and what these are read as`);
    }
  }
  return path;
}

/** The ranges in the file, or in standard input for `-`, and their inputs as they are now. */
export async function openRanges(
  path: string,
  options: Parameters<typeof readPlan>[2],
): Promise<PlannedRanges> {
  if (path === "-") return readPlan(await Bun.stdin.text(), "standard input", options);
  return readPlan(await readWhole(path), path, options);
}

/** Signals are served meanwhile: the path may be a pipe to which nobody writes. */
async function readWhole(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UserError(`--ranges "${path}": ${reasonNotRead(error)}`, {
      hint: "bpe plan writes such files",
    });
  }
}
