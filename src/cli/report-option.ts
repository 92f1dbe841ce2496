import { readSync } from "node:fs";
import { UserError, usageError } from "../errors.ts";
import { pageHeadBytes, pageMark } from "../pages/page-file.ts";
import { JobThread } from "../pipeline/job.ts";
import { startCliWorker } from "../runtime/embedded.ts";
import { kernelModule } from "../runtime/kernel.ts";
import { statOf, withRegularFile } from "../runtime/system-error.ts";
import { lockFiles, writeChunks } from "./data-output.ts";
import type { Output } from "./output.ts";
import type { PageJob } from "./report-worker.ts";
import type { Finished, Learned, Setting } from "./train-report.ts";

/** Refuses a path of `--report` that names no file. Looks at none. */
export function checkReportPath(path: string | undefined): void {
  if (path !== "" && path !== "-") return;
  throw usageError(`--report "${path}" names no file`, "name one, e.g. --report report.html");
}

/** The file of `--report`: checked that it can be written and holds nothing else, and locked. */
export async function takeReportPlace(path: string | undefined, output: Output): Promise<void> {
  checkReportPath(path);
  if (path === undefined) return;
  await lockFiles(output, path);
  refuseOtherFile(path);
}

/** What a summary says of it. */
export const writtenLine = (path: string | undefined) => (path === undefined ? [] : [`written ${path}`]);

/** Refuses a file that is no report: it may be one of the tokenizer itself. An empty file may be replaced. */
export function refuseOtherFile(path: string): void {
  const stats = statOf(path);
  if (!stats?.isFile() || stats.size === 0) return;
  if (headOf(path).includes(pageMark)) return;
  throw new UserError(`"${path}" is not replaced: it is not a report of bpe`, {
    hint: "choose another name, e.g. --report report.html",
  });
}

function headOf(path: string): string {
  const head = Buffer.alloc(pageHeadBytes);
  return withRegularFile(path, (fd) => head.toString("latin1", 0, readSync(fd, head, 0, pageHeadBytes, 0)));
}

/** The same with its numbers in memory that all threads see: a message that copies them takes the main thread 8 ms. */
function inSharedMemory<T>(value: T): T {
  if (value instanceof Int32Array || value instanceof Uint32Array || value instanceof Float64Array) {
    const shared = new (value.constructor as Float64ArrayConstructor)(
      new SharedArrayBuffer(value.byteLength),
    );
    shared.set(value);
    return shared as T;
  }
  if (value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value as object).map(([key, one]) => [key, inSharedMemory(one)]),
  ) as T;
}

/**
 * The thread that makes the report of a training. It loads its code and reads the sample texts while the main thread merges,
 * and makes the page while that one writes the files of the tokenizer.
 */
export class ReportThread {
  private thread: JobThread<PageJob, Uint8Array> | undefined;
  private readonly pieces: Uint8Array[] = [];

  constructor(
    private readonly path: string,
    private readonly setting: Setting,
  ) {}

  /** Starts the thread, if it was not started yet. An error is told when the page is asked for: first the tokenizer is written. */
  begin(): JobThread<PageJob, Uint8Array> {
    if (this.thread !== undefined) return this.thread;
    const worker = startCliWorker("report-worker.ts");
    this.thread = new JobThread("report worker", worker, (piece) => {
      this.pieces.push(piece);
    });
    void this.thread.ask("begin", { kernel: kernelModule(), setting: this.setting });
    return this.thread;
  }

  /** Takes what was learned: the sections can be made. */
  take(learned: Learned): void {
    void this.begin().ask("learn", inSharedMemory(learned));
  }

  /** Writes the page into its file, which appears when it is whole. */
  async write(finished: Finished): Promise<void> {
    const thread = this.begin();
    try {
      await thread.ask("write", finished);
    } finally {
      thread.end();
    }
    await writeChunks(this.path, this.pieces);
  }
}
