import { join } from "node:path";
import { escapeText } from "../bytes/escape.ts";
import type { TrainingRecord } from "../vocabulary/formats/training-json.ts";
import { bytes, counted, grouped, seconds } from "./units.ts";

type SummaryFacts = {
  readonly record: TrainingRecord;
  readonly output: string;
  /** The path of the former result, if it was kept. */
  readonly keptPath: string | null;
  /** More rows about the corpus. */
  readonly notes: readonly (readonly [name: string, text: string])[];
  /** Bytes of text in the inputs, unpacked. */
  readonly textBytes: number;
  /** Bytes of all words that were counted, and the tokens they become by all merges. */
  readonly pretokenBytes: number;
  readonly tokenCount: number;
  /** As they are shown, the longest first. */
  readonly longestTokens: readonly string[];
  /** Why there are fewer merges than asked for, if there are. */
  readonly stoppedEarly: string | undefined;
};

/** The summary that people read at the end of `bpe train`. */
export function summary(facts: SummaryFacts): string {
  const {
    record,
    output,
    keptPath,
    notes,
    textBytes,
    pretokenBytes,
    tokenCount,
    longestTokens,
    stoppedEarly,
  } = facts;
  const { inputs, timings } = record;
  const documentCount = inputs.reduce((sum, input) => sum + input.documents, 0);
  const perSecond = (amount: number, ms: number) => amount / Math.max(ms / 1000, 1e-3);
  const rate = textBytes === 0 ? "" : ` (${grouped(perSecond(textBytes / 1e6, timings.countMs))} MB/s)`;
  const noun = inputs.some((input) => input.path === "-") ? "input" : "file";
  const corpus = `${bytes(textBytes)} in ${counted(inputs.length, noun)}, ${counted(documentCount, "document")}`;
  const rows = [
    ["corpus", inputs.length === 0 ? "" : corpus],
    ...notes,
    ...countsRows(record.counts.map(({ path }) => path)),
    ["pattern", record.options.pattern.name ?? "a regular expression"],
    ["words", `${grouped(record.wordCount)}, ${grouped(record.distinctWordCount)} of them distinct`],
    ["merges", grouped(record.mergeCount) + (stoppedEarly === undefined ? "" : ` (${stoppedEarly})`)],
    [
      "time",
      [
        `counting ${seconds(timings.countMs / 1000)}${rate}`,
        `merging ${seconds(timings.mergeMs / 1000)} (${grouped(perSecond(record.mergeCount, timings.mergeMs))} merges/s)`,
        `writing ${seconds(timings.writeMs / 1000)}`,
        `in all ${seconds(timings.totalMs / 1000)}`,
      ].join(", "),
    ],
    ["memory", `${bytes(record.peakMemoryBytes)} at its peak`],
    ["bytes/token", tokenCount === 0 ? "" : (pretokenBytes / tokenCount).toFixed(3)],
    ["longest", longestTokens.join(" ")],
    ["written", writtenFiles(output, record)],
    ["kept", keptPath ?? ""],
  ] as const;
  const shown = rows.filter(([, text]) => text !== "");
  return shown.map(([name, text]) => `${name!.padEnd(12)}${escapeText(text!)}`).join("\n");
}

/** The files of a tokenizer; those of several have the same names in a directory for each size. */
function writtenFiles(output: string, { files, options: { sizes } }: TrainingRecord): string {
  if (sizes === undefined) return `${output}: ${files.join(", ")}`;
  const names = files.filter((name) => name.startsWith(`${sizes[0]}/`)).map((name) => name.split("/")[1]);
  return `${sizes.map((size) => join(output, String(size))).join(", ")}: ${names.join(", ")}`;
}

const countsRowsMax = 3;

/** A row for each file of word counts, or one row for many. */
function countsRows(paths: readonly string[]): string[][] {
  if (paths.length <= countsRowsMax) return paths.map((path) => ["counts", path]);
  return [["counts", `${paths[0]} … ${paths.at(-1)} (${counted(paths.length, "file")})`]];
}
