import { fstatSync, writeSync } from "node:fs";
import { countNoun, escapeText, formatBytes, groupDigits, jsonLine } from "#bytes";
import type { FoundInputs, Input, InputFormat, Skipped } from "#corpus";
import { type EncodeProgress, formatWarning, type StageProgress, type Warning } from "#jobs";
import { trainingOptions } from "#options";
import { exitCode, openLibc, reasonOf, refusal, shorten, UserError, userErrorOf, writeAll } from "#runtime";
import {
  describeHolder,
  type Holder,
  openToAppend,
  type RunInput,
  Untrusted,
  type WrittenPlaces,
} from "#store";
import { createProgress, type ProgressDisplay, type ProgressMode } from "./progress.ts";
import { usualColumns } from "./summary-rows.ts";

export type OutputOptions = {
  readonly quiet: boolean;
  readonly progress: string;
  /** `--wait`: for other runs that write the same. */
  readonly waits?: boolean;
  readonly command: string;
  readonly log?: LogFile | undefined;
  /** All that the run writes. */
  readonly written?: WrittenPlaces;
};

/**
 * A summary; one that takes time to make is made if people or the log are to see it. It is told where its lines have to end;
 * null: nowhere.
 */
type Summary = string | readonly Line[] | ((columns: number | null) => readonly Line[]);

/** An estimate below this is not told to people. */
const worthTellingBytes = 1e8;

const stderr = 2;

/** Writes a message for people; if nobody reads it, the work goes on. */
function writeStderr(text: string): void {
  try {
    writeAll(stderr, Buffer.from(text));
  } catch {}
}

/** What people, or the program that watches, see on stderr and in the log. All of it is escaped here and in the log. */
export class Output {
  private readonly startedAt = new Date().toISOString();
  private readonly mode: ProgressMode;
  /** What stderr shows, and what the log holds. */
  private readonly displays: readonly ProgressDisplay[];
  private success: { summary: Summary; record: object } = { summary: [], record: {} };

  constructor(private readonly options: OutputOptions) {
    const { quiet, progress, log } = options;
    const asked = trainingOptions.progress.kind.read([progress], "--progress");
    const canDraw = () => isTerminal(stderr) && !isDumb();
    this.mode = quiet ? "none" : asked !== "auto" ? asked : canDraw() ? "bar" : "plain";
    const shown = createProgress(this.mode, writeStderr, () => terminalColumns(stderr));
    this.displays = log === undefined ? [shown] : [shown, createProgress("log", (text) => log.line(text))];
    if (log !== undefined) log.onFailure = (message) => this.showWarning(message);
  }

  get waits(): boolean {
    return this.options.waits === true;
  }

  /** Refuses to write what is read: a directory, a glob or a plan may have led to it. */
  keepOutputsFrom(read: readonly RunInput[]): void {
    this.options.written?.refuseOverlap(read);
  }

  /** Nothing is written into the log any more: it is a file of something else. */
  dropLog(): void {
    if (this.options.log !== undefined) this.options.log.isRefused = true;
  }

  progress(progress: StageProgress): void {
    for (const display of this.displays) display.update(progress);
  }

  /** What reading shards that are there reports to. */
  readonly checking = (done: number, total: number): void =>
    this.progress({ stage: "checking", done, total, unit: "bytes" });

  /** What encoding reports to. */
  readonly encoding = ({ bytesDone: done, bytesTotal: total }: EncodeProgress): void =>
    this.progress({ stage: "encoding", done, total, unit: "bytes" });

  /** The stage ends now, and this is what it found; without it, the stage ended with its last report. */
  endStage(found?: string): void {
    for (const display of this.displays) display.end("took", found);
  }

  /** The stage ends with its last report; the summary says how long the run took. */
  endOnlyStage(): void {
    for (const display of this.displays) display.end("told below");
  }

  tellMemory(stage: string, estimatedBytes: number): void {
    const message = `${stage} will take about ${formatBytes(estimatedBytes)} of memory`;
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

  /** What this run was warned of, so far. */
  readonly warnings: string[] = [];

  warn(text: string): void {
    const message = shorten(text);
    this.warnings.push(message);
    this.options.log?.line(`warning: ${message}`);
    this.showWarning(message);
  }

  /** Warns of what a run found, in the words of the command line. */
  tell(warnings: readonly Warning[]): void {
    for (const warning of warnings) this.warn(formatWarning(warning));
  }

  /** Files that are not read. Each is in the log; the summary says how many there are. */
  tellSkipped(skipped: readonly Skipped[]): void {
    for (const { path, reason } of skipped) {
      this.options.log?.line(`skipped "${path}": it is ${reason}`);
      if (this.mode === "json") this.event("skipped", { path, reason });
    }
  }

  /** What a run that went well has to say: `summary`, lines, to people, `record` to programs. `end` says it. */
  succeed(summary: Summary, record: object): void {
    this.success = { summary, record };
  }

  end(): void {
    this.endStage();
    const { summary, record } = this.success;
    const { log, quiet } = this.options;
    const isShown = this.mode !== "json" && !quiet;
    const linesFor = (columns: number | null) =>
      summary === "" ? [] : typeof summary === "function" ? summary(columns) : [summary].flat();
    const logged = log === undefined ? [] : linesFor(null);
    this.endWith(logged, { success: true, ...record }, isShown ? linesFor(lineColumns(stderr)) : []);
  }

  /** The end of a run whose reader of stdout went away: success, in silence where people read. */
  endUnread(): void {
    this.endWith(["the reader of stdout went away"], { success: true, unread: true }, []);
  }

  fail(error: unknown): number {
    const { message, hint, code } = explain(error);
    const lines = [[piece("red", "error:"), ` ${message}`]];
    if (hint !== undefined) lines.push([piece("cyan", "hint:"), ` ${hint}`]);
    this.failWith(lines, { success: false, error: message, hint, exitCode: code });
    return code;
  }

  stop(how: string, exitCode: number): void {
    this.failWith([[how]], { success: false, error: how, exitCode });
  }

  private failWith(lines: readonly (readonly Piece[])[], record: object): void {
    for (const display of this.displays) display.end("stopped after");
    this.endWith(lines, record, lines.with(0, ["bpe: ", ...lines[0]!]));
  }

  /** `logged` is for the log, `shown` for people. */
  private endWith(logged: readonly Line[], record: object, shown: readonly Line[]): void {
    const { log, command } = this.options;
    for (const display of this.displays) display.clear();
    if (logged.length > 0) log?.line(logged);
    const endedAt = new Date().toISOString();
    log?.record({ event: "result", startedAt: this.startedAt, endedAt, command, ...record });
    if (this.mode === "json") this.event("result", record);
    else if (shown.length > 0) this.line(shown);
  }

  private showWarning(message: string): void {
    if (this.mode === "json") this.event("warning", { message });
    else if (!this.options.quiet) this.line([["bpe: ", piece("yellow", "warning:"), ` ${message}`]]);
  }

  private event(name: string, content: object): void {
    this.write(jsonLine({ event: name, ...content }));
  }

  private line(lines: string | readonly Line[]): void {
    this.write(printable(lines, stylesFor(stderr)));
  }

  private write(text: string): void {
    for (const display of this.displays) display.clear();
    writeStderr(`${text}\n`);
  }
}

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
      // Not waited for: a pipe whose reader is slow is a log that fails.
      const bytes = Buffer.from(`${text}\n`);
      for (let pos = 0; pos < bytes.length; ) pos += writeSync(this.fd!, bytes, pos);
    } catch (error) {
      if (!this.hasFailed) this.onFailure(`--log-file "${this.path}": ${reasonOf(error)}`);
      this.hasFailed = true;
    }
  }
}

function explain(error: unknown): { message: string; hint: string | undefined; code: number } {
  const known = userErrorOf(error);
  if (known !== undefined) return { message: known.message, hint: known.hint, code: known.exitCode };
  const reason = error instanceof Error ? error.message : String(error);
  return {
    message: `internal error: ${reason}`,
    hint: "this is a bug in bpe, please report it",
    code: exitCode.failed,
  };
}

// The terminal that people read: whether there is one, its width, and how text stands out on it.

type Descriptor = 1 | 2;

export const isTerminal = (fd: Descriptor): boolean => columnsOf(fd) !== undefined;

/** The columns of a terminal, 0 if it does not tell; undefined if it is none. To load the runtime's code for them takes 9 ms. */
function columnsOf(fd: Descriptor): number | undefined {
  if (!isDevice(fd)) return undefined;
  const libc = openLibc("ioctl");
  if (libc === null) {
    const stream = fd === 1 ? process.stdout : process.stderr;
    return stream.isTTY === true ? (stream.getWindowSize?.()[0] ?? 0) : undefined;
  }
  const rowsColumns = new Uint16Array(4);
  return libc.ioctl(fd, TIOCGWINSZ, rowsColumns) === 0 ? rowsColumns[1] : undefined;
}

const TIOCGWINSZ = 0x5413;

function isDevice(fd: Descriptor): boolean {
  try {
    return fstatSync(fd).isCharacterDevice();
  } catch {
    return false;
  }
}

/** A terminal that cannot move its cursor, as that of an editor. */
const isDumb = () => process.env.TERM === "dumb";

/** The width of the terminal as it is now; 80 where it is unknown. */
export const terminalColumns = (fd: Descriptor): number => columnsOf(fd) || usualColumns;

/** Where lines for people have to end: at the width of the terminal; null where no terminal shows them. */
export const lineColumns = (fd: Descriptor): number | null => (isTerminal(fd) ? terminalColumns(fd) : null);

const codes = { bold: "1", red: "1;31", yellow: "1;33", cyan: "36" };

/** Each gives its text with the codes that make it stand out. */
export type Styles = Readonly<Record<keyof typeof codes, (text: string) => string>>;

/** Styles of a text that goes to `fd`. They do nothing where no terminal reads it, with NO_COLOR, or if TERM is dumb. */
export const stylesFor = (fd: Descriptor): Styles =>
  process.env.NO_COLOR || isDumb() || !isTerminal(fd) ? plain : coloured;

const stylesOf = (style: (text: string, code: string) => string) =>
  Object.fromEntries(
    Object.entries(codes).map(([name, code]) => [name, (text: string) => style(text, code)]),
  ) as Styles;

export const plain = stylesOf((text) => text);
const styled = (text: string, code: string) => `\x1b[${code}m${text}\x1b[0m`;
export const coloured = stylesOf(styled);

/** A line for people: text, which is escaped where it is printed, and pieces of it that stand out. */
export type Line = string | readonly Piece[];
export type Piece = string | { readonly text: string; readonly code: string };

export const piece = (style: keyof Styles, text: string): Piece => ({ text, code: codes[style] });

/** Lines of which a figure stands out where it is first. */
export function withFigure(lines: readonly string[], figure: string | undefined): Line[] {
  const found = figure === undefined ? -1 : lines.findIndex((line) => line.includes(figure));
  if (found < 0) return [...lines];
  const [before, ...rest] = lines[found]!.split(figure!) as [string, ...string[]];
  return lines.with(found, [before, piece("bold", figure!), rest.join(figure)] as never) as Line[];
}

/**
 * Lines as they are printed: here all is escaped that people see. A line may name a file, or show a token, that holds line
 * ends and codes for the terminal.
 */
export function printable(lines: string | readonly Line[], styles: Styles = plain): string {
  const shown = (piece: Piece) => {
    if (typeof piece === "string") return escapeText(piece);
    return styles === plain ? escapeText(piece.text) : styled(escapeText(piece.text), piece.code);
  };
  return (typeof lines === "string" ? [lines] : lines)
    .map((line) => (typeof line === "string" ? escapeText(line) : line.map(shown).join("")))
    .join("\n");
}

/** What was decided about a corpus without being asked: rows of a summary, each a name and a text, which may be empty. */
export const corpusNotes = ({ inputs, skipped }: FoundInputs): [name: string, text: string][] => [
  ["read as", readAs(inputs)],
  ["skipped", skippedText(skipped)],
];

/** The same as lines, for a summary without rows. */
export const corpusNoteLines = (found: FoundInputs) =>
  corpusNotes(found).flatMap(([name, text]) => (text === "" ? [] : [`${name} ${text}`]));

const formatNames: Record<InputFormat, string> = {
  text: "text",
  jsonl: "lines of JSON",
  json: "JSON records",
  parquet: "Parquet",
  fasta: "FASTA",
};

/** Empty if every file is read as its name or an option says, and all in one format. */
function readAs(inputs: readonly Input[]): string {
  const groups = Map.groupBy(inputs, ({ format, formatFrom }) => {
    if (formatFrom !== "content") return formatNames[format];
    return format === "text" ? "text, having no records" : `${formatNames[format]} by content`;
  });
  if (groups.size < 2 && inputs.every(({ formatFrom }) => formatFrom !== "content")) return "";
  return [...groups].map(([how, some]) => `${how}: ${filesText(some.map(({ path }) => path))}`).join("; ");
}

const namesMax = 2;

function filesText(paths: readonly string[]): string {
  if (paths.length > namesMax) return `${countNoun(paths.length, "file")}, from "${paths[0]}" on`;
  return paths.map((path) => `"${path}"`).join(", ");
}

function skippedText(skipped: readonly Skipped[]): string {
  if (skipped.length === 0) return "";
  const shown = skipped.slice(0, namesMax).map(({ path, reason }) => `"${path}" is ${reason}`);
  const rest = skipped.length - shown.length;
  return `${countNoun(skipped.length, "file")}: ${shown.join("; ")}${rest > 0 ? `; and ${groupDigits(rest)} more` : ""}`;
}
