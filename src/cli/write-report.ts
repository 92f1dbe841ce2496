import type { ReportData } from "../report/report-data.ts";
import { reportPage } from "../report/report-page.ts";
import { taken, writeData } from "./data-output.ts";
import { deflate } from "./report-writer.ts";

/** Writes the report as one HTML file, which appears when it is whole; `-` is stdout. */
export async function writeReport(path: string, data: ReportData): Promise<void> {
  const encoder = new TextEncoder();
  await writeData(path, async (out) => {
    for await (const piece of reportPage(data, deflate)) {
      out.write(encoder.encode(piece.text));
      await taken(out);
    }
  });
}
