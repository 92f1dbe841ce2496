import { fstatSync, write, writeSync } from "node:fs";
import { codeOf, refusal } from "../runtime/system-error.ts";
import { nextTurn } from "../runtime/turns.ts";

const stdout = 1;
const stderr = 2;

/** The reader of stdout has gone (`| head`). It has what it wanted, so the run ends in silence, with success. */
export class ReaderGone extends Error {}

/**
 * Writes data to stdout or into a named pipe. A pipe whose reader is slow, or stops reading, must not keep the run from
 * serving signals, so a thread of the runtime writes to it. A file is written straight away.
 */
export class StreamWriter {
  private readonly isFile: boolean;
  /** Chunks that the pipe has not taken yet. */
  private queue: Uint8Array[] = [];
  private queuedBytes = 0;
  private isWriting = false;
  private error: unknown = null;
  private waiting: { resolve: () => void; whenBytes: number }[] = [];

  /** `path` is for messages; without it the stream is stdout. */
  constructor(
    private readonly fd = stdout,
    private readonly path?: string,
  ) {
    this.isFile = isRegularFile(fd);
  }

  /** Takes a copy of the chunk. Throws the error of an earlier one. */
  write(chunk: Uint8Array): void {
    if (this.error !== null) throw this.error;
    if (this.isFile) {
      try {
        writeWhole(this.fd, chunk);
      } catch (error) {
        throw this.errorOf(error);
      }
      return;
    }
    this.queue.push(chunk.slice());
    this.queuedBytes += chunk.length;
    if (!this.isWriting) void this.writeQueue();
  }

  /** Undefined while there is room; else resolves when there is again, or when `write` has an error to throw. */
  drained(): Promise<void> | undefined {
    return this.queuedBytes <= queuedBytesMax ? undefined : this.downTo(queuedBytesMax);
  }

  /** Resolves when everything is written. */
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
    return refusal(`"${this.path}" cannot be written`, error);
  }

  private wake(): void {
    const isReady = ({ whenBytes }: { whenBytes: number }) =>
      this.queuedBytes <= whenBytes || this.error !== null;
    for (const { resolve } of this.waiting.filter(isReady)) resolve();
    this.waiting = this.waiting.filter((one) => !isReady(one));
  }
}

const queuedBytesMax = 1 << 20;

/** What an error of writing to stdout means. */
export const errorOfStdout = (error: unknown): unknown =>
  codeOf(error) === "EPIPE"
    ? new ReaderGone("the reader of stdout has gone")
    : refusal("standard output cannot be written", error);

/** Writes data to stdout, in bounded memory. */
export async function writeStdout(chunks: Iterable<Uint8Array>): Promise<void> {
  const out = new StreamWriter();
  for (const chunk of chunks) {
    out.write(chunk);
    await (out.drained() ?? nextTurn());
  }
  await out.end();
}

/** Writes a message for people; if nobody reads it, the work goes on. */
export function writeStderr(text: string): void {
  try {
    writeWhole(stderr, Buffer.from(text));
  } catch {}
}

/** Joins chunks that are lines or single bytes, which would take a system call each. */
function joinSmall(chunks: readonly Uint8Array[]): readonly Uint8Array[] {
  const isSmall = chunks.every((chunk) => chunk.length < smallChunkBytes);
  return isSmall && chunks.length > 1 ? [Buffer.concat(chunks)] : chunks;
}

const smallChunkBytes = 1 << 16;

function writeSome(fd: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, 0, bytes.length, null, (error, size) => {
      if (error === null) resolve(size);
      else if (codeOf(error) !== "EAGAIN") reject(error);
      else setTimeout(() => resolve(0), 1);
    });
  });
}

export function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") throw error;
      Bun.sleepSync(1);
    }
  }
}

function isRegularFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}
