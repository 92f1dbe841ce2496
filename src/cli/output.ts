import { exitCode, UserError } from "../errors.ts";
import type { StageProgress } from "../train.ts";
import { oneOf } from "./arguments.ts";
import { createProgress, progressMode } from "./progress.ts";
import { writeStderr } from "./streams.ts";
import { bytes } from "./units.ts";

/** What people (or the program that watches) get to see on stderr. Data goes to stdout elsewhere. */
export type Output = {
  /** How far a stage is. */
  progress(progress: StageProgress): void;
  /** What a stage will take, said before it starts. */
  tellMemory(stage: string, estimatedBytes: number): void;
  warn(message: string): void;
  /** The end of a run that went well: `summary` for a person, `record` for a program. */
  succeed(summary: string, record: object): void;
  /** The end of one that did not; its value is the exit code. */
  fail(error: unknown): number;
  /** The end of one that a signal stops. */
  stop(how: string, exitCode: number): void;
};

const modes = ["auto", "bar", "plain", "json", "none"] as const;

/** Less is nobody's worry. */
const worthTellingBytes = 1e8;

export function createOutput(options: { quiet: boolean; progress: string }): Output {
  const asked = oneOf("--progress", options.progress, modes);
  const mode = options.quiet ? "none" : progressMode(asked, process.stderr);
  const display = createProgress(mode, writeStderr, process.stderr.columns);
  const line = (text: string) => {
    display.clear();
    writeStderr(`${text}\n`);
  };
  const event = (name: string, content: object) => line(JSON.stringify({ event: name, ...content }));
  return {
    progress: (progress) => display.update(progress),
    tellMemory(stage, estimatedBytes) {
      if (mode === "json") event("memory", { stage, estimatedBytes });
      else if (mode !== "none" && estimatedBytes >= worthTellingBytes) {
        line(`bpe: ${stage} will take about ${bytes(estimatedBytes)} of memory`);
      }
    },
    warn(message) {
      if (mode === "json") event("warning", { message });
      else if (!options.quiet) line(`bpe: warning: ${message}`);
    },
    succeed(summary, record) {
      if (mode === "json") event("result", { success: true, ...record });
      else if (!options.quiet) line(summary);
    },
    fail(error) {
      const { message, hint, code } = explain(error);
      if (mode === "json") event("result", { success: false, error: message, hint, exitCode: code });
      else line(`bpe: error: ${message}${hint === undefined ? "" : `\nhint: ${hint}`}`);
      return code;
    },
    stop(how, code) {
      if (mode === "json") event("result", { success: false, error: how, exitCode: code });
      else line(`bpe: ${how}`);
    },
  };
}

function explain(error: unknown): { message: string; hint: string | undefined; code: number } {
  if (error instanceof UserError) return { message: error.message, hint: error.hint, code: error.exitCode };
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof RangeError && /memory|allocat|length/i.test(reason)) {
    return { message: `out of memory: ${reason}`, hint: "use fewer workers (-w 1)", code: exitCode.failed };
  }
  return {
    message: `internal error: ${reason}`,
    hint: "this is a bug in bpe, please report it",
    code: exitCode.failed,
  };
}
