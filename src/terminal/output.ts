import { writeSync } from "node:fs";
import { formatBytes, json } from "#bytes";
import type { inputSearch } from "#corpus";
import { type StageProgress, type stageProgress, warnings } from "#jobs";
import { sharedOptions } from "#options";
import {
  asOption,
  exitCode,
  files,
  type Message,
  messages,
  phrase,
  shorten,
  systemError,
  UserError,
} from "#runtime";
import { outputLock, trustedFiles, type writtenPlaces } from "#store";
import { createProgress, type ProgressDisplay, type ProgressMode } from "./progress.ts";
import {
  formatLines,
  isDumb,
  isTerminal,
  type Line,
  lineColumns,
  type Piece,
  piece,
  stylesFor,
  terminalColumns,
} from "./styling.ts";

type OutputOptions = {
  readonly quiet: boolean;
  readonly progress: string;
  /** `--wait`: wait for other runs that write the same output. */
  readonly waits?: boolean;
  readonly command: string;
  /** The path of `--log-file`. */
  readonly log?: string | undefined;
  /** The places of all outputs of the run. */
  readonly written?: writtenPlaces.WrittenPlaces;
  /** How messages on stderr spell options, if not as they are typed. */
  readonly spelling?: messages.Spelling | undefined;
};

/**
 * A summary of the run, for people or for the log, or a function that makes it on demand. The argument of the function
 * is the column where lines have to end; null means no limit.
 */
type Summary = string | readonly Line[] | ((columns: number | null) => readonly Line[]);

/** The smallest estimate of memory that is shown to people, in bytes. */
const worthTellingBytes = 1e8;

const stderr = 2;

/** Writes text to stderr. If that fails, for example because the reader has exited, the work continues. */
function writeStderr(text: string): void {
  try {
    files.writeAll(stderr, Buffer.from(text));
  } catch {}
}

/**
 * Writes messages for people, or for a watching program, to stderr and to the log. Escapes the text of the messages.
 */
export class Output {
  private readonly startedAt = new Date().toISOString();
  private readonly mode: ProgressMode;
  /** The displays of progress, on stderr and in the log. */
  private readonly displays: readonly ProgressDisplay[];
  private readonly log: LogFile | undefined;
  private success: { summary: Summary; record: object } = { summary: [], record: {} };
  /**
   * The path of each pipe that this run copied to a file, by the path of the copy. The path of standard input is `-`.
   */
  private readonly copies = new Map<string, string>();

  constructor(private readonly options: OutputOptions) {
    const { quiet, progress, log: logPath } = options;
    const log = logPath === undefined ? undefined : new LogFile(logPath);
    this.log = log;
    const asked = sharedOptions.common.progress.kind.read([progress], asOption("progress"));
    const canDraw = () => isTerminal(stderr) && !isDumb();
    this.mode = quiet ? "none" : asked !== "auto" ? asked : canDraw() ? "bar" : "plain";
    const shown = createProgress(this.mode, writeStderr, () => terminalColumns(stderr));
    this.displays = log === undefined ? [shown] : [shown, createProgress("log", (text) => log.line(text))];
    if (log !== undefined) log.onFailure = (message) => this.showWarning(message);
  }

  get waits(): boolean {
    return this.options.waits === true;
  }

  /** Refuses inputs that are also outputs, because a directory, a glob or a plan may have led to an output. */
  keepOutputsFrom(read: readonly writtenPlaces.RunInput[]): void {
    this.options.written?.refuseOverlap(read);
  }

  /** Opens the log, if there is one, before any work. Throws a UserError if the log cannot be written. */
  openLog(): void {
    this.log?.open();
  }

  /** Makes errors name the pipe `path` in place of `copyPath`, the file to which the run copied the pipe. */
  nameCopy(copyPath: string, path: string): void {
    this.copies.set(copyPath, path);
  }

  /** Returns the path of the pipe of which `path` is a copy; `path` itself if it is no copy. */
  typedPath(path: string): string {
    return this.copies.get(path) ?? path;
  }

  /** Stops writing to the log, because it is misplaced (`MisplacedOutput`): for example, it is an input. */
  dropLog(): void {
    if (this.log !== undefined) this.log.isRefused = true;
  }

  progress(progress: StageProgress): void {
    for (const display of this.displays) display.update(progress);
  }

  /** Shows the progress of verifying existing shards. */
  readonly checking = (done: number, total: number): void =>
    this.progress({ stage: "checking", done, total, unit: "bytes" });

  /** Shows the progress of encoding. */
  readonly encoding = ({ bytesDone: done, bytesTotal: total }: stageProgress.EncodeProgress): void =>
    this.progress({ stage: "encoding", done, total, unit: "bytes" });

  /**
   * Ends the stage. Its time counts until now if `found` states its result, or if it has reported no progress;
   * otherwise until its last report.
   */
  endStage(found?: string): void {
    for (const display of this.displays) display.end("took", found);
  }

  /** Ends the only stage of a run. The stage gets no line of its own, because the summary has the time of the run. */
  endOnlyStage(): void {
    for (const display of this.displays) display.end("told below");
  }

  tellMemory(stage: string, estimatedBytes: number): void {
    const message = `${stage} will take about ${formatBytes(estimatedBytes)} of memory`;
    this.log?.line(message);
    if (this.mode === "json") this.event("memory", { stage, estimatedBytes });
    else if (this.mode !== "none" && estimatedBytes >= worthTellingBytes) this.line(`bpe: ${message}`);
  }

  /** Reports that another run is writing the output, and that this run waits until the output is free. */
  waitFor(path: string, holder: outputLock.Holder): void {
    const message = `waiting: "${path}" is being written by ${outputLock.describeHolder(holder)}`;
    this.log?.line(message);
    if (this.mode === "json") this.event("waiting", { output: path, ...holder });
    else if (!this.options.quiet) this.line(`bpe: ${message}`);
  }

  /** The warnings of this run so far. */
  readonly warnings: string[] = [];

  warn(warning: Message): void {
    const message = shorten(messages.spell(warning));
    this.warnings.push(message);
    this.log?.line(`warning: ${message}`);
    this.showWarning(warning);
  }

  /** Logs and shows warnings that are given as data. */
  tell(given: readonly warnings.Warning[]): void {
    for (const warning of given) this.warn(warnings.format(warning));
  }

  /** Logs each file that is not read, and reports it to a watching program. */
  tellSkipped(skipped: readonly inputSearch.Skipped[]): void {
    for (const { path, reason } of skipped) {
      this.log?.line(`skipped "${path}": it is ${reason}`);
      if (this.mode === "json") this.event("skipped", { path, reason });
    }
  }

  /** Records the results of a successful run, which `end` prints: `summary` for people, `record` for programs. */
  succeed(summary: Summary, record: object): void {
    this.success = { summary, record };
  }

  end(): void {
    this.endStage();
    const { summary, record } = this.success;
    const { quiet } = this.options;
    const isShown = this.mode !== "json" && !quiet;
    const linesFor = (columns: number | null) =>
      summary === "" ? [] : typeof summary === "function" ? summary(columns) : [summary].flat();
    const logged = this.log === undefined ? [] : linesFor(null);
    this.endWith(logged, { success: true, ...record }, isShown ? linesFor(lineColumns(stderr)) : []);
  }

  /** Ends a run because the program that read its stdout has ended. This is a success, and people get no message. */
  endUnread(): void {
    this.endWith(["the program that read stdout has ended"], { success: true, unread: true }, []);
  }

  fail(error: unknown): number {
    const explained = explain(error, this.options.spelling);
    const message = this.withoutCopies(explained.message);
    const hint = explained.hint && this.withoutCopies(explained.hint);
    const { code } = explained;
    const lines = [[piece("red", "error:"), ` ${message}`]];
    if (hint !== undefined) lines.push([piece("cyan", "hint:"), ` ${hint}`]);
    this.failWith(lines, { success: false, error: message, hint, exitCode: code });
    return code;
  }

  stop(how: string, exitCode: number): void {
    this.failWith([[how]], { success: false, error: how, exitCode });
  }

  private withoutCopies(text: string): string {
    // The path of one copy may begin with that of another, so the longest paths are replaced first.
    const longestFirst = [...this.copies].sort(([a], [b]) => b.length - a.length);
    return longestFirst.reduce(
      (text, [copy, path]) => text.replaceAll(`"${copy}"`, files.nameOf(path)).replaceAll(copy, path),
      text,
    );
  }

  private failWith(lines: readonly (readonly Piece[])[], record: object): void {
    for (const display of this.displays) display.end("stopped after");
    this.endWith(lines, record, lines.with(0, ["bpe: ", ...lines[0]!]));
  }

  /** Ends the run: writes `logged` to the log, `shown` for people, and `record` for programs. */
  private endWith(logged: readonly Line[], record: object, shown: readonly Line[]): void {
    const { log } = this;
    const { command } = this.options;
    for (const display of this.displays) display.clear();
    if (logged.length > 0) log?.line(logged);
    const endedAt = new Date().toISOString();
    log?.record({ event: "result", startedAt: this.startedAt, endedAt, command, ...record });
    if (this.mode === "json") this.event("result", record);
    else if (shown.length > 0) this.line(shown);
  }

  private showWarning(warning: Message): void {
    const message = shorten(messages.spell(warning, this.options.spelling));
    if (this.mode === "json") this.event("warning", { message });
    else if (!this.options.quiet) this.line([["bpe: ", piece("yellow", "warning:"), ` ${message}`]]);
  }

  private event(name: string, content: object): void {
    this.write(json.line({ event: name, ...content }));
  }

  private line(lines: string | readonly Line[]): void {
    this.write(formatLines(lines, stylesFor(stderr)));
  }

  private write(text: string): void {
    for (const display of this.displays) display.clear();
    writeStderr(`${text}\n`);
  }
}

/**
 * The file of `--log-file`: lines of text, each after its UTC time. The last line of a run is its result as JSON. Each
 * line is appended in one write, so several runs may share the file, and `logrotate` may copy and truncate it, or move
 * it between two runs.
 */
class LogFile {
  private fd: number | null = null;
  private hasFailed = false;
  /** Whether nothing may be written to the log, because it is misplaced (`MisplacedOutput`). */
  isRefused = false;
  onFailure: (message: Message) => void = () => {};

  constructor(private readonly path: string) {}

  /** Opens the file, unless it is open. Throws a UserError if it cannot be written. */
  open(): void {
    try {
      // Opening a pipe without a reader is an error, because the run must not block.
      this.fd ??= trustedFiles.openToAppend(this.path);
    } catch (error) {
      if (error instanceof trustedFiles.Untrusted)
        throw new UserError(phrase`${asOption("log-file")} ${error.parts.message}`, {
          hint: error.parts.hint,
        });
      throw systemError.refusal(phrase`${asOption("log-file", `"${this.path}"`)} cannot be written`, error);
    }
  }

  line(lines: string | readonly Line[]): void {
    const time = new Date().toISOString();
    this.write(formatLines(lines).replace(/^/gm, `${time} `));
  }

  record(content: object): void {
    this.write(json.line(content));
  }

  /**
   * Writes lines. If that fails, they are lost, and the work continues. Only the first failure is reported, but later
   * lines are still attempted, because a full disk may get free space.
   */
  private write(text: string): void {
    if (this.isRefused) return;
    try {
      // The file is not open yet if the run fails before `openLog`, e.g. because of a mistake in the arguments. If it
      // cannot be opened now, nothing is logged.
      this.open();
    } catch {
      return;
    }
    try {
      // The write does not block: if the log is a pipe with a slow reader, it fails.
      const bytes = Buffer.from(`${text}\n`);
      for (let pos = 0; pos < bytes.length; ) pos += writeSync(this.fd!, bytes, pos);
    } catch (error) {
      if (!this.hasFailed)
        this.onFailure(
          phrase`${asOption("log-file", `"${this.path}"`)} cannot be written: ${systemError.reasonOf(error)}; the log is incomplete`,
        );
      this.hasFailed = true;
    }
  }
}

function explain(
  error: unknown,
  spelling?: messages.Spelling,
): { message: string; hint: string | undefined; code: number } {
  const known = systemError.userErrorOf(error);
  if (known !== undefined) return { ...known.spelled(spelling), code: known.exitCode };
  const reason = error instanceof Error ? error.message : String(error);
  return {
    message: `internal error: ${reason}`,
    hint: "this is a bug in bpe, please report it",
    code: exitCode.failed,
  };
}
