import { counted } from "../bytes/quantities.ts";
import { usageError } from "../errors.ts";
import type { ExtensionRecord, TrainingRecord } from "../formats/training-json.ts";
import { readTyped } from "../options/option.ts";
import { type AskedTraining, trainingOptions } from "../options/training-table.ts";
import type { Extended, TrainedVocabulary } from "../pipeline/learn-merges.ts";
import { type Finished, runTraining, type World } from "../pipeline/run-training.ts";
import type { StageProgress } from "../pipeline/stage-progress.ts";
import { encodingPatternOf } from "../pipeline/training.ts";
import type { OpenTraining } from "../pipeline/up-to-date.ts";
import { shellLine } from "../runtime/hints.ts";
import type { Invocation } from "./arguments.ts";
import { lockOutputs, writeChunks } from "./data-output.ts";
import { openInputs, spoolPipes } from "./input-options.ts";
import { corpusNotes, type Output } from "./output.ts";
import { checkReportPath, ReportThread, refuseOtherFile } from "./report-option.ts";
import { onStop } from "./stop.ts";
import { readTokenList } from "./token-lists.ts";
import { extensionSummary, trainingSummary } from "./train-summary.ts";

/** `bpe train`: reads the options, trains, tells. */
export async function runTrain(invocation: Invocation, output: Output): Promise<void> {
  const asked = readTraining(invocation);
  const page = asked.report === undefined ? undefined : new TrainingPage(asked.report, asked.output!);
  const typed = ["train", ...invocation.typed];
  const command = { command: shellLine(["bpe", ...typed]), arguments: typed };
  const finished = await runTraining(asked, { files: invocation.files, command }, worldOf(output, page));
  if (finished === undefined) {
    const message = `unchanged: "${asked.output}" was made of the same inputs with the same options`;
    output.succeed(message, { changed: false, output: asked.output });
  } else await tell(finished, page, output);
}

/** What people see of a training, and how the command line reads, locks and writes. */
function worldOf(output: Output, page: TrainingPage | undefined): World {
  return {
    warn: (warning) => output.tell([warning]),
    report(progress: StageProgress) {
      if (progress.stage === "merging") page?.begin();
      output.progress(progress);
    },
    guard: onStop,
    async lock(directory, files) {
      await lockOutputs(output, directory, files);
      page?.checkPlace();
      return () => {};
    },
    find: (names, reading) => openInputs(names, reading, output),
    openPipes: spoolPipes,
    writeFile: writeChunks,
    onOpen(opened) {
      page?.open(opened);
      output.endStage();
    },
    onWords: ({ wordCount }) => output.endStage(counted(wordCount, "distinct pretoken")),
    onLearned(trained) {
      output.endStage();
      page?.take(trained);
    },
    tellMemory: (estimatedBytes) => output.tellMemory("merging", estimatedBytes),
  };
}

/** The page of `--report`: its thread starts with the merges. */
class TrainingPage {
  private thread: ReportThread | undefined;

  constructor(
    private readonly path: string,
    private readonly output: string,
  ) {}

  checkPlace(): void {
    refuseOtherFile(this.path);
  }

  open({ training, corpus: { inputs } }: OpenTraining): void {
    const pattern = encodingPatternOf(training);
    const { normalization } = training;
    this.thread = new ReportThread(this.path, { inputs, pattern, normalization, output: this.output });
  }

  begin(): void {
    this.thread!.begin();
  }

  take(trained: TrainedVocabulary | Extended): void {
    if ("extensions" in trained) return;
    const { vocabulary, smaller, ledger } = trained;
    const smallerSizes = smaller.map(({ size, reservedCount }) => size - reservedCount);
    this.thread!.take({ vocabulary, smallerSizes, ledger });
  }

  write(...finished: Parameters<ReportThread["write"]>): Promise<void> {
    return this.thread!.write(...finished);
  }
}

/** Writes the page, if one is asked for, and says what came out. */
async function tell(
  { result, written }: Finished,
  page: TrainingPage | undefined,
  output: Output,
): Promise<void> {
  const { asked, training, corpus, skipped, trained } = result;
  const { keptPath, record } = written!;
  const isFull = asked.summary === "full";
  const ended = {
    output: asked.output!,
    keptPath,
    notes: corpusNotes({ inputs: corpus.inputs, skipped }),
    patternTyped: asked.pattern,
    isPatternChosen: [asked.pattern, asked.like, asked.counts, asked.superwordsFrom, asked.compat].some(
      (one) => one !== undefined,
    ),
  };
  if (page !== undefined && !("extensions" in trained)) {
    const { statistics, superwordFacts } = trained;
    await page.write({
      ...{ record: record as TrainingRecord, warnings: output.warnings },
      ...{ told: { statistics, superwordFacts }, model: training.model, outcome: ended },
    });
  }
  const summary = (columns: number | null) =>
    "extensions" in trained
      ? extensionSummary(trained, record as ExtensionRecord, { ...ended, isFull, columns })
      : trainingSummary(trained, record as TrainingRecord, training.model, {
          ...ended,
          report: asked.report,
          isFull,
          columns,
        });
  output.succeed(summary, { changed: true, output: ended.output, kept: keptPath, ...record });
}

/** What is typed of a training. Looks at no file but a chat template's and that of seed tokens. */
function readTraining({ options, files }: Invocation): AskedTraining {
  const typed = readTyped(trainingOptions, options);
  const { seedTokensFile: path } = typed;
  const listed = path === undefined ? [] : readTokenList("--seed-tokens", path);
  const [file] = files;
  if (typed.languages !== undefined && file !== undefined) {
    throw usageError(
      `"${file}" belongs to no language; with --language, every file needs one`,
      `--language NAME=${file}`,
    );
  }
  checkReportPath(typed.report);
  return {
    ...typed,
    seedTokens: [...(typed.seedTokens ?? []), ...listed],
    ledger: typed.noLedger ? false : typed.ledger,
  };
}
