import { writeSync } from "node:fs";
import { jsonLine } from "../bytes/escape.ts";
import { UserError } from "../errors.ts";
import { reasonOf, refusal } from "../runtime/system-error.ts";
import { openToAppend, Untrusted } from "../store/trusted-files.ts";
import { type Line, printable } from "./terminal.ts";

/**
 * The file of `--log-file`: lines of text, each after its UTC time. The last line of a run is its record as JSON. Each line
 * is appended in one write, so several runs may share the file, and `logrotate` may copy and truncate it, or move it away
 * between two runs.
 */
export class LogFile {
  private fd: number | null = null;
  private hasFailed = false;
  /** Nothing is written any more: it is a file that may not be. */
  isRefused = false;
  /** Called once, when a line cannot be written. */
  onFailure: (message: string) => void = () => {};

  constructor(readonly path: string) {}

  /** Called before any work. A UserError if the file cannot be written. */
  open(): void {
    try {
      // A pipe without a reader is an error, not a run that never begins.
      this.fd ??= openToAppend(this.path);
    } catch (error) {
      if (error instanceof Untrusted)
        throw new UserError(`--log-file ${error.message}`, { hint: error.hint! });
      throw refusal(`--log-file "${this.path}" cannot be written`, error);
    }
  }

  line(lines: string | readonly Line[]): void {
    const time = new Date().toISOString();
    this.write(printable(lines).replace(/^/gm, `${time} `));
  }

  record(content: object): void {
    this.write(jsonLine(content));
  }

  /** The work goes on if the log fails: a full disk is told once, and the next line is tried all the same. */
  private write(text: string): void {
    if (this.isRefused) return;
    try {
      // Still closed if the run ends before its work: for a mistake, or because this file cannot be opened.
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
