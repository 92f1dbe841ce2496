import type { TrainingRecord } from "../formats/training-json.ts";
import { JobThread } from "../pipeline/job.ts";
import { startCliWorker } from "../runtime/embedded.ts";
import { kernelModule } from "../runtime/kernel.ts";
import { writeChunks } from "./data-output.ts";
import type { PageJob } from "./report-worker.ts";
import type { Learned, Setting } from "./train-report.ts";

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
    void this.begin().ask("learn", learned);
  }

  /** Writes the page into its file, which appears when it is whole. */
  async write(record: TrainingRecord): Promise<void> {
    const thread = this.begin();
    try {
      await thread.ask("write", record);
    } finally {
      thread.end();
    }
    await writeChunks(this.path, this.pieces);
  }
}
