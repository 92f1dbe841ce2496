import { writeSync } from "node:fs";
import { UserError } from "../errors.ts";
import { reasonOf } from "../runtime/system-error.ts";
import { openToAppend, Untrusted } from "../store/trusted-files.ts";

/**
 * The file of `--log-file`: lines of text, each with the UTC time before it, and as the last line of a run its record
 * as JSON. It is appended to, a line in one write, so that several runs may share it, and `logrotate` may copy and
 * truncate it or move it away between two runs.
 */
export class LogFile {
  private fd: number | null = null;
  private hasFailed = false;
  /** Told once, when a line could not be written. */
  onFailure: (message: string) => void = () => {};

  constructor(private readonly path: string) {}

  /** Before any work: a UserError if it cannot be written. */
  open(): void {
    try {
      // Not waited for: a pipe without a reader is an error, not a run that never begins.
      this.fd ??= openToAppend(this.path);
    } catch (error) {
      if (error instanceof Untrusted)
        throw new UserError(`--log-file ${error.message}`, { hint: error.hint! });
      const reason = (error as NodeJS.ErrnoException).code === "ENXIO" ? "nobody reads it" : reasonOf(error);
      throw new UserError(`--log-file "${this.path}" cannot be written: ${reason}`);
    }
  }

  /** Text of several lines is written as so many. */
  line(text: string): void {
    const time = new Date().toISOString();
    this.write(text.replace(/^/gm, `${time} `));
  }

  record(content: object): void {
    this.write(JSON.stringify(content));
  }

  /** The work is worth more than its log: a full disk is told once, and the next line is tried all the same. */
  private write(text: string): void {
    try {
      // Closed still: the run ends before its work, with a mistake, or for want of this very file.
      this.open();
    } catch {
      return;
    }
    try {
      const bytes = Buffer.from(`${text}\n`);
      for (let pos = 0; pos < bytes.length; ) pos += writeSync(this.fd!, bytes, pos);
    } catch (error) {
      if (!this.hasFailed) this.onFailure(`--log-file "${this.path}": ${reasonOf(error)}`);
      this.hasFailed = true;
    }
  }
}
