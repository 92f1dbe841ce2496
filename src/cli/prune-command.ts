import { counted, grouped, seconds } from "../bytes/quantities.ts";
import { usageError } from "../errors.ts";
import { recordedReading } from "../formats/training-json.ts";
import { pruneTokenizer } from "../pipeline/prune-tokenizer.ts";
import { shellLine } from "../runtime/hints.ts";
import { placeOf } from "../store/output-place.ts";
import { checkOutputDirectory } from "../store/staged-directory.ts";
import type { Invocation } from "./arguments.ts";
import { countTokensOf } from "./counted-text.ts";
import { lockOutputs } from "./data-output.ts";
import { openInputs, readReading } from "./input-options.ts";
import { corpusNoteLines, type Output } from "./output.ts";
import { onStop } from "./stop.ts";
import { type Row, rowLines } from "./summary-rows.ts";
import { openTokenizer, readBesideTokenizer } from "./tokenizer-options.ts";

/** `bpe prune`: takes the tokens out of a tokenizer that a text needs least. */
export async function runPrune(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const options = readOptions(invocation);
  const { path, beside, texts } = options;
  checkOutputDirectory(options.output);
  await lockOutputs(invocation, output, [placeOf(options.output)]);
  const reading = { ...options.reading, trained: recordedReading([path]) };
  const found = await openInputs(texts, reading, output);
  const parts = await openTokenizer({ path, ...beside }, true, output);
  const text = { path: texts.join(" "), inputs: found.inputs, workers: options.workers };
  const counted = await countTokensOf(parts, text, output);
  const pruned = await pruneTokenizer({
    path,
    loadOptions: beside,
    parts,
    counts: counted.counts,
    size: options.size,
    output: options.output,
    command: shellLine(["bpe", "prune", ...invocation.typed]),
    arguments: ["prune", ...invocation.typed],
    texts: found.inputs.map(({ path, isStream, sizeBytes }) => ({
      path,
      sizeBytes: isStream ? null : sizeBytes,
    })),
    startMs,
    guard: onStop,
  });
  const elapsedMs = Math.round(performance.now() - startMs);
  const result = { ...pruned, tokenCount: counted.idCount, elapsedMs, output: options.output };
  output.succeed((columns) => [...summaryOf(result, columns), ...corpusNoteLines(found)], {
    ...result,
    skipped: found.skipped,
  });
}

type Result = Awaited<ReturnType<typeof pruneTokenizer>> & {
  readonly tokenCount: number;
  readonly elapsedMs: number;
  readonly output: string;
};

function summaryOf(
  { sizeBefore, size, goneCount, unreachableCount, tokenCount, ...result }: Result,
  columns: number | null,
): string[] {
  const share = `${((100 * goneCount) / Math.max(1, tokenCount)).toFixed(2)} %`;
  const rows: Row[] = [
    ["tokens", `${grouped(sizeBefore)} -> ${grouped(size)}`],
    [
      "text",
      `${counted(tokenCount, "token")}; ${grouped(goneCount)} (${share}) were of tokens that are gone`,
    ],
    [
      "unreachable",
      unreachableCount === 0 ? "" : `${counted(unreachableCount, "token")} that nothing gave, all gone`,
    ],
    ["time", seconds(result.elapsedMs / 1000)],
    ["written", `${result.output}: ${result.files.join(", ")}`],
  ];
  return rowLines(rows, columns, 13);
}

function readOptions(invocation: Invocation) {
  const { options, files } = invocation;
  const path = files[0]!;
  const output = options.text("output")!;
  if (output === "") throw usageError("--output is empty", "name a directory, e.g. --output smaller");
  const texts = options.get("text")!;
  return {
    path,
    output,
    texts,
    beside: readBesideTokenizer(options),
    reading: readReading(texts, options),
    size: options.number("vocab-size")!,
    workers: options.number("workers"),
  };
}
