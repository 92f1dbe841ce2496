import { type PlannedRanges, readPlan } from "../corpus/read-plan.ts";
import { UserError, usageError } from "../errors.ts";
import type { Invocation } from "./arguments.ts";
import type { Output } from "./output.ts";
import { chunksOf } from "./spool-pipes.ts";

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
  output: Output,
): Promise<PlannedRanges> {
  const source = path === "-" ? "standard input" : path;
  const hint = "bpe plan writes such files";
  const chunks = path === "-" ? Bun.stdin.stream() : chunksOf(path);
  const read: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of chunks) {
    sizeBytes += chunk.length;
    if (sizeBytes > planBytesMax) {
      throw new UserError(`--ranges: ${source} has more than ${planBytesMax >> 20} MB`, { hint });
    }
    read.push(chunk.slice());
  }
  const planned = readPlan(Buffer.concat(read).toString("utf8"), source, options);
  output.keepLogFrom(planned.inputs);
  return planned;
}

/** A plan of 400,000 ranges. */
const planBytesMax = 2 ** 28;
