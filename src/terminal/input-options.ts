import { closeSync, openSync, rmSync, statfsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  checkNames,
  type FoundInputs,
  findCorpus,
  hasFields,
  type Input,
  type InputOptions,
  inspectFirstStream,
  type PlannedRanges,
  readPlan,
  type Skipped,
} from "#corpus";
import type { NamedText } from "#evaluation";
import type { Named, RequestedTraining } from "#options";
import {
  asOption,
  isWindows,
  phrase,
  readErrorOf,
  refusal,
  statOf,
  UserError,
  usageError,
  withForwardSlashes,
  writeAll,
} from "#runtime";
import { ScratchDirectory } from "#store";
import type { Output } from "./output.ts";
import { onStop } from "./stop.ts";
import { uniqueNames } from "./tokenizer-options.ts";

/** Refuses names that are invalid, or that are given in addition to a plan. Reads no file. */
export function checkFiles(
  files: readonly string[],
  asked: Pick<RequestedTraining, "counts" | "inputFormat"> & { readonly ranges?: string | undefined },
): void {
  const { ranges, counts } = asked;
  if (ranges !== undefined && files.length > 0) {
    throw usageError(
      phrase`${asOption("ranges")} and "${files[0]}": a plan names its files itself`,
      "give either ranges or files",
    );
  }
  // Both options take the place of files.
  if (files.length > 0 || (ranges === undefined && counts === undefined)) checkNames(files, asked);
}

/** Lists the inputs as they are now, and the skipped files. */
export const openInputs = async (names: readonly string[], options: InputOptions, output: Output) =>
  inspectStreams(findFiles(names, options, output), options);

/** Like `openInputs`, without inspecting streams. */
export function findFiles(names: readonly string[], options: InputOptions, output: Output): FoundInputs {
  const found = findCorpus(names, options);
  output.keepOutputsFrom(found.inputs);
  output.tellSkipped(found.skipped);
  return found;
}

/**
 * Detects the format of the first stream, waiting for its beginning. Only then is it known whether any input has
 * fields.
 */
export async function inspectStreams(found: FoundInputs, options: InputOptions): Promise<FoundInputs> {
  const inputs = await inspectFirstStream(found.inputs, options);
  if (options.textField !== undefined && !inputs.some((input) => hasFields(input.format))) {
    const isSeen = inputs.filter(({ isStream }) => isStream).length < 2;
    throw usageError(
      phrase`${asOption("text-field", `"${options.textField}"`)} does not apply: ${isSeen ? "all inputs are plain text" : "no input has fields (only the first stream is checked)"}`,
      phrase`if they are JSON lines or Parquet, say so: ${asOption("input-format", "jsonl")} or parquet`,
    );
  }
  return { ...found, inputs };
}

/** Reads the ranges in a file (standard input for `-`), and lists their inputs as they are now. */
export async function openRanges(
  path: string,
  options: Parameters<typeof readPlan>[2],
  output: Output,
): Promise<PlannedRanges> {
  const source = path === "-" ? "standard input" : path;
  const read: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of path === "-" ? Bun.stdin.stream() : planChunks(path)) {
    sizeBytes += chunk.length;
    if (sizeBytes > planBytesMax) {
      const hint = "bpe plan writes such files";
      throw new UserError(phrase`${asOption("ranges")}: ${source} has more than ${planBytesMax >> 20} MB`, {
        hint,
      });
    }
    read.push(chunk.slice());
  }
  const planned = readPlan(Buffer.concat(read).toString("utf8"), source, options);
  output.keepOutputsFrom(planned.inputs);
  return planned;
}

/** The maximum size of a plan: about 400,000 ranges. */
const planBytesMax = 2 ** 28;

/**
 * Reads a plan, which is small compared with a corpus. Pipes, which might block, are refused, as by other options for
 * such files.
 */
function planChunks(path: string): AsyncGenerator<Uint8Array> {
  if (isPipe(path)) {
    throw new UserError(phrase`${asOption("ranges")}: "${path}" is not a regular file`, {
      hint: phrase`${asOption("ranges", "-")} reads a plan from standard input`,
    });
  }
  return chunksOf(path);
}

/**
 * Copies each path that is not a regular file (a pipe, a device) to an unnamed file. Returns, by path, the descriptors
 * of these files, positioned at the beginning. So readers never block: a pipe may have no writer, or a slow one, and
 * signals are handled only while other threads wait.
 */
export async function spoolPipes(paths: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const spooled = new Map<string, number>();
  const pipes = paths.filter(isPipe);
  if (pipes.length === 0) return spooled;
  const twice = pipes.find((path, i) => pipes.indexOf(path) < i);
  if (twice !== undefined) throw new UserError(`"${twice}" is named twice, but a pipe can be read only once`);
  const scratch = new ScratchDirectory();
  const forget = onStop(() => scratch.remove());
  try {
    for (const path of pipes) spooled.set(path, await spool(path, join(scratch.path, "pipe")));
  } finally {
    forget();
    scratch.remove();
  }
  return spooled;
}

/** Whether a path is neither a file nor a directory. A missing path is left to its reader. */
export function isPipe(path: string): boolean {
  const stats = statOf(path);
  return stats !== undefined && !stats.isFile() && !stats.isDirectory();
}

async function spool(path: string, copyPath: string): Promise<number> {
  try {
    await copyPipe(path, copyPath);
    return openSync(copyPath, "r");
  } finally {
    rmSync(copyPath, { force: true });
  }
}

/** Copies a pipe to its end into a new file. The copy may use at most half of the free space of its file system. */
export async function copyPipe(path: string, copyPath: string): Promise<void> {
  const stats = statOf(path);
  // Standard input may be a terminal.
  if (path !== "/dev/stdin" && (stats?.isCharacterDevice() || stats?.isBlockDevice())) {
    throw new UserError(`"${path}" is a device, which may never end`, { hint: "name a file or a pipe" });
  }
  const { bavail, bsize } = statfsSync(dirname(copyPath));
  let roomBytes = (bavail * bsize) / 2;
  const into = openSync(copyPath, "wx", 0o600);
  try {
    for await (const chunk of chunksOf(path)) {
      roomBytes -= chunk.length;
      if (roomBytes < 0) {
        throw new UserError(`${notCopied(path)}: it takes more than half of the free space there`, {
          hint: moreRoom,
        });
      }
      copy(chunk, into, path);
    }
  } finally {
    closeSync(into);
  }
}

/** Yields a path's data to its end. The runtime's threads wait for the data, so signals are handled. */
async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  // Standard input has no path on Windows.
  if (isWindows && path === "/dev/stdin") return yield* Bun.stdin.stream();
  const fail = (error: unknown) => {
    throw readErrorOf(path, error);
  };
  const { open } = await import("node:fs/promises");
  const from = await open(path, "r").catch(fail);
  try {
    const chunk = new Uint8Array(chunkSizeBytes);
    for (;;) {
      const { bytesRead } = await from.read(chunk, 0, chunk.length, null).catch(fail);
      if (bytesRead === 0) return;
      yield chunk.subarray(0, bytesRead);
    }
  } finally {
    await from.close();
  }
}

const chunkSizeBytes = 1 << 20;

function copy(bytes: Uint8Array, into: number, path: string): void {
  try {
    writeAll(into, bytes);
  } catch (error) {
    throw refusal(notCopied(path), error, moreRoom);
  }
}

const notCopied = (path: string) => `"${path}" is a pipe, and cannot be copied to $TMPDIR`;
const moreRoom = "set TMPDIR to a directory with free space, or write it to a file and name that file";

/** A text, with the names of its files as typed. */
type TypedText = { readonly name: string; readonly paths: readonly string[] };

/** Groups the values of `--text` by text: values with the same NAME are one text. Reads no file. */
export function readTexts(values: readonly Named[]): TypedText[] {
  const standardInputs = values.filter(({ path }) => path === "-");
  if (standardInputs.length > 1)
    throw usageError("standard input (-) is named twice, but can be read only once");
  const names = uniqueNames(values, nameOfText);
  const byName = Map.groupBy(values, (value) => value.name ?? value);
  return [...byName.values()].map((some) => ({
    name: names.get(some[0]!)!,
    paths: some.map(({ path }) => path),
  }));
}

/** Returns a file's name without the suffixes of format and compression. */
export function nameOfText(path: string): string {
  if (path === "-") return "stdin";
  const name = basename(path) || basename(dirname(path)) || path;
  return (
    name.replace(/(?<=.)\.(txt|text|md|jsonl|ndjson|json|parquet)?(\.(gz|gzip|zst|zstd))?$/i, "") || name
  );
}

/**
 * Returns the inputs of the texts, and all skipped files. Texts are read several times, so sources that can be read
 * only once (standard input, a pipe) are first copied to a file.
 */
export async function openTexts(
  texts: readonly TypedText[],
  options: InputOptions,
  scratch: ScratchDirectory,
  output: Output,
): Promise<{ texts: NamedText[]; found: FoundInputs }> {
  const opened: NamedText[] = [];
  const all = { inputs: [] as Input[], skipped: [] as Skipped[] };
  let copyCount = 0;
  for (const { name, paths } of texts) {
    /** Maps a copy to the name of its source. */
    const copied = new Map<string, string>();
    const files: string[] = [];
    for (const path of paths) {
      const isStream = path === "-" || isPipe(path);
      const file = isStream ? join(scratch.path, `stream-${copyCount++}`) : path;
      files.push(file);
      if (!isStream) continue;
      await copyPipe(path === "-" ? "/dev/stdin" : path, file);
      copied.set(withForwardSlashes(file), path);
    }
    const { inputs, skipped } = findCorpus(files, options);
    output.keepOutputsFrom(inputs);
    output.tellSkipped(skipped);
    opened.push({ name, inputs, paths: inputs.map(({ path }) => copied.get(path) ?? path) });
    all.inputs.push(...inputs);
    all.skipped.push(...skipped);
  }
  return { texts: opened, found: all };
}
