import type { TrainingRecord } from "../formats/training-json.ts";
import { serveWorkers } from "../pipeline/job.ts";
import { startCliWorker } from "../runtime/embedded.ts";
import { kernelModule } from "../runtime/kernel.ts";
import type { WorkerThread } from "../runtime/worker-jobs.ts";
import { writeChunks } from "./data-output.ts";
import type { FromReportWorker, ToReportWorker } from "./report-worker.ts";
import type { Learned, Setting } from "./train-report.ts";

/**
 * The thread that makes the report of a training. It loads its code and reads the sample texts while the main thread merges,
 * and makes the page while that one writes the files of the tokenizer.
 */
export class ReportThread {
  private worker: WorkerThread | undefined;
  private pieces: Promise<readonly Uint8Array[]> | undefined;

  constructor(
    private readonly path: string,
    private readonly setting: Setting,
  ) {}

  /** Starts the thread, if it was not started yet. */
  begin(): void {
    if (this.worker !== undefined) return;
    const worker = startCliWorker("report-worker.ts");
    const started = { name: "report", workers: [worker], terminate: () => worker.terminate() } as const;
    let pieces: readonly Uint8Array[];
    const served = serveWorkers<ToReportWorker, FromReportWorker>(started, ({ finish }) => (message) => {
      pieces = message.pieces;
      finish();
    });
    this.worker = worker;
    this.pieces = served.then(() => pieces);
    // An error is told when the page is asked for: first the tokenizer is written.
    this.pieces.catch(() => {});
    this.send({ kind: "begin", kernel: kernelModule(), setting: this.setting });
  }

  /** Takes what was learned: the sections can be made. */
  take(learned: Learned): void {
    this.begin();
    this.send({ kind: "learned", learned });
  }

  /** Writes the page into its file, which appears when it is whole. */
  async write(record: TrainingRecord): Promise<void> {
    this.send({ kind: "written", record });
    await writeChunks(this.path, await this.pieces!);
  }

  private send(message: ToReportWorker): void {
    this.worker!.postMessage(message);
  }
}
