// Entry of the thread that makes the report of a training, while the main thread trains and writes.

import { shapeOf } from "../bytes/token-shape.ts";
import { type Post, serveJob, type Tell } from "../pipeline/job.ts";
import { type PageSection, tokenText } from "../report/html.ts";
import { frameSections, pageEnd, pageHead, pageSections } from "../report/report-page.ts";
import { adoptKernelModule } from "../runtime/kernel.ts";
import { deflate, type SampleText, sampleTextsOf } from "./report-writer.ts";
import {
  type Finished,
  type Learned,
  type Setting,
  trainReportBody,
  trainReportFrame,
} from "./train-report.ts";
import type { LearnedShapes } from "./train-summary.ts";

const encoder = new TextEncoder();
/** To tell what it is takes all expressions for shapes. */
const dashes = encoder.encode("–––");

declare const self: { onmessage: (event: MessageEvent<never>) => void; postMessage: Post };

/** What is asked of the thread, in this order. It tells the page in pieces. */
export class PageJob {
  private setting!: Setting;
  private texts: readonly SampleText[] = [];
  private learned!: Learned;
  private shapes!: LearnedShapes;
  private readonly sections: PageSection[] = [];

  constructor(private readonly tell: Tell<Uint8Array>) {}

  begin({ kernel, setting }: { readonly kernel: WebAssembly.Module; readonly setting: Setting }): void {
    adoptKernelModule(kernel);
    this.setting = setting;
    this.texts = sampleTextsOf(setting.inputs);
    // The engine compiles expressions when they are first used: now nobody waits for it.
    for (const { bytes } of this.texts) tokenText(bytes);
    shapeOf(dashes, 0, dashes.length);
  }

  async learn(learned: Learned): Promise<void> {
    this.learned = learned;
    const { body, shapes } = trainReportBody(this.setting, learned, this.texts);
    this.shapes = shapes;
    for await (const section of pageSections(body, deflate)) this.sections.push(section);
  }

  write(finished: Finished): void {
    const frame = trainReportFrame(this.setting, this.learned, finished, this.shapes);
    const sections = [...frameSections(frame), ...this.sections];
    for (const { text } of [pageHead(frame, sections), ...sections.map(({ html }) => html), pageEnd(frame)]) {
      const piece = encoder.encode(text);
      this.tell(piece, [piece.buffer]);
    }
  }
}

const serve = serveJob(
  (tell: Tell<Uint8Array>) => new PageJob(tell),
  (message, transfer) => self.postMessage(message, transfer),
);
self.onmessage = ({ data }) => serve(data);
