import { expectedTextBytes } from "../corpus/input.ts";
import { refuseOverwriting } from "../corpus/outputs-among-inputs.ts";
import { usageError } from "../errors.ts";
import type { Evaluation } from "../evaluation/evaluation.ts";
import { evaluate } from "../pipeline/evaluate.ts";
import { shellLine } from "../runtime/hints.ts";
import { MemoryBudget } from "../runtime/memory-budget.ts";
import { workersFor } from "../runtime/worker-count.ts";
import { ScratchDirectory } from "../store/scratch-directory.ts";
import { recordedReading } from "../tokenizer/load/read-training-record.ts";
import type { Invocation } from "./arguments.ts";
import { corpusNoteLines } from "./corpus-notes.ts";
import { openTexts, readTexts } from "./eval-texts.ts";
import { evaluationCsv } from "./evaluation-csv.ts";
import { evaluationTable } from "./evaluation-table.ts";
import { readingOf } from "./input-options.ts";
import { readNamed } from "./named-paths.ts";
import { type Output, writeLines } from "./output.ts";
import { takeReportPlace } from "./report-option.ts";
import { onStop } from "./stop.ts";
import { writeStdout } from "./stream-writer.ts";
import { terminalColumns } from "./terminal.ts";
import { openTokenizers } from "./tokenizer-list.ts";
import { bytes, counted, seconds } from "./units.ts";

/** `bpe eval`: measures of tokenizers on texts, side by side. */
export async function runEval(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const { typedTexts, reading, workers, memoryLimitBytes, print, specialTokensAsText } =
    readOptions(invocation);
  const reportPath = await takeReportPlace(invocation, output);
  const scratch = new ScratchDirectory();
  onStop(() => scratch.remove());
  const tokenizers = await openTokenizers(invocation, output);
  const trained = recordedReading(tokenizers.map(({ path }) => path));
  const { texts, found } = await openTexts(typedTexts, { ...reading, trained }, scratch, output);
  const budget = new MemoryBudget(memoryLimitBytes);
  const workerCountFor = workersFor(workers, budget.workerCountMax);
  refuseOverwriting(found.inputs, [reportPath]);
  const evaluated = await evaluate(
    { tokenizers, texts, specialTokensAsText, workerCountFor, budget, scratch },
    (progress) => output.progress(progress),
  );
  const { evaluation } = evaluated;
  await print(evaluation);
  warnOfInvalidBytes(evaluation, output);
  const elapsedMs = performance.now() - startMs;
  if (reportPath !== undefined) {
    const { writeEvalReport } = await import("./eval-report.ts");
    const command = shellLine(["bpe", "eval", ...invocation.typed]);
    const compared = { tokenizers, texts, specialTokensAsText, command, elapsedMs };
    await writeEvalReport(reportPath, { ...evaluated, ...compared });
  }
  const sizeBytes = evaluation.texts.reduce((sum, text) => sum + text.bytes, 0);
  output.succeed(
    [
      `measured ${counted(tokenizers.length, "tokenizer")} on ${counted(texts.length, "text")} of ${bytes(sizeBytes)} in ${seconds(elapsedMs / 1000)}`,
      ...corpusNoteLines(found),
    ],
    {
      sizeBytes,
      tokenizers: tokenizers.map(({ name }) => name),
      texts: texts.map(({ name }) => name),
      skipped: found.skipped,
      elapsedMs: Math.round(elapsedMs),
      expectedBytes: expectedTextBytes(found.inputs),
    },
  );
}

function readOptions(invocation: Invocation) {
  const { options } = invocation;
  if (options.has("json") && options.has("csv")) throw usageError("--json and --csv: choose one of them");
  return {
    typedTexts: readTexts(options.get("text")!.map((typed) => readNamed("--text", typed))),
    reading: readingOf(options),
    workers: options.wholeNumber("workers", 1),
    memoryLimitBytes: options.sizeBytes("memory-limit", 1),
    specialTokensAsText: options.has("special-tokens-as-text"),
    print: printerOf(options),
  };
}

/** What stdout gets. */
function printerOf(options: Invocation["options"]): (evaluation: Evaluation) => Promise<void> {
  const data = (text: string) => writeStdout([Buffer.from(text)]);
  if (options.has("json")) return (evaluation) => data(`${JSON.stringify(evaluation, null, 2)}\n`);
  if (options.has("csv")) return (evaluation) => data(evaluationCsv(evaluation));
  return (evaluation) => writeLines(evaluationTable(evaluation, terminalColumns(1)));
}

function warnOfInvalidBytes({ texts }: Evaluation, output: Output): void {
  for (const { name, invalidBytes } of texts) {
    if (invalidBytes === 0) continue;
    const subject = `${counted(invalidBytes, "byte")} of text "${name}"`;
    output.warn(`${subject} ${invalidBytes === 1 ? "is" : "are"} not valid UTF-8; each is taken for a word`);
  }
}
