import type { Report, StageProgress } from "./stage-progress.ts";

/** How far an evaluation is, which goes through its texts several times: the bytes of all goes together. */
export class EvaluationProgress {
  private doneBytes = 0;

  /** @param totalBytes of all goes; null if it is not known */
  constructor(
    private readonly totalBytes: number | null,
    private readonly report: Report,
  ) {}

  /** What one go through a text reports to. */
  readonly goReport: Report = ({ done }: StageProgress) =>
    this.report({ stage: "measuring", done: this.doneBytes + done, total: this.totalBytes, unit: "bytes" });

  /** A go through so many bytes has ended. */
  endGo(bytes: number): void {
    this.doneBytes += bytes;
  }
}
