// Entry of the thread that makes the report of a training, while the main thread trains and writes.

import type { TrainingRecord } from "../formats/training-json.ts";
import { describeFailure } from "../pipeline/job.ts";
import { pageEnd, pageHead, pageSections } from "../report/report-page.ts";
import { adoptKernelModule } from "../runtime/kernel.ts";
import { deflate, type SampleText, sampleTextsOf } from "./report-writer.ts";
import { type Learned, type Setting, trainReportBody, trainReportFrame } from "./train-report.ts";

/** What the main thread tells, in this order. */
export type ToReportWorker =
  | { readonly kind: "begin"; readonly kernel: WebAssembly.Module; readonly setting: Setting }
  | { readonly kind: "learned"; readonly learned: Learned }
  | { readonly kind: "written"; readonly record: TrainingRecord };

/** The page, in pieces. */
export type FromReportWorker = { readonly kind: "page"; readonly pieces: readonly Uint8Array[] };

declare const self: {
  onmessage: (event: MessageEvent<ToReportWorker>) => void;
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void;
};

const encoder = new TextEncoder();
let setting: Setting;
let texts: readonly SampleText[];
let learned: Learned;
let sections: Uint8Array<ArrayBuffer>[];

async function serve(message: ToReportWorker): Promise<void> {
  switch (message.kind) {
    case "begin":
      adoptKernelModule(message.kernel);
      setting = message.setting;
      texts = sampleTextsOf(setting.inputs);
      return;
    case "learned":
      learned = message.learned;
      sections = [];
      for await (const { text } of pageSections(trainReportBody(setting, learned, texts), deflate)) {
        sections.push(encoder.encode(text));
      }
      return;
    case "written": {
      const frame = trainReportFrame(setting, learned, message.record);
      const [head, end] = [pageHead(frame), pageEnd(frame)].map(({ text }) => encoder.encode(text));
      const pieces = [head!, ...sections, end!];
      self.postMessage(
        { kind: "page", pieces } satisfies FromReportWorker,
        pieces.map(({ buffer }) => buffer),
      );
    }
  }
}

/** Each message waits until the one before it is served. */
let served = Promise.resolve();

self.onmessage = ({ data }) => {
  served = served
    .then(() => serve(data))
    .catch((error) => self.postMessage({ kind: "failed", failure: describeFailure(error, "") }));
};
