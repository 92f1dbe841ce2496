import { resolve } from "node:path";
import { countNoun, formatBytes, formatSeconds, groupDigits } from "#bytes";
import { corpusInputs } from "#corpus";
import { type evaluations, findings, measures } from "#evaluation";
import { recordFiles } from "#formats";
import { warnings } from "#jobs";
import { kinds, optionTables } from "#options";
import { reportFiles } from "#reports";
import { asOption, exitCode, type Message, machine, phrase, shell, UserError, usageError } from "#runtime";
import { ScratchDirectory } from "#store";
import { dataOutput, type Invocation, inputFiles, type Output, stopping, styling } from "#terminal";
import { allTexts, type EvaluationView, evaluationLines, sumOfTexts } from "./eval-text.ts";
import { evaluate, evaluatingThreadsMax } from "./evaluate.ts";
import { evalOptions } from "./evaluate-options.ts";
import { openTexts, readTexts } from "./open-texts.ts";
import { openTokenizers } from "./open-tokenizers.ts";
import { costliestMax } from "./word-encoder.ts";

/** `bpe eval`: compares measures of tokenizers on texts. */
export async function runEval(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const { asked, typedTexts, terms, numbers, print } = readOptions(invocation);
  const { model, workers, memoryLimit: memoryLimitBytes, report: reportPath } = asked;
  await reportFiles.takePlace(reportPath, output);
  const scratch = new ScratchDirectory();
  stopping.onStop(() => scratch.remove());
  const budget = new machine.MemoryBudget(memoryLimitBytes);
  const tokenizers = await openTokenizers(invocation.files, asked, budget, output);
  const trained = recordFiles.readReading(tokenizers.map(({ path }) => path));
  const { texts: opened, found } = await openTexts(typedTexts, { ...asked, trained }, scratch, output);
  const texts = withTrainedBy(opened, tokenizers);
  const workerCountFor = machine.workersFor(workers, evaluatingThreadsMax(budget));
  const { evaluation } = await evaluate(
    { tokenizers, texts, terms, numbers, model, workerCountFor, budget, scratch },
    (progress) => output.progress(progress),
  );
  output.endOnlyStage();
  for (const { name: text, invalidBytes: count } of evaluation.texts) {
    output.tell(warnings.invalidBytes({ count, text, became: "is taken for a word" }));
  }
  const elapsedMs = performance.now() - startMs;
  let full: Promise<evaluations.FullEvaluation> | undefined;
  const whole = async () => {
    const { fullEvaluation } = await import("./eval-page.ts");
    full ??= fullEvaluation({ evaluation, tokenizers, texts, warn: (message) => output.warn(message) });
    return full;
  };
  await print(evaluation, whole);
  if (reportPath !== undefined) {
    const { writeEvalPage } = await import("./eval-page.ts");
    const command = shell.line(["bpe", "eval", ...invocation.typed]);
    await writeEvalPage(reportPath, await whole(), { command, elapsedMs });
  }
  const sizeBytes = evaluation.texts.reduce((sum, text) => sum + text.bytes, 0);
  const linesOf = (text: string, columns: number | null) =>
    columns === null ? [text] : Bun.wrapAnsi(text, columns).split("\n");
  const finding = evaluation.tokenizers.length > 1 ? findings.of(evaluation) : null;
  const sentences = [
    ...(finding === null
      ? []
      : [findings.spell([...finding.sentence, " ", ...finding.more], evaluation).trimEnd()]),
    ...findings.cautionsOf(evaluation),
  ];
  output.succeed(
    (columns) => [
      ...styling.withFigure(
        sentences.flatMap((text) => linesOf(text, columns)),
        finding?.figure,
      ),
      `measured ${countNoun(tokenizers.length, "tokenizer")} on ${countNoun(texts.length, "text")} of ${formatBytes(sizeBytes)} in ${formatSeconds(elapsedMs / 1000)}`,
      ...inputFiles.noteLines(found),
      ...reportFiles.writtenLine(reportPath),
    ],
    {
      sizeBytes,
      tokenizers: tokenizers.map(({ name }) => name),
      texts: texts.map(({ name }) => name),
      skipped: found.skipped,
      elapsedMs: Math.round(elapsedMs),
      expectedBytes: corpusInputs.expectedTextBytes(found.inputs),
    },
  );
}

/** Returns the texts, each with the tokenizers that, by their records, were trained on one of its inputs. */
function withTrainedBy(
  texts: readonly evaluations.NamedText[],
  tokenizers: readonly evaluations.NamedTokenizer[],
): evaluations.NamedText[] {
  const recorded = tokenizers.map(({ name, path }) => ({
    name,
    inputs: new Set(recordFiles.readInputs(path)),
  }));
  return texts.map((text) => {
    const paths = text.inputs.map(({ path }) => resolve(path));
    const learned = recorded.filter(({ inputs }) => paths.some((path) => inputs.has(path)));
    return { ...text, trainedBy: learned.map(({ name }) => name) };
  });
}

type AskedEvaluation = optionTables.Requested<typeof evalOptions>;

function readOptions(invocation: Invocation) {
  const { options } = invocation;
  const asked = optionTables.readTyped(evalOptions, options);
  const typedTexts = readTexts(asked.texts!);
  const view = readView(asked, typedTexts.length);
  return {
    typedTexts,
    terms: readTerms(asked),
    numbers: asked.numbers || view.measures.some((name) => digitMeasureNames.has(name)),
    asked,
    print: printerOf(asked, view),
  };
}

const digitMeasureNames = new Set(measures.ofDigits.map(({ key }) => key));
const modelTables = [...measures.ofCosts.map(({ key }) => key), "model"];

/**
 * Returns which tables to print if neither JSON nor CSV is requested. Throws a usage error for a table that cannot be
 * made.
 */
function readView(asked: AskedEvaluation, textCount: number): EvaluationView {
  const hasModel = asked.model !== undefined;
  const usual = [
    "bytes_per_token",
    ...(asked.numbers ? digitMeasureNames : []),
    ...(hasModel ? modelTables : []),
  ];
  const measures = new Set<string>(asked.measures ?? usual);
  const ofModel = modelTables.find((name) => measures.has(name));
  if (ofModel !== undefined && !hasModel)
    throw usageError(
      phrase`${asOption("measure", ofModel)} needs ${asOption("model")}`,
      phrase`describe the model, e.g. ${asOption("model", "d=4096,layers=32")}`,
    );
  if (measures.has("parity") && textCount < 2)
    throw usageError(
      phrase`${asOption("measure", "parity")} compares texts, but only one text is given`,
      phrase`give a second text: ${asOption("text", "NAME=FILE")}`,
    );
  const { wordCount = 0 } = asked;
  if (wordCount > costliestMax)
    throw usageError(
      phrase`${asOption("words")} is ${groupDigits(wordCount)}, but must be at most ${groupDigits(costliestMax)}`,
    );
  return { measures: [...measures], wordCount };
}

/** The maximum length of a term in bytes. */
const termBytesMax = 1024;

function checkTerm(place: Message, term: string, exitCode: number): void {
  const byteCount = Buffer.byteLength(term);
  if (byteCount <= termBytesMax) return;
  throw new UserError(
    phrase`${place}: the term has ${groupDigits(byteCount)} bytes, but must have at most ${groupDigits(termBytesMax)}`,
    { hint: phrase`give a word or a phrase; for longer texts, use ${asOption("text")}`, exitCode },
  );
}

/** Returns the values of `--term` and the lines of `--terms`, without duplicates and empty lines. */
function readTerms({ termsFile: file, terms: typed = [] }: AskedEvaluation): string[] {
  const lines = file === undefined ? [] : kinds.readTextFile(asOption("terms"), file).split(/\r?\n/);
  if (typed.includes(""))
    throw usageError(
      phrase`${asOption("term")} is empty`,
      phrase`give a word or a phrase, e.g. ${asOption("term", "glucose")}`,
    );
  for (const term of typed) checkTerm(asOption("term"), term, exitCode.usage);
  for (const [i, line] of lines.entries())
    checkTerm(phrase`line ${i + 1} of ${asOption("terms", `"${file}"`)}`, line, exitCode.failed);
  const terms = new Set([...typed, ...lines.filter((line) => line !== "")]);
  if (file !== undefined && terms.size === 0)
    throw new UserError(phrase`${asOption("terms", `"${file}"`)} has no term`, {
      hint: "write one term on each line",
    });
  return [...terms];
}

/** Returns a function that writes the result to stdout. */
function printerOf(
  { json, csv }: AskedEvaluation,
  view: EvaluationView,
): (evaluation: evaluations.Evaluation, whole: () => Promise<evaluations.FullEvaluation>) => Promise<void> {
  if (json) return async (_, whole) => dataOutput.writeStdout(`${JSON.stringify(await whole(), null, 2)}\n`);
  if (csv) return (evaluation) => dataOutput.writeStdout(evaluationCsv(evaluation));
  return (evaluation) => dataOutput.writeLines(evaluationLines(evaluation, view, styling.terminalColumns(1)));
}

type Row = {
  readonly tokenizer: string;
  readonly text: string;
  readonly vocabularySize: number;
  readonly facts: Pick<evaluations.TextFacts, "bytes" | "characters" | "words">;
  readonly measures: measures.Measures;
};

type Column = readonly [name: string, value: (row: Row) => string | number | null];

const columns: readonly Column[] = [
  ["tokenizer", ({ tokenizer }) => tokenizer],
  ["text", ({ text }) => text],
  ["vocabulary_size", ({ vocabularySize }) => vocabularySize],
  ["bytes", ({ facts }) => facts.bytes],
  ["characters", ({ facts }) => facts.characters],
  ["words", ({ facts }) => facts.words],
  ...measures.ofText.map(({ key, value }): Column => [key, ({ measures }) => value(measures)]),
];

/**
 * Formats the result as CSV: a row for each tokenizer on each text, and one for each tokenizer on all texts together.
 */
function evaluationCsv({ texts, tokenizers }: evaluations.Evaluation): string {
  const all = sumOfTexts(texts);
  const rows = tokenizers.flatMap(({ name: tokenizer, vocabularySize, texts: measured, overall }): Row[] => [
    ...measured.map((measures, i) => ({
      tokenizer,
      text: measures.text,
      vocabularySize,
      facts: texts[i]!,
      measures,
    })),
    { tokenizer, text: allTexts, vocabularySize, facts: all, measures: overall },
  ]);
  const lines = [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, value]) => value(row)))];
  return lines.map((cells) => `${cells.map(cell).join(",")}\n`).join("");
}

/** Formats a cell by RFC 4180: in quotes only if necessary. */
function cell(value: string | number | null): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
