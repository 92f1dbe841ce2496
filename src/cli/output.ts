import { fstatSync } from "node:fs";
import type { Skipped } from "../corpus/each-once.ts";
import { exitCode, outOfMemory, UserError } from "../errors.ts";
import { describeHolder, type Holder } from "../publish/lock.ts";
import type { StageProgress } from "../train.ts";
import { escapeText } from "../vocabulary/escape.ts";
import { oneOf } from "./arguments.ts";
import type { LogFile } from "./log-file.ts";
import { createProgress, progressMode } from "./progress.ts";
import { writeStderr } from "./streams.ts";
import { bytes } from "./units.ts";

/** What people (or the program that watches) get to see on stderr and in the log. Data goes to stdout elsewhere. */
export type Output = {
  /** How far a stage is. */
  progress(progress: StageProgress): void;
  /** What a stage will take, said before it starts. */
  tellMemory(stage: string, estimatedBytes: number): void;
  /** Another run is at the output, and its end is waited for. */
  waitFor(path: string, holder: Holder): void;
  warn(message: string): void;
  /** Files that were met and are not read: each stands in the log; how many there are is for the summary. */
  tellSkipped(skipped: readonly Skipped[]): void;
  /**
   * What a run that went well has to say, `summary` to a person, `record` to a program: said by `end`. One that takes time to make is made then, if
   * a person or the log is to have it.
   */
  succeed(summary: string | (() => string), record: object): void;
  /** The end of a run that went well, said when nothing is left to be undone. */
  end(): void;
  /** The end of one whose reader went away: in silence, where people read. */
  endUnread(): void;
  /** The end of one that did not; its value is the exit code. */
  fail(error: unknown): number;
  /** The end of one that a signal stops. */
  stop(how: string, exitCode: number): void;
};

export type OutputOptions = {
  readonly quiet: boolean;
  readonly progress: string;
  /** The command as a shell takes it, for the log. */
  readonly command: string;
  readonly log?: LogFile | undefined;
};

const progressModes = ["auto", "bar", "plain", "json", "none"] as const;

/** Less is nobody's worry. */
const worthTellingBytes = 1e8;

/** stderr, as far as it may be a terminal. The runtime takes 1.3 ms to make its object: files and pipes do without. */
const terminal = {
  get isTTY(): boolean {
    return isDevice(2) && process.stderr.isTTY;
  },
};

function isDevice(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice();
  } catch {
    return false;
  }
}

export function createOutput({ quiet, progress, command, log }: OutputOptions): Output {
  const startedAt = new Date().toISOString();
  const asked = oneOf("--progress", progress, progressModes);
  const mode = quiet ? "none" : progressMode(asked, terminal);
  const display = createProgress(mode, writeStderr, mode === "bar" ? process.stderr.columns : undefined);
  const logged = log && createProgress("log", (text) => log.line(text));
  const line = (text: string) => {
    display.clear();
    writeStderr(`${text}\n`);
  };
  const event = (name: string, content: object) => line(JSON.stringify({ event: name, ...content }));
  const warnHere = (message: string) => {
    if (mode === "json") event("warning", { message });
    else if (!quiet) line(`bpe: warning: ${escapeText(message)}`);
  };
  if (log !== undefined) log.onFailure = warnHere;
  const endLog = (content: object) =>
    log?.record({ event: "result", startedAt, endedAt: new Date().toISOString(), command, ...content });
  let ending: { summary: string | (() => string); record: object } = { summary: "", record: {} };
  return {
    progress(progress) {
      display.update(progress);
      logged?.update(progress);
    },
    tellMemory(stage, estimatedBytes) {
      const message = `${stage} will take about ${bytes(estimatedBytes)} of memory`;
      log?.line(message);
      if (mode === "json") event("memory", { stage, estimatedBytes });
      else if (mode !== "none" && estimatedBytes >= worthTellingBytes) line(`bpe: ${message}`);
    },
    waitFor(path, holder) {
      const message = escapeText(`waiting: "${path}" is being written by ${describeHolder(holder)}`);
      log?.line(message);
      if (mode === "json") event("waiting", { output: path, ...holder });
      else if (!quiet) line(`bpe: ${message}`);
    },
    warn(message) {
      log?.line(`warning: ${escapeText(message)}`);
      warnHere(message);
    },
    tellSkipped(skipped) {
      for (const { path, reason } of skipped) {
        log?.line(escapeText(`skipped "${path}": it is ${reason}`));
        if (mode === "json") event("skipped", { path, reason });
      }
    },
    succeed(summary, record) {
      ending = { summary, record };
    },
    end() {
      const { record } = ending;
      const isRead = log !== undefined || (mode !== "json" && !quiet);
      const summary = !isRead ? "" : typeof ending.summary === "string" ? ending.summary : ending.summary();
      if (summary !== "") log?.line(summary);
      endLog({ success: true, ...record });
      if (mode === "json") event("result", { success: true, ...record });
      else if (!quiet && summary !== "") line(summary);
    },
    endUnread() {
      const record = { success: true, unread: true };
      log?.line("the reader of stdout went away");
      endLog(record);
      if (mode === "json") event("result", record);
    },
    fail(error) {
      const { message, hint, code } = explain(error);
      const text = `error: ${escapeText(message)}${hint === undefined ? "" : `\nhint: ${escapeText(hint)}`}`;
      const record = { success: false, error: message, hint, exitCode: code };
      log?.line(text);
      endLog(record);
      if (mode === "json") event("result", record);
      else line(`bpe: ${text}`);
      return code;
    },
    stop(how, code) {
      const record = { success: false, error: how, exitCode: code };
      log?.line(how);
      endLog(record);
      if (mode === "json") event("result", record);
      else line(`bpe: ${how}`);
    },
  };
}

function explain(error: unknown): { message: string; hint: string | undefined; code: number } {
  const told = error instanceof UserError ? error : outOfMemory(error);
  if (told !== undefined) return { message: told.message, hint: told.hint, code: told.exitCode };
  const reason = error instanceof Error ? error.message : String(error);
  return {
    message: `internal error: ${reason}`,
    hint: "this is a bug in bpe, please report it",
    code: exitCode.failed,
  };
}
