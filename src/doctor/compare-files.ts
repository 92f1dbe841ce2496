import { closeSync, openSync, readSync } from "node:fs";
import { escapeBytes, groupDigits } from "#bytes";
import type { outputFiles } from "#formats";
import { files, UserError, yieldToEventLoop } from "#runtime";

/** What differs (a file, an input or something else), and a sentence that says how. */
export type Difference = { readonly what: string; readonly message: string };

/** @param message a predicate: when printed, it follows `what` */
export const difference = (what: string, message: string): Difference => ({
  what,
  message: `${what} ${message}`,
});

/** At most this many bytes are shown before the first byte that differs, and at most as many from it on. */
const shownBytes = 30;
const lineFeed = 10;

/** Says why a path is not a regular file; null if it is one. */
export function absence(path: string): string | null {
  if (files.isFile(path)) return null;
  return files.stat(path) === undefined ? "is missing" : "is not a regular file";
}

/**
 * Returns how a file differs from what training would write; null if it is equal. Throws a UserError if reading fails.
 */
async function compareFile(path: string, { chunks }: outputFiles.OutputFile): Promise<string | null> {
  const absent = absence(path);
  if (absent !== null) return absent;
  const fd = files.tryRead(path, () => openSync(path, "r"));
  try {
    const reader = new FileReader(fd, path);
    const differing = new DifferingLine();
    for (const chunk of chunks()) {
      const found = reader.next(chunk.length);
      const at = firstDifference(chunk, found);
      if (at >= 0) return differing.describe(chunk, found, at, reader.next(shownBytes));
      differing.pass(chunk);
      await yieldToEventLoop();
    }
    const rest = reader.next(1);
    return rest.length === 0
      ? null
      : `has more than the ${groupDigits(differing.bytes)} bytes that training gives`;
  } finally {
    closeSync(fd);
  }
}

/** Returns the first position at which the bytes differ, or where `found` ends early; -1 if they are equal. */
function firstDifference(wanted: Uint8Array, found: Uint8Array): number {
  if (Buffer.compare(wanted, found) === 0) return -1;
  let at = 0;
  while (at < found.length && wanted[at] === found[at]) at++;
  return at;
}

/** Reads a file from start to end. */
class FileReader {
  private offsetByte = 0;

  constructor(
    private readonly fd: number,
    private readonly path: string,
  ) {}

  /** Returns the next `wantedBytes` bytes; fewer at the end of the file. */
  next(wantedBytes: number): Uint8Array {
    const bytes = new Uint8Array(wantedBytes);
    let length = 0;
    while (length < wantedBytes) {
      const read = files.tryRead(this.path, () =>
        readSync(this.fd, bytes, length, wantedBytes - length, this.offsetByte),
      );
      if (read === 0) break;
      length += read;
      this.offsetByte += read;
    }
    return bytes.subarray(0, length);
  }
}

/** Counts the lines and bytes of equal chunks, and describes the first difference. */
class DifferingLine {
  bytes = 0;
  private lineFeeds = 0;
  /** The last bytes of earlier chunks. */
  private before = new Uint8Array(0);

  pass(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) this.lineFeeds++;
    this.before = Buffer.concat([this.before, chunk]).subarray(-shownBytes).slice();
  }

  /** @param after bytes of the file that follow `found` */
  describe(wanted: Uint8Array, found: Uint8Array, at: number, after: Uint8Array): string {
    const lines = this.lineFeeds + wanted.subarray(0, at).filter((byte) => byte === lineFeed).length;
    const shown = (bytes: Uint8Array) => {
      const line = Buffer.concat([this.before, bytes]);
      const pos = this.before.length + at;
      const from = Math.max(pos - shownBytes, line.lastIndexOf(lineFeed, pos - 1) + 1, 0);
      const end = line.indexOf(lineFeed, pos);
      const text = escapeBytes(line.subarray(from, Math.min(pos + shownBytes, end < 0 ? line.length : end)));
      return `"${text}"`;
    };
    const theirs =
      at === found.length && after.length === 0
        ? "but the file ends there"
        : `but the file has ${shown(Buffer.concat([found, after]))}`;
    return `differs in line ${groupDigits(lines + 1)}: training gives ${shown(wanted)}, ${theirs}`;
  }
}

/** Compares a file with what training would write. A file that cannot be read is a difference. */
export async function differenceOf(
  name: string,
  path: string,
  file: outputFiles.OutputFile,
): Promise<Difference | null> {
  try {
    const message = await compareFile(path, file);
    return message === null ? null : { what: name, message: `${name} ${message}` };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { what: name, message: `${name} cannot be compared: ${error.message}` };
  }
}
