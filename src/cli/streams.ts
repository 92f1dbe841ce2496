import { writeSync } from "node:fs";

const stdout = 1;
const stderr = 2;

/**
 * Writes data to stdout, waiting where a reader is slow. A reader that has gone (`| head`) ends the process at once,
 * in silence and with success: it has what it wanted.
 */
export function writeStdout(chunks: Iterable<Uint8Array>): void {
  for (const chunk of chunks) {
    try {
      writeWhole(stdout, chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EPIPE") process.exit(0);
      throw error;
    }
  }
}

/** Tells people; if nobody listens any more, the work goes on. */
export function writeStderr(text: string): void {
  try {
    writeWhole(stderr, Buffer.from(text));
  } catch {}
}

function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Bun.sleepSync(1);
    }
  }
}
