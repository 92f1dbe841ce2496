import { writeSync } from "node:fs";

const stdout = 1;

/**
 * Writes data to stdout, waiting where a reader is slow. A reader that has gone (`| head`) ends the process at once,
 * in silence and with success: it has what it wanted.
 */
export function writeStdout(chunks: Iterable<Uint8Array>): void {
  for (const chunk of chunks) {
    for (let done = 0; done < chunk.length; ) {
      try {
        done += writeSync(stdout, chunk, done);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === "EPIPE") process.exit(0);
        if (code !== "EAGAIN") throw error;
        Bun.sleepSync(1);
      }
    }
  }
}
