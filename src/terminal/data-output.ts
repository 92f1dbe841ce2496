import { fstatSync, write } from "node:fs";
import { asOption, type ByteSink, files, phrase, systemError, usageError, yieldToEventLoop } from "#runtime";
import { outputLock, outputPlaces, placesToWrite, stagedFile } from "#store";
import type { Output } from "./output.ts";
import { withoutBar } from "./progress.ts";
import { onStop } from "./stop.ts";
import { formatLines, isTerminal, type Line, stylesFor } from "./styling.ts";

/**
 * Writes data to stdout if the path is undefined or `-`. Otherwise writes it to a named pipe, to a device, or to a file
 * that appears when it is complete.
 */
export async function writeData<T>(
  path: string | undefined,
  make: (out: ByteSink) => Promise<T>,
): Promise<T> {
  if (path === undefined || path === "-") {
    const write = () => throughStream(new StreamWriter(), make);
    return isTerminal(stdout) ? withoutBar(write) : write();
  }
  if (stagedFile.placeOfFile(path) !== null) return stagedFile.write(path, onStop, make);
  // Opening a named pipe blocks until there is a reader. A thread of the runtime opens it, so that signals are handled
  // meanwhile. The module is loaded on demand, because loading it takes 0.4 ms.
  const { open } = await import("node:fs/promises");
  const file = await open(path, "w").catch((error) => {
    throw systemError.refusal(`"${path}" cannot be written`, error);
  });
  try {
    return await throughStream(new StreamWriter(file.fd, path), make);
  } finally {
    await file.close();
  }
}

async function throughStream<T>(out: StreamWriter, make: (out: ByteSink) => Promise<T>): Promise<T> {
  let made: T;
  try {
    made = await make(out);
  } catch (error) {
    // Output that was made before a mistake in the input is still written.
    await out.end().catch(() => {});
    throw error;
  }
  await out.end();
  return made;
}

/**
 * Waits until more may be written. Await it between two chunks: this bounds the memory, and signals are handled
 * meanwhile.
 */
export const drain = (out: ByteSink): Promise<void> => out.drain?.() ?? yieldToEventLoop();

export const writeChunks = (path: string | undefined, chunks: Iterable<Uint8Array>) =>
  writeData(path, async (out) => {
    for (const chunk of chunks) {
      out.write(chunk);
      await drain(out);
    }
  });

export const writeStdout = (text: string) => writeChunks(undefined, [Buffer.from(text)]);

export const writeLines = (lines: readonly Line[]) => writeStdout(`${formatLines(lines, stylesFor(1))}\n`);

/**
 * Writes a value to stdout as a line of JSON. The line is written in pieces, because the value's lists may be long:
 * tens of MB.
 */
export const writeJson = (value: unknown) => writeChunks(undefined, jsonLine(value));

function* jsonLine(value: unknown): Generator<Uint8Array> {
  for (const chunk of jsonChunks(value)) yield Buffer.from(chunk);
  yield Buffer.from("\n");
}

/** How many elements of a list are converted together. */
const sliceLength = 2_000;

/**
 * Yields in pieces what JSON.stringify returns for plain data in which no field is undefined. Long lists are split, so
 * that no piece takes long; lists inside lists are not split.
 */
export function* jsonChunks(value: unknown): Generator<string, void> {
  if (Array.isArray(value) && value.length > sliceLength) {
    for (let start = 0; start < value.length; start += sliceLength) {
      yield start === 0 ? "[" : ",";
      yield JSON.stringify(value.slice(start, start + sliceLength)).slice(1, -1);
    }
    yield "]";
  } else if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    let separator = "{";
    for (const [key, field] of Object.entries(value)) {
      yield `${separator}${JSON.stringify(key)}:`;
      yield* jsonChunks(field);
      separator = ",";
    }
    yield separator === "{" ? "{}" : "}";
  } else yield JSON.stringify(value);
}

/**
 * Thrown if the reader of stdout has exited, as `| head` does. The reader has read what it needed, so the run ends
 * silently, with success.
 */
export class ClosedReader extends Error {}

const stdout = 1;

/**
 * Writes data to stdout, to a named pipe or to a device. A thread of the runtime does this, so that signals are handled
 * even if a pipe's reader is slow or stops. If stdout is a file, it is written directly.
 */
class StreamWriter implements ByteSink {
  private readonly isFile: boolean;
  private queue: Uint8Array[] = [];
  private queuedBytes = 0;
  private isWriting = false;
  private error: unknown = null;
  private waiting: { resolve: () => void; whenBytes: number }[] = [];

  /** @param path the path of the pipe or the device, for messages; if left out, the stream is stdout */
  constructor(
    private readonly fd = stdout,
    private readonly path?: string,
  ) {
    this.isFile = isRegularFile(fd);
  }

  /**
   * Writes the chunk to a file, or queues a copy of it for a pipe or a device. Throws if writing an earlier chunk
   * failed, or, for a file, if writing this one fails.
   */
  write(chunk: Uint8Array): void {
    if (this.error !== null) throw this.error;
    if (this.isFile) {
      try {
        files.writeAll(this.fd, chunk);
      } catch (error) {
        throw this.errorOf(error);
      }
      return;
    }
    this.queue.push(chunk.slice());
    this.queuedBytes += chunk.length;
    if (!this.isWriting) void this.writeQueue();
  }

  /**
   * Returns undefined while the queue is not full. Otherwise returns a promise that resolves once the queue is not full
   * any more, or once `write` has an error to throw.
   */
  drain(): Promise<void> | undefined {
    return this.queuedBytes <= queuedBytesMax ? undefined : this.downTo(queuedBytesMax);
  }

  async end(): Promise<void> {
    await this.downTo(0);
    if (this.error !== null) throw this.error;
  }

  private downTo(whenBytes: number): Promise<void> {
    if (this.queuedBytes <= whenBytes || this.error !== null) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push({ resolve, whenBytes }));
  }

  private async writeQueue(): Promise<void> {
    this.isWriting = true;
    try {
      while (this.queue.length > 0) {
        const chunks = this.queue;
        this.queue = [];
        for (const chunk of joinSmall(chunks)) {
          for (let pos = 0; pos < chunk.length; ) {
            const size = await writeSome(this.fd, chunk.subarray(pos));
            pos += size;
            this.queuedBytes -= size;
            this.wake();
          }
        }
      }
    } catch (error) {
      this.error = this.errorOf(error);
      this.wake();
    }
    this.isWriting = false;
  }

  private errorOf(error: unknown): unknown {
    if (this.path === undefined) return errorOfStdout(error);
    return systemError.refusal(`"${this.path}" cannot be written`, error);
  }

  private wake(): void {
    const isReady = ({ whenBytes }: { whenBytes: number }) =>
      this.queuedBytes <= whenBytes || this.error !== null;
    for (const { resolve } of this.waiting.filter(isReady)) resolve();
    this.waiting = this.waiting.filter((one) => !isReady(one));
  }
}

const queuedBytesMax = 1 << 20;

const errorOfStdout = (error: unknown): unknown =>
  systemError.codeOf(error) === "EPIPE"
    ? new ClosedReader("the program that read stdout has closed it")
    : systemError.refusal("standard output cannot be written", error);

/** Joins the chunks if all are small, such as lines or single bytes, because each chunk would cost a system call. */
function joinSmall(chunks: readonly Uint8Array[]): readonly Uint8Array[] {
  const isSmall = chunks.every((chunk) => chunk.length < smallChunkBytes);
  return isSmall && chunks.length > 1 ? [Buffer.concat(chunks)] : chunks;
}

const smallChunkBytes = 1 << 16;

function writeSome(fd: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, 0, bytes.length, null, (error, size) => {
      if (error === null) resolve(size);
      else if (systemError.codeOf(error) !== "EAGAIN") reject(error);
      else setTimeout(() => resolve(0), 1);
    });
  });
}

function isRegularFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

/**
 * Checks that a directory and files can be written, and locks them until the end of the run. If another run holds a
 * lock, waits for the end of that run with `--wait`, and otherwise throws a UserError. In `paths`, `undefined` and `-`
 * are stdout, which needs no lock. If nothing needs a lock, `--wait` is refused.
 */
export async function lockOutputs(
  output: Output,
  directory: string | undefined,
  paths: readonly (string | undefined)[],
): Promise<void> {
  const files = paths.filter((path): path is string => path !== undefined && path !== "-");
  const places = placesToWrite.check(directory, files);
  if (output.waits && places.length === 0) {
    throw usageError(
      phrase`${asOption("wait")} needs an output file that another run may be writing, but this run writes only to stdout, a pipe or a device`,
      phrase`leave out ${asOption("wait")}, or write to a file: ${asOption("output", "FILE")}`,
    );
  }
  // All runs take their locks in the same order, so that no two runs wait for each other.
  places.sort((a, b) =>
    Buffer.compare(Buffer.from(outputPlaces.pathOf(a)), Buffer.from(outputPlaces.pathOf(b))),
  );
  for (const place of places) await lockOne(place, output);
}

export const lockFiles = (output: Output, ...paths: readonly (string | undefined)[]) =>
  lockOutputs(output, undefined, paths);

export const lockDirectory = (output: Output, path: string) => lockOutputs(output, path, []);

async function lockOne(place: outputPlaces.Place, output: Output): Promise<void> {
  let shown = "";
  for (;;) {
    const got = outputLock.take(place);
    if (outputLock.isLock(got)) {
      onStop(() => got.release());
      if (!got.isHeld)
        output.warn(
          `"${place.typed}": the file system has no locks, so a second run could write there at the same time`,
        );
      return;
    }
    if (!output.waits || outputLock.isLockedHere(place)) throw outputLock.heldError(place, got);
    if (nameOf(got) !== shown) output.waitFor(place.typed, got);
    shown = nameOf(got);
    await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
  }
}

const pollIntervalMs = 100;

const nameOf = ({ host, pid, since }: outputLock.Holder) => `${host} ${pid} ${since}`;
