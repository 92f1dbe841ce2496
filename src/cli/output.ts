import { jsonLine } from "../bytes/escape.ts";
import type { Skipped } from "../corpus/each-file-once.ts";
import type { Input } from "../corpus/input.ts";
import { refuseOverwriting } from "../corpus/outputs-among-inputs.ts";
import { exitCode } from "../errors.ts";
import type { StageProgress } from "../pipeline/stage-progress.ts";
import { userErrorOf } from "../runtime/system-error.ts";
import { describeHolder, type Holder } from "../store/output-lock.ts";
import type { LogFile } from "./log-file.ts";
import { optionWords } from "./option-table.ts";
import { oneOf } from "./option-values.ts";
import { createProgress, type ProgressDisplay, type ProgressMode, progressMode } from "./progress.ts";
import { writeStderr, writeStdout } from "./stream-writer.ts";
import {
  isDumb,
  isTerminal,
  type Line,
  type Piece,
  piece,
  printable,
  stylesFor,
  terminalColumns,
} from "./terminal.ts";
import { bytes } from "./units.ts";

export type OutputOptions = {
  readonly quiet: boolean;
  readonly progress: string;
  /** The command as a shell takes it, for the log. */
  readonly command: string;
  readonly log?: LogFile | undefined;
};

/** An estimate below this is not told to people. */
const worthTellingBytes = 1e8;

/** A summary; one that takes time to make is made if people or the log are to see it. */
type Summary = string | readonly string[] | (() => readonly string[]);

/** Writes lines for people to stdout. Data goes there elsewhere, as it is. */
export const writeLines = (lines: readonly Line[]) =>
  writeStdout([Buffer.from(`${printable(lines, stylesFor(1))}\n`)]);

/** What people, or the program that watches, see on stderr and in the log. All of it is escaped here and in the log. */
export class Output {
  private readonly startedAt = new Date().toISOString();
  private readonly mode: ProgressMode;
  private readonly display: ProgressDisplay;
  private readonly logged: ProgressDisplay | undefined;
  private success: { summary: Summary; record: object } = { summary: [], record: {} };

  constructor(private readonly options: OutputOptions) {
    const { quiet, progress, log } = options;
    const asked = oneOf("--progress", progress, optionWords.progress);
    this.mode = quiet ? "none" : progressMode(asked, () => isTerminal(2) && !isDumb());
    this.display = createProgress(this.mode, writeStderr, () => terminalColumns(2));
    this.logged = log && createProgress("log", (text) => log.line(text));
    if (log !== undefined) log.onFailure = (message) => this.showWarning(message);
  }

  /** Refuses a log that is one of the inputs: a directory, or a link, may have led to it. */
  keepLogFrom(inputs: readonly Input[]): void {
    const { log } = this.options;
    if (log === undefined) return;
    try {
      refuseOverwriting(inputs, [log.path]);
    } catch (error) {
      log.isRefused = true;
      throw error;
    }
  }

  /** How far a stage is. */
  progress(progress: StageProgress): void {
    this.display.update(progress);
    this.logged?.update(progress);
  }

  /** The memory that a stage will take, said before it starts. */
  tellMemory(stage: string, estimatedBytes: number): void {
    const message = `${stage} will take about ${bytes(estimatedBytes)} of memory`;
    this.options.log?.line(message);
    if (this.mode === "json") this.event("memory", { stage, estimatedBytes });
    else if (this.mode !== "none" && estimatedBytes >= worthTellingBytes) this.line(`bpe: ${message}`);
  }

  /** Another run is writing the output, and this one waits for its end. */
  waitFor(path: string, holder: Holder): void {
    const message = `waiting: "${path}" is being written by ${describeHolder(holder)}`;
    this.options.log?.line(message);
    if (this.mode === "json") this.event("waiting", { output: path, ...holder });
    else if (!this.options.quiet) this.line(`bpe: ${message}`);
  }

  warn(message: string): void {
    this.options.log?.line(`warning: ${message}`);
    this.showWarning(message);
  }

  /** Files that are not read. Each is in the log; the summary says how many there are. */
  tellSkipped(skipped: readonly Skipped[]): void {
    for (const { path, reason } of skipped) {
      this.options.log?.line(`skipped "${path}": it is ${reason}`);
      if (this.mode === "json") this.event("skipped", { path, reason });
    }
  }

  /**
   * What a run that went well has to say: `summary`, lines, to people, `record` to programs. `end` says it.
   */
  succeed(summary: Summary, record: object): void {
    this.success = { summary, record };
  }

  /** The end of a run that went well, when nothing is left to be undone. */
  end(): void {
    const { summary, record } = this.success;
    const { log, quiet } = this.options;
    const isRead = log !== undefined || (this.mode !== "json" && !quiet);
    const text =
      !isRead || summary === "" ? [] : typeof summary === "function" ? summary() : [summary].flat();
    if (text.length > 0) log?.line(text);
    this.endLog({ success: true, ...record });
    if (this.mode === "json") this.event("result", { success: true, ...record });
    else if (!quiet && text.length > 0) this.line(text);
  }

  /** The end of a run whose reader of stdout went away: success, in silence where people read. */
  endUnread(): void {
    const record = { success: true, unread: true };
    this.options.log?.line("the reader of stdout went away");
    this.endLog(record);
    if (this.mode === "json") this.event("result", record);
  }

  /** The end of a run that failed; returns the exit code. */
  fail(error: unknown): number {
    const { message, hint, code } = explain(error);
    const told = [[piece("red", "error:"), ` ${message}`]];
    if (hint !== undefined) told.push([piece("cyan", "hint:"), ` ${hint}`]);
    this.endWith(told, { success: false, error: message, hint, exitCode: code });
    return code;
  }

  /** The end of a run that a signal stops. */
  stop(how: string, exitCode: number): void {
    this.endWith([[how]], { success: false, error: how, exitCode });
  }

  private endWith(told: readonly (readonly Piece[])[], record: object): void {
    this.options.log?.line(told);
    this.endLog(record);
    if (this.mode === "json") this.event("result", record);
    else this.line(told.with(0, ["bpe: ", ...told[0]!]));
  }

  private endLog(record: object): void {
    const { log, command } = this.options;
    const endedAt = new Date().toISOString();
    log?.record({ event: "result", startedAt: this.startedAt, endedAt, command, ...record });
  }

  private showWarning(message: string): void {
    if (this.mode === "json") this.event("warning", { message });
    else if (!this.options.quiet) this.line([["bpe: ", piece("yellow", "warning:"), ` ${message}`]]);
  }

  private event(name: string, content: object): void {
    this.write(jsonLine({ event: name, ...content }));
  }

  private line(lines: string | readonly Line[]): void {
    this.write(printable(lines, stylesFor(2)));
  }

  private write(text: string): void {
    this.display.clear();
    writeStderr(`${text}\n`);
  }
}

function explain(error: unknown): { message: string; hint: string | undefined; code: number } {
  const told = userErrorOf(error);
  if (told !== undefined) return { message: told.message, hint: told.hint, code: told.exitCode };
  const reason = error instanceof Error ? error.message : String(error);
  return {
    message: `internal error: ${reason}`,
    hint: "this is a bug in bpe, please report it",
    code: exitCode.failed,
  };
}
