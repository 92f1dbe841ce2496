import { planFile } from "#corpus";
import { asOption, files, phrase, UserError } from "#runtime";
import type { Output } from "./output.ts";
import { chunksOf, isPipe } from "./pipes.ts";

/**
 * Reads the ranges in a plan (from standard input for `-`), and looks up the files that they name. Throws a UserError
 * for a file that has changed since the plan was made, or that this run writes.
 */
export async function openRanges(
  path: string,
  options: Parameters<typeof planFile.read>[2],
  output: Output,
): Promise<planFile.PlannedRanges> {
  const read: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of path === "-" ? Bun.stdin.stream() : planChunks(path)) {
    sizeBytes += chunk.length;
    if (sizeBytes > planBytesMax) {
      const hint = "give a file that bpe plan wrote, or some of its lines";
      throw new UserError(
        phrase`${asOption("ranges")}: ${files.nameOf(path)} has more than ${planBytesMax >> 20} MB, the most that a plan may have`,
        {
          hint,
        },
      );
    }
    read.push(chunk.slice());
  }
  const planned = planFile.read(Buffer.concat(read).toString("utf8"), files.nameOf(path), options);
  output.keepOutputsFrom(planned.inputs);
  return planned;
}

/** The maximum size of a plan in bytes. Unless paths are long, the line of a range takes about 300 to 400 bytes. */
const planBytesMax = 2 ** 28;

/** Reads a plan from a file. Refuses a pipe, which may block, and a device, which may never end. */
function planChunks(path: string): AsyncGenerator<Uint8Array> {
  if (isPipe(path)) {
    throw new UserError(phrase`${asOption("ranges")}: "${path}" is not a regular file`, {
      hint: phrase`write the plan to a file, or pass it on standard input: ${asOption("ranges", "-")}`,
    });
  }
  return chunksOf(path);
}
