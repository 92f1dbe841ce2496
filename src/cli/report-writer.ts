import { basename } from "node:path";
import type { ReportData, ReportTokenizer } from "../report/report-data.ts";
import { reportPage } from "../report/report-page.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { writeData } from "./data-output.ts";

// Loaded only with `--report`: no other start gets longer.

/** Writes the report as one HTML file, which appears when it is whole; `-` is stdout. */
export async function writeReport(path: string, data: ReportData): Promise<void> {
  const encoder = new TextEncoder();
  await writeData(path, async (put) => {
    for await (const piece of reportPage(data, deflate)) {
      await put(encoder.encode(piece.text));
    }
  });
}

/** Level 6 takes three times as long, and saves a few per cent. */
export const deflate = (bytes: Uint8Array<ArrayBuffer>) => Bun.deflateSync(bytes, { level: 2 });

/** A path as charts name it: its last part. */
export const shortName = (path: string) => basename(path) || path;

type Counted = Pick<ReportTokenizer, "counts" | "ledger">;

/** A loaded tokenizer as reports draw it. */
export function reportTokenizer(name: string, parts: TokenizerParts, counted: Counted = {}): ReportTokenizer {
  const { tokens, model } = parts;
  const lengths = new Uint32Array(tokens.idLimit);
  for (let id = 0; id < tokens.idLimit; id++) lengths[id] = tokens.starts[id + 1]! - tokens.starts[id]!;
  return { name, tokens, lengths, addedTokens: allAddedTokens(parts), merges: model.merges, ...counted };
}
