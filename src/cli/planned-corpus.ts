import { readFileSync } from "node:fs";
import type { CutOptions } from "../corpus/plan-lines.ts";
import { type PlannedRanges, readPlan } from "../corpus/read-plan.ts";
import { UserError } from "../errors.ts";
import { usageError } from "./arguments.ts";
import type { Invocation } from "./run.ts";

/** The ranges that `--ranges` names and their files as they are now; undefined without that option. */
export async function openPlannedRanges(
  { files, options }: Invocation,
  cutOptions: CutOptions,
): Promise<PlannedRanges | undefined> {
  const path = options.get("ranges")?.[0];
  if (path === undefined) return undefined;
  if (files.length > 0) {
    throw usageError(
      `--ranges and "${files[0]}": the ranges name their files themselves`,
      "give either ranges or files",
    );
  }
  if (path === "-") return readPlan(await Bun.stdin.text(), "standard input", cutOptions);
  return readPlan(readWhole(path), path, cutOptions);
}

function readWhole(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason =
      code === "ENOENT"
        ? "no such file"
        : code === "EACCES"
          ? "permission denied"
          : code === "EISDIR"
            ? "it is a directory"
            : code;
    throw new UserError(`--ranges "${path}": ${reason}`, { hint: "bpe plan writes such files" });
  }
}
