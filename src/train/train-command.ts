import { countNoun } from "#bytes";
import type { trainingRecords } from "#formats";
import { optionTables, type RequestedTraining, trainingOptions } from "#options";
import { reportFiles } from "#reports";
import { asOption, phrase, shell, usageError } from "#runtime";
import { dataOutput, type Invocation, inputFiles, type Output, pipes, stopping, styling } from "#terminal";
import { type Finished, runTraining, type TrainingHost, trainings } from "#training";
import { bytesPerTokenText, extensionSummary, pageSummary, trainingSummary } from "./train-summary.ts";

/** `bpe train`: reads the options, trains, and reports. */
export async function runTrain(invocation: Invocation, output: Output): Promise<void> {
  const asked = await readTraining(invocation);
  const typed = ["train", ...invocation.typed];
  const command = { command: shell.line(["bpe", ...typed]), arguments: typed };
  const finished = await runTraining(
    asked,
    { files: invocation.files, command },
    hostOf(output, asked.report),
  );
  if (finished === undefined) {
    const message = `unchanged: "${asked.output}" was made from the same inputs with the same options`;
    output.succeed(message, { changed: false, output: asked.output });
  } else await tell(finished, output);
}

/** Returns how the command line reports, reads, locks and writes. */
function hostOf(output: Output, reportPath: string | undefined): TrainingHost {
  return {
    warn: (warning) => output.tell([warning]),
    report: (progress) => output.progress(progress),
    guard: stopping.onStop,
    async lock(directory, files) {
      await dataOutput.lockOutputs(output, directory, files);
      if (reportPath !== undefined) reportFiles.refuseOtherFile(reportPath);
      return () => {};
    },
    find: (names, reading) => inputFiles.openInputs(names, reading, output),
    openPipes: pipes.spoolPipes,
    writeFile: dataOutput.writeChunks,
    onOpen: () => output.endStage(),
    onWords: ({ wordCount }) => output.endStage(countNoun(wordCount, "distinct pretoken")),
    onLearned: () => output.endStage(),
    tellMemory: (estimatedBytes) => output.tellMemory("merging", estimatedBytes),
  };
}

/** Writes the page if one is requested, and prints the summary. */
async function tell({ result, written }: Finished, output: Output): Promise<void> {
  const { asked, training, corpus, skipped, trained } = result;
  const { keptPath, record } = written!;
  const isFull = asked.summary === "full";
  const ended = {
    output: asked.output!,
    keptPath,
    notes: inputFiles.notes({ inputs: corpus.inputs, skipped }),
    patternTyped: asked.pattern,
    isPatternChosen: [asked.pattern, asked.like, asked.counts, asked.superwordsFrom, asked.compat].some(
      (one) => one !== undefined,
    ),
  };
  if (asked.report !== undefined && !("extensions" in trained)) {
    const { writeTrainingPage } = await import("#reports/vocabulary-page");
    await writeTrainingPage(asked.report, {
      inputs: corpus.inputs,
      pattern: trainings.encodingPatternOf(training),
      normalization: training.normalization,
      output: ended.output,
      trained,
      record: record as trainingRecords.TrainingRecord,
      warnings: output.warnings,
      warn: (message) => output.warn(message),
      summary: pageSummary(trained, record as trainingRecords.TrainingRecord, training.model, ended),
    });
  }
  const summary = (columns: number | null) =>
    "extensions" in trained
      ? extensionSummary(trained, record as trainingRecords.Extension, { ...ended, isFull, columns })
      : styling.withFigure(
          trainingSummary(trained, record as trainingRecords.TrainingRecord, training.model, {
            ...ended,
            report: asked.report,
            isFull,
            columns,
          }),
          bytesPerTokenText(record as trainingRecords.TrainingRecord),
        );
  output.succeed(summary, { changed: true, output: ended.output, kept: keptPath, ...record });
}

async function readTraining({ options, files }: Invocation): Promise<RequestedTraining> {
  const typed = optionTables.readTyped(trainingOptions, options);
  const { seedTokensFile: path } = typed;
  const listed =
    path === undefined ? [] : (await import("./token-lists.ts")).readTokenList(asOption("seed-tokens"), path);
  const [file] = files;
  if (typed.languages !== undefined && file !== undefined) {
    throw usageError(
      phrase`"${file}" belongs to no language; with ${asOption("language")}, every file needs a language`,
      phrase`write ${asOption("language", `NAME=${file}`)} instead`,
    );
  }
  reportFiles.checkPath(typed.report);
  return {
    ...typed,
    seedTokens: [...(typed.seedTokens ?? []), ...listed],
    ledger: typed.noLedger ? false : typed.ledger,
  };
}
